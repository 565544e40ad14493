"""One producer read through four slices, each quantized with other parameters (made by hand).

What there is to see
    A sigmoid's result is cut into four slices; every slice is quantized for itself, with a scale
    that fits its own range. The float tensor stays alive until the last slice is taken.

Passes to try
    AdvanceQuantizeOpAboveDefInBranchPass puts one quantize in front of all slices and turns the four into
    requantizes: fewer bytes alive, but which of the four scales does the common quantize take?
    AdvanceQuantizeOpAboveDefChainPass refuses to go above a slice: ask why not.
"""

import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401  registers quantized_decomposed

from qdqviz.load.pt2e import edge

SCALES = ((0.02, -128), (0.004, -128), (0.0005, -128), (0.02, 0))
"""Scale and zero point of each slice's own quantize, int8 from -128 to 127."""


class Slices(torch.nn.Module):
    """sigmoid(x + bias), four slices, each through its own quantize and dequantize."""

    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Buffer(torch.tensor([0.0, -1.0, -6.0, 2.0]).repeat_interleave(4))

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        y = torch.sigmoid(x + self.bias)
        parts = []
        for index, (scale, zero_point) in enumerate(SCALES):
            part = y[:, 4 * index : 4 * index + 4]
            parameters = (scale, zero_point, -128, 127, torch.int8)
            q = ops.quantize_per_tensor.default(part, *parameters)
            parts.append(ops.dequantize_per_tensor.default(q, *parameters))
        return tuple(parts)


def example_inputs():
    """Four rows of 16 values between -2 and 2."""
    return (torch.linspace(-2, 2, 64).view(4, 16),)


def build():
    """The sliced program in the edge dialect."""
    return edge(torch.export.export(Slices().eval(), example_inputs(), strict=False))
