"""Quantize and dequantize ops, their parameters, and the guards that turn on them."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from qdqviz.passes.builtin.ops import argument, op_name

QUANTIZE_PER_TENSOR = frozenset(
    {"quantized_decomposed.quantize_per_tensor.default", "cadence.quantize_per_tensor.default"}
)
"""Quantize ops whose scale and zero point are numbers, written in the graph."""

QUANTIZE_WITH_TENSORS = frozenset(
    {"quantized_decomposed.quantize_per_tensor.tensor", "quantized_decomposed.quantize_per_tensor.tensor2"}
)
"""Quantize ops whose scale and zero point are values, computed in the graph (dynamic quantization)."""

QUANTIZE_PER_CHANNEL = frozenset({"quantized_decomposed.quantize_per_channel.default"})
"""Quantize ops with a scale and a zero point for each index of one dimension."""

QUANTIZE = QUANTIZE_PER_TENSOR | QUANTIZE_WITH_TENSORS | QUANTIZE_PER_CHANNEL
DEQUANTIZE = frozenset(name.replace("quantize_per", "dequantize_per") for name in QUANTIZE)
PER_CHANNEL = QUANTIZE_PER_CHANNEL | {"quantized_decomposed.dequantize_per_channel.default"}

PARAMETERS = ("scale", "zero_point", "quant_min", "quant_max", "dtype")
"""Names of the per-tensor parameters in the ops' schemas, in order."""


def is_no_quantize(node: Node) -> bool:
    """It is no quantize op, and this pass looks at those only."""
    return op_name(node) not in QUANTIZE


def is_no_dequantize(node: Node) -> bool:
    """It is no dequantize op, and this pass looks at those only."""
    return op_name(node) not in DEQUANTIZE


def is_per_channel(node: Node) -> bool:
    """It has a scale for each index of its axis."""
    return op_name(node) in PER_CHANNEL


def is_quantize(node: Node) -> bool:
    """It quantizes."""
    return op_name(node) in QUANTIZE


def parameters_of(node: Node) -> tuple[Any, ...]:
    """Returns scale, zero point, quant_min, quant_max and dtype of a per-tensor op."""
    return tuple(argument(node, name) for name in PARAMETERS)
