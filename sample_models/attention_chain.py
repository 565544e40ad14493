"""An attention layer quantized for Cadence: chains of views and permutes between dequantize and quantize.

What there is to see
    The linears and both products are quantized, the movement of data between them is not: from each
    dequantize behind a linear to the quantize in front of a product there are only views, permutes and
    expands, all on floats. Both ends of such a chain could move, and it would carry int8.

Passes to try
    PostponeDequantizeOpBelowUseChainPass and AdvanceQuantizeOpAboveDefChainPass, one step at a time with an
    eye on the live bytes; the clone that reshape left behind the last permute stops a chain: ask why. Then
    FuseCascadedViewOps, which finds pairs of views only once no dequantize stands between them.
"""

import executorch.backends.cadence.aot.ops_registrations  # noqa: F401  first of all Cadence modules
import torch
from executorch.backends.cadence.aot.quantizer.quantizer import CadenceDefaultQuantizer

from qdqviz.load.pt2e import edge, quantized, seeded

LENGTH, HEADS, DEPTH = 6, 4, 8
WIDTH = HEADS * DEPTH


class Attention(torch.nn.Module):
    """Self-attention over one sequence."""

    def __init__(self):
        super().__init__()
        self.query = torch.nn.Linear(WIDTH, WIDTH)
        self.key = torch.nn.Linear(WIDTH, WIDTH)
        self.value = torch.nn.Linear(WIDTH, WIDTH)
        self.project = torch.nn.Linear(WIDTH, WIDTH)

    def heads(self, x):
        return x.view(1, LENGTH, HEADS, DEPTH).permute(0, 2, 1, 3).view(HEADS, LENGTH, DEPTH)

    def forward(self, x):
        query, key, value = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        weights = torch.softmax(torch.matmul(query, key.permute(0, 2, 1)), -1)
        mixed = torch.matmul(weights, value).view(1, HEADS, LENGTH, DEPTH).permute(0, 2, 1, 3)
        return self.project(mixed.reshape(1, LENGTH, WIDTH))


def example_inputs():
    """One sequence of 6 tokens, 32 wide."""
    return (torch.randn(1, LENGTH, WIDTH, generator=torch.Generator().manual_seed(7)),)


def build():
    """The quantized attention in the edge dialect."""
    with seeded(7):
        attention = Attention().eval()
    return edge(quantized(attention, example_inputs(), CadenceDefaultQuantizer(), strict=True))
