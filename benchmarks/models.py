"""Models for the benchmarks: larger than the samples, built the same way."""

from __future__ import annotations

from typing import Any

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

from qdqviz.load.pt2e import edge, quantized, seeded
from qdqviz.load.samples import sample_module


def transformer(layers: int = 4) -> Any:
    """`layers` blocks of the `encoder` sample in a row, static int8 per channel, in the edge dialect.

    Four layers have about 550 nodes (an EdgeProgramManager with the method `forward`).
    """
    encoder = sample_module("encoder")
    with seeded(1):
        module = torch.nn.Sequential(*(encoder.Block() for _ in range(layers))).eval()
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    return edge(quantized(module, transformer_inputs(), quantizer))


def transformer_inputs() -> tuple[Any, ...]:
    """Inputs for `transformer`: one sequence of 8 tokens, 16 wide."""
    inputs: tuple[Any, ...] = sample_module("encoder").example_inputs()
    return inputs
