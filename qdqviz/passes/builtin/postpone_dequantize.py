"""PostponeDequantizeOpBelowUseChainPass: data is moved as int8 instead of fp32, by dequantizing after moving.

What it does: `i8 -> dequantize -> permute` becomes `i8 -> permute -> dequantize`, op by op down a chain of
data movement. A dequantize that feeds several slices is copied below each of them.

Why it pays: a permute of n elements reads and writes 8n bytes in fp32 and 2n in int8, and the fp32 value
lives shorter. Dequantizing treats every element alike, so the result is the same, bit by bit.

When it must not fire: if a user computes with the value; if the copies below the slices would make more fp32
bytes than the one dequantize makes now, unless each goes into a quantize anyway; and per channel where the
moved op leaves no dimension for the channels. Where it does leave one, the `axis` becomes that dimension,
and a slice of the channels slices the scales and zero points too: upstream's pass does neither, and scales
the wrong dimension.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from qdqviz.passes.builtin.channels import axis_below, sliced_axis
from qdqviz.passes.builtin.data_movement import does_more_than_move_data, is_no_slice
from qdqviz.passes.builtin.graph_pass import GraphPass
from qdqviz.passes.builtin.inputs import reads_no_node
from qdqviz.passes.builtin.ops import argument, source_of
from qdqviz.passes.builtin.placement import in_place_ops, is_changed_between
from qdqviz.passes.builtin.postponing import Postponed, plan, postpone
from qdqviz.passes.builtin.quantization import is_no_dequantize, is_per_channel, is_quantize
from qdqviz.passes.builtin.sizes import at_most, normal_dimension, product, shape_of
from qdqviz.passes.builtin.users import has_no_users, is_asked_for_its_shape

SWEEPS = 3
"""How often the graph is walked at most, as upstream does; the shapes are fresh in each walk."""


class PostponeDequantizeOpBelowUseChainPass(GraphPass):
    """Moves each dequantize below the data movement that reads it, so that int8 is moved instead of fp32."""

    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Walks the graph until nothing changes, three times at most."""
        sweeps = 0
        while sweeps < SWEEPS and self.sweep(graph):
            sweeps += 1
        return sweeps > 0

    def sweep(self, graph: torch.fx.Graph) -> bool:
        """Walks forwards: a dequantize that has gone down one op is met again, below it."""
        modified = False
        changers = in_place_ops(graph)
        for node in graph.nodes:
            if is_no_dequantize(node):
                continue
            if reads_no_node(node):
                continue
            if has_no_users(node):
                continue
            if is_asked_for_its_shape(node):
                continue
            users = list(node.users)
            if has_one(users):
                if does_more_than_move_data(users[0]):
                    continue
            else:
                if any(is_no_slice(user) for user in users):
                    continue
                if makes_more_float_bytes(node, users) and feeds_more_than_quantizes(users):
                    continue
            if any(is_changed_between(node, user, changers) for user in users):
                continue
            if any(leaves_no_axis_below(user, node) for user in users):
                continue
            plans = [plan(node, user) for user in users]
            if any(cannot_run(each) for each in plans):
                continue
            postpone(node, plans)
            modified = True
        return modified


def has_one(users: list[Node]) -> bool:
    """It has a single user."""
    return len(users) == 1


def makes_more_float_bytes(dequantize: Node, slices: list[Node]) -> bool:
    """Together the slices are larger than their source: dequantizes below them would make more fp32 bytes.

    Every slice counts, also one that keeps everything, and all are counted in the dtype that the dequantize
    makes.
    """
    whole = shape_of(dequantize)
    parts = [shape_of(part) for part in slices]
    if whole is None or any(part is None for part in parts):
        return True
    return not at_most(sum(product(part) for part in parts if part is not None), product(whole))


def feeds_more_than_quantizes(slices: list[Node]) -> bool:
    """Not every user of the slices is a quantize, which would make a requantize of the dequantize."""
    return any(not is_quantize(user) for part in slices for user in part.users)


def leaves_no_axis_below(user: Node, dequantize: Node) -> bool:
    """The op below merges, splits, drops or repeats the channel dimension: no axis could name it there."""
    if not is_per_channel(dequantize) or _slices_the_channels(user, dequantize):
        return False
    return axis_below(user, argument(dequantize, "axis")) is None


def cannot_run(planned: Postponed) -> bool:
    """One of the ops refuses its input in the new order (a view of strides that do not fit, for one)."""
    return planned.moved.failed or planned.dequantized.failed


def _slices_the_channels(user: Node, dequantize: Node) -> bool:
    shape = shape_of(source_of(dequantize))
    axis = argument(dequantize, "axis")
    return shape is not None and sliced_axis(user) == normal_dimension(axis, len(shape))
