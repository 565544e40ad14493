"""Linear layers with int8 per-channel weights and float activations; `aten.linear` is kept.

What there is to see
    Only the weights are quantized: `dequantize_per_channel(weight, axis 0) -> linear`, no permute, since
    aten.linear was preserved when lowering. Activations stay float, so there is no quantize at all.

Passes to try
    SinkOpsCloserToUsePass moves each dequantize to its linear, so that one float weight at a time is alive.
    PostponeDequantizeOpBelowUseChainPass leaves them where they are, and FuseMMWithAdd looks for mm and finds
    only linears: ask why.
"""

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import get_symmetric_quantization_config
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, Quantizer

from qdqviz.load.pt2e import edge, quantized, seeded


class WeightOnlyQuantizer(Quantizer):
    """Annotates the weight of every aten.linear, and nothing else."""

    def annotate(self, model):
        weight = get_symmetric_quantization_config(is_per_channel=True).weight
        for node in model.graph.find_nodes(op="call_function", target=torch.ops.aten.linear.default):
            node.meta["quantization_annotation"] = QuantizationAnnotation(
                input_qspec_map={node.args[1]: weight}, _annotated=True
            )
        return model

    def validate(self, model):
        """Nothing to refuse: a graph without linears is left as it is."""


class Perceptron(torch.nn.Module):
    """Three linear layers, gated in the middle."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(16, 32)
        self.gate = torch.nn.Linear(16, 32, bias=False)
        self.last = torch.nn.Linear(32, 8)

    def forward(self, x):
        return self.last(torch.sigmoid(self.gate(x)) * self.first(x))


def example_inputs():
    """Four rows, 16 wide."""
    return (torch.randn(4, 16, generator=torch.Generator().manual_seed(4)),)


def build():
    """The program with quantized weights in the edge dialect, its linears preserved."""
    with seeded(4):
        module = Perceptron().eval()
    program = quantized(module, example_inputs(), WeightOnlyQuantizer())
    return edge(program, preserve_ops=[torch.ops.aten.linear.default])
