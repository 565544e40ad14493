"""Guards that turn on who reads a value. A graph's output is a reader like any other."""

from __future__ import annotations

import torch
from torch.fx import Node

from qdqviz.passes.builtin.ops import SIZE_QUERIES, op_name

SIZE_TYPES = (int, torch.SymInt)
"""Types of the values that sizes are."""


def has_no_users(node: Node) -> bool:
    """Nothing reads it: dead code is not worth moving."""
    return not node.users


def has_other_users(node: Node) -> bool:
    """Its input has other users, which need the fp32 value: it would stay alive all the same."""
    return len(node.users) != 1


def is_asked_for_its_shape(node: Node) -> bool:
    """A size query (sym_size) reads it too; it asks for no values, but it counts as a second user."""
    return len(node.users) > 1 and any(op_name(user) in SIZE_QUERIES for user in node.users)


def erase_unused_sizes(sizes: list[Node]) -> None:
    """Erases nodes that compute sizes which nothing reads any more: left alone, they would count as users."""
    todo = list(sizes)
    while todo:
        node = todo.pop()
        if node.op == "call_function" and not node.users and isinstance(node.meta.get("val"), SIZE_TYPES):
            todo.extend(node.all_input_nodes)
            node.graph.erase_node(node)


def only_user(node: Node) -> Node:
    """Returns the single user of a node that has one."""
    (user,) = node.users
    return user
