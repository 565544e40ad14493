"""Convolution, average pooling, linear: method `forward` with the pool quantized, `float_pool` without.

What there is to see
    In `forward` the pool and the flatten each have a dequantize in front and a quantize behind, all with
    the same parameters. In `float_pool` both work on floats between one dequantize and one quantize, and
    these two have different parameters. Compare the live ranges of the two methods.

Passes to try
    ReplaceAdaptiveAvgPoolWithAtenAvgPoolPass, then ReplaceAtenAvgPoolWithCadenceAvgPoolPass. With `--method
    float_pool`, `cadence-reorder`: an average is no mere movement of data, so no quantize may pass it.
"""

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from qdqviz.load.pt2e import edge, quantized, seeded


class Pooled(torch.nn.Module):
    """A convolution pooled to 2 by 2, then a linear."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.pool = torch.nn.AdaptiveAvgPool2d(2)
        self.head = torch.nn.Linear(8 * 2 * 2, 4)

    def forward(self, image):
        return self.head(torch.flatten(self.pool(self.conv(image)), 1))


class FloatPoolQuantizer(XNNPACKQuantizer):
    """Quantizes the layers, not the pool and the flatten between them."""

    def annotate(self, model):
        model = super().annotate(model)
        for node in model.graph.nodes:
            if node.target in (torch.ops.aten.adaptive_avg_pool2d.default, torch.ops.aten.flatten.using_ints):
                node.meta.pop(Q_ANNOTATION_KEY, None)
        return model


def example_inputs():
    """One image of 3 channels, 8 by 8."""
    return (torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(6)),)


def build():
    """Both variants of the program, as two methods in the edge dialect."""
    with seeded(6):
        module = Pooled().eval()
    config = get_symmetric_quantization_config()
    quantizers = {"forward": XNNPACKQuantizer(), "float_pool": FloatPoolQuantizer()}
    return edge(
        {
            name: quantized(module, example_inputs(), quantizer.set_global(config))
            for name, quantizer in quantizers.items()
        }
    )
