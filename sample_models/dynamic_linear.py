"""Dynamic quantization: `choose_qparams` measures the activations while the program runs.

What there is to see
    In front of each linear, `choose_qparams` returns a scale and a zero point as tensors, two getitems take
    them apart, and quantize and dequantize receive them as inputs instead of numbers. The first two
    linears read the same input and share one chain.

Passes to try
    PostponeDequantizeOpBelowUseChainPass moves the weights' dequantizes but not those of the activations: ask
    why. The axis of the weights stays behind, and the last linear is not square: the program no longer runs.
    FuseQuantDequantToRequantizePass expects scales that are numbers, and raises midway.
"""

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

from qdqviz.load.pt2e import edge, quantized, seeded


class Gated(torch.nn.Module):
    """Two linears of one input, multiplied, and a third."""

    def __init__(self):
        super().__init__()
        self.left = torch.nn.Linear(16, 16)
        self.right = torch.nn.Linear(16, 16)
        self.last = torch.nn.Linear(16, 8)

    def forward(self, x):
        return self.last(torch.tanh(self.left(x)) * self.right(x))


def example_inputs():
    """Four rows, 16 wide."""
    return (torch.randn(4, 16, generator=torch.Generator().manual_seed(5)),)


def build():
    """The dynamically quantized program in the edge dialect."""
    with seeded(5):
        module = Gated().eval()
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)
    return edge(quantized(module, example_inputs(), XNNPACKQuantizer().set_global(config)))
