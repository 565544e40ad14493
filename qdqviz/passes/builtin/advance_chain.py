"""AdvanceQuantizeOpAboveDefChainPass: data is moved as int8 instead of fp32, by quantizing before moving.

What it does: `x -> permute -> quantize` becomes `x -> quantize -> permute`, op by op up a chain of data
movement; `cat(x, y) -> quantize` becomes `cat(quantize(x), quantize(y))`.

Why it pays: a permute of n elements reads and writes 8n bytes in fp32 and 2n in int8. Quantizing treats
every element alike, so it may as well be done before they are moved; the result is the same, bit by bit.

When it must not fire: above a slice that throws elements away (quantizing those is wasted work), above an op
whose fp32 result somebody else reads, and per channel across an op that leaves no dimension for the
channels.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from qdqviz.passes.builtin.channels import axis_above
from qdqviz.passes.builtin.data_movement import does_more_than_move_data, keeps_only_a_part
from qdqviz.passes.builtin.graph_pass import GraphPass
from qdqviz.passes.builtin.inputs import reads_no_node
from qdqviz.passes.builtin.joining import advance_above_join, cannot_be_split, is_join, joins_along_the_axis
from qdqviz.passes.builtin.metadata import copied_metadata, set_value
from qdqviz.passes.builtin.ops import argument, arguments_with, source_of
from qdqviz.passes.builtin.placement import in_place_ops, is_changed_between
from qdqviz.passes.builtin.quantization import is_no_quantize, is_per_channel
from qdqviz.passes.builtin.users import has_other_users, is_asked_for_its_shape
from qdqviz.passes.builtin.values import compute_node


class AdvanceQuantizeOpAboveDefChainPass(GraphPass):
    """Moves each quantize above the data movement that feeds it, so that int8 is moved instead of fp32."""

    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Walks backwards: a quantize that has gone up one op is met again, above it."""
        modified = False
        changers = in_place_ops(graph)
        for node in reversed(graph.nodes):
            if is_no_quantize(node):
                continue
            if reads_no_node(node):
                continue
            mover = source_of(node)
            if is_asked_for_its_shape(mover):
                continue
            if has_other_users(mover):
                continue
            if is_changed_between(mover, node, changers):
                continue
            if is_join(mover):
                if cannot_be_split(mover):
                    continue
                if joins_along_the_axis(mover, node):
                    continue
                advance_above_join(node, mover)
                modified = True
                continue
            if does_more_than_move_data(mover):
                continue
            if reads_no_node(mover):
                continue
            if keeps_only_a_part(mover):
                continue
            if leaves_no_axis_above(mover, node):
                continue
            advance(node, mover)
            modified = True
        return modified


def leaves_no_axis_above(mover: Node, quantize: Node) -> bool:
    """The op above makes, merges, splits or repeats the channel dimension: no axis could name it up there."""
    return is_per_channel(quantize) and axis_above(mover, argument(quantize, "axis")) is None


def advance(quantize: Node, mover: Node) -> None:
    """Puts a quantize above the op that feeds it; the op stays the same node, in the quantize's place."""
    graph = quantize.graph
    new: dict[str, Any] = {"input": source_of(mover)}
    if is_per_channel(quantize):
        new["axis"] = axis_above(mover, argument(quantize, "axis"))
    args, kwargs = arguments_with(quantize, **new)
    with graph.inserting_before(quantize):
        above = graph.create_node("call_function", quantize.target, args, kwargs)
    above.meta = copied_metadata(quantize)
    set_value(above, compute_node(above))
    quantize.replace_all_uses_with(mover)
    graph.erase_node(quantize)
    mover.replace_input_with(new["input"], above)
    set_value(mover, compute_node(mover))
    above.append(mover)
