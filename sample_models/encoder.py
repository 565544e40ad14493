"""A transformer block, static int8 with per-channel weights: views, permutes and square linears.

What there is to see
    Every linear has become `dequantize_per_channel(weight, axis 0) -> permute -> addmm`, and the attention
    heads are views and permutes between two `bmm`. Each view and permute carries its own dequantize and
    quantize around it. All linears are square, so a weight whose channel axis is mixed up still has a legal
    shape and gives wrong numbers instead of an error.

Passes to try
    `cadence-reorder` (dequantizes sink below views and permutes, quantizes rise above them), then
    `cadence-fuse`. Step through PostponeDequantizeOpBelowUseChainPass and look at the axis of the weights.
"""

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

from qdqviz.load.pt2e import edge, quantized, seeded

WIDTH, HEADS, LENGTH = 16, 2, 8


class Block(torch.nn.Module):
    """Pre-norm self-attention and a feed-forward as wide as the model."""

    def __init__(self):
        super().__init__()
        self.norm_attention = torch.nn.LayerNorm(WIDTH)
        self.norm_feed = torch.nn.LayerNorm(WIDTH)
        self.query = torch.nn.Linear(WIDTH, WIDTH)
        self.key = torch.nn.Linear(WIDTH, WIDTH)
        self.value = torch.nn.Linear(WIDTH, WIDTH)
        self.project = torch.nn.Linear(WIDTH, WIDTH)
        self.up = torch.nn.Linear(WIDTH, WIDTH)
        self.down = torch.nn.Linear(WIDTH, WIDTH)

    def heads(self, x):
        return x.view(1, LENGTH, HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)

    def attend(self, x):
        query, key, value = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = query @ key.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5
        mixed = torch.softmax(scores, -1) @ value
        return self.project(mixed.permute(0, 2, 1, 3).reshape(1, LENGTH, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.norm_attention(x))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm_feed(x))))


def example_inputs():
    """One sequence of 8 tokens, 16 wide."""
    return (torch.randn(1, LENGTH, WIDTH, generator=torch.Generator().manual_seed(1)),)


def build():
    """The quantized block in the edge dialect."""
    with seeded(1):
        block = Block().eval()
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    return edge(quantized(block, example_inputs(), quantizer))
