"""SinkOpsCloserToUsePass: a dequantize is run as late as its one user allows.

What it does: `dq = dequantize(i8); a; b; c = use(dq)` becomes `a; b; dq = dequantize(i8); c = use(dq)`.

Why it pays: while `a` and `b` run, one byte an element waits instead of four. No byte less is computed or
moved; what shrinks is the live range of the fp32 value, and with it the peak of memory.

When it must not fire: with several users, since the first of them would hold it where it is.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from qdqviz.passes.builtin.graph_pass import GraphPass
from qdqviz.passes.builtin.ops import op_name
from qdqviz.passes.builtin.placement import all_between, in_place_ops, is_changed_between
from qdqviz.passes.builtin.quantization import DEQUANTIZE
from qdqviz.passes.builtin.users import has_no_users, is_asked_for_its_shape, only_user

SINKABLE = DEQUANTIZE | {"aten.dequantize.self"}
"""Ops that make a value four times as large as their input."""


class SinkOpsCloserToUsePass(GraphPass):
    """Moves each dequantize down to right before its only user, so that int8 waits there instead of fp32."""

    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Sinks every dequantize of a graph that has room below it."""
        modified = False
        changers = in_place_ops(graph)
        for node in list(graph.nodes):
            if is_not_sinkable(node):
                continue
            if has_no_users(node):
                continue
            if is_asked_for_its_shape(node):
                continue
            if has_several_users(node):
                continue
            if stands_right_before_its_user(node):
                continue
            if is_changed_between(node, only_user(node), changers):
                continue
            only_user(node).prepend(node)
            modified = True
        return modified


def is_not_sinkable(node: Node) -> bool:
    """It is no dequantize op, and only those shrink what waits when they are sunk."""
    return op_name(node) not in SINKABLE


def has_several_users(node: Node) -> bool:
    """It has several users: sunk to the last of them, it would come too late for the others."""
    return len(node.users) > 1


def stands_right_before_its_user(node: Node) -> bool:
    """It already stands right before its user, with nothing but the user's other dequantizes in between."""
    user = only_user(node)
    return all_between(node, user, lambda other: op_name(other) in SINKABLE and list(other.users) == [user])
