"""HoistOpsCloserToDefPass: a quantize, slice or select is run as soon as its input is there.

What it does: `x = make(); a; b; q = quantize(x)` becomes `x = make(); q = quantize(x); a; b`.

Why it pays: while `a` and `b` run, the small result waits (int8, or the part that a slice keeps) instead of
the large input, whose memory is free again. Nothing is computed differently.

When it must not fire: if the input has other users, it stays alive whatever is hoisted. Below an input of
the graph nothing is put before the last input: shrinking an input's life to nothing would let its memory be
reused at once.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from qdqviz.passes.builtin.data_movement import SLICES
from qdqviz.passes.builtin.graph_pass import GraphPass
from qdqviz.passes.builtin.inputs import reads_no_node
from qdqviz.passes.builtin.metadata import copied_metadata
from qdqviz.passes.builtin.ops import op_name, source_of, tensor_input
from qdqviz.passes.builtin.placement import all_between, in_place_ops, is_changed_between, place_below
from qdqviz.passes.builtin.quantization import QUANTIZE
from qdqviz.passes.builtin.users import has_other_users, is_asked_for_its_shape

HOISTABLE = QUANTIZE | SLICES
"""Ops whose result is smaller than their input."""


class HoistOpsCloserToDefPass(GraphPass):
    """Moves each quantize, slice and select up to right behind its input, so that the smaller value waits."""

    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Hoists in graph order: what a hoisted slice feeds then follows it."""
        modified = False
        changers = in_place_ops(graph)
        for node in list(graph.nodes):
            if is_not_hoistable(node):
                continue
            if reads_no_node(node):
                continue
            definition = source_of(node)
            if is_asked_for_its_shape(definition):
                continue
            if has_other_users(definition):
                continue
            place = place_below(definition)
            if stands_right_behind(node, place):
                continue
            if needs_a_value_from_below(node, place):
                continue
            if is_changed_between(place, node, changers):
                continue
            hoist(node, place)
            modified = True
        return modified


def is_not_hoistable(node: Node) -> bool:
    """It is no quantize, slice or select, and only those make their input smaller."""
    return op_name(node) not in HOISTABLE


def stands_right_behind(node: Node, place: Node) -> bool:
    """It already stands right behind its input, with only constants and other hoisted ops in between."""
    return all_between(place, node, _takes_no_room if place.op == "placeholder" else _is_constant)


def needs_a_value_from_below(node: Node, place: Node) -> bool:
    """Another of its inputs (a scale, a bound) is computed below the place that it would be hoisted to."""
    return any(place < needed and not _is_constant(needed) for needed in node.all_input_nodes)


def hoist(node: Node, place: Node) -> None:
    """Moves a node behind `place`; constants that it needs and that stand below get a copy above it."""
    for constant in node.all_input_nodes:
        if place < constant:
            place = _copied_behind(constant, place, node)
    place.append(node)


def _copied_behind(constant: Node, place: Node, reader: Node) -> Node:
    """The scale and zero point of a per-channel quantize are nodes of their own, and have to come along."""
    with constant.graph.inserting_after(place):
        copied = constant.graph.node_copy(constant)
    copied.meta = copied_metadata(constant)
    reader.replace_input_with(constant, copied)
    if not constant.users:
        constant.graph.erase_node(constant)
    return copied


def _is_constant(node: Node) -> bool:
    return node.op == "get_attr"


def _takes_no_room(node: Node) -> bool:
    """Below the inputs several hoisted ops share one place, in the order in which they were there."""
    definition = tensor_input(node)
    hoisted = op_name(node) in HOISTABLE and definition is not None and len(definition.users) == 1
    return hoisted or _is_constant(node)
