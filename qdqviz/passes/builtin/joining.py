"""A quantize above a cat: each of the joined tensors is quantized, then int8 is joined."""

from __future__ import annotations

import torch
from torch.fx import Node

from qdqviz.passes.builtin.metadata import copied_metadata, set_value
from qdqviz.passes.builtin.ops import argument, arguments_with, op_name
from qdqviz.passes.builtin.quantization import is_per_channel
from qdqviz.passes.builtin.sizes import normal_dimension, shape_of
from qdqviz.passes.builtin.values import compute_node, value_of

JOINS = frozenset({"aten.cat.default"})
"""Ops that put tensors after one another."""


def is_join(node: Node) -> bool:
    """It puts several tensors after one another."""
    return op_name(node) in JOINS


def cannot_be_split(join: Node) -> bool:
    """One of the joined tensors is no floating point value, and could not be quantized on its own."""
    return not all(_is_floating(part) for part in argument(join, "tensors"))


def joins_along_the_axis(join: Node, quantize: Node) -> bool:
    """The tensors are joined along the channel axis: each would need its own piece of the scales."""
    shape = shape_of(join)
    if not is_per_channel(quantize):
        return False
    if shape is None:
        return True
    axis, dim = (
        normal_dimension(number, len(shape)) for number in (argument(quantize, "axis"), argument(join, "dim"))
    )
    return axis == dim


def advance_above_join(quantize: Node, join: Node) -> None:
    """Quantizes each of the joined tensors with the same parameters; the join is what the quantize was."""
    graph = join.graph
    parts = []
    for part in argument(join, "tensors"):
        args, kwargs = arguments_with(quantize, input=part)
        with graph.inserting_before(join):
            above = graph.create_node("call_function", quantize.target, args, kwargs)
        above.meta = copied_metadata(quantize)
        set_value(above, compute_node(above))
        parts.append(above)
    quantize.replace_all_uses_with(join)
    join.args, join.kwargs = arguments_with(join, tensors=parts)
    graph.erase_node(quantize)
    set_value(join, compute_node(join))


def _is_floating(part: object) -> bool:
    value = value_of(part) if isinstance(part, Node) else None
    if value is None:
        # Without metadata nothing speaks against it: what is quantized as a whole is a float.
        return isinstance(part, Node)
    return isinstance(value, torch.Tensor) and value.is_floating_point()
