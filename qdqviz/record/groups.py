"""Nodes that a pass is handed together: what a matcher or a partitioner found.

Known by the names that torch.fx gives their classes; their own fields are read, and no code of theirs runs.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from torch.fx import Node

GROUPS = frozenset({"InternalMatch", "SourcePartition", "Partition"})
"""Classes of torch.fx.passes whose instances stand for some nodes of a graph."""

MOST_NODES = 256
"""How many nodes of a group are kept."""

_FIRST = ("returning_nodes", "anchors", "output_nodes", "nodes")
"""Fields that may hold the node that stands for the group, the best first."""


def focus_of_group(item: Any) -> Node | None:
    """The node that stands for a match or a partition; None where the item is neither."""
    fields = _fields(item)
    for name in _FIRST if fields else ():
        held = fields.get(name)
        if type(held) in (list, tuple, set, dict) and held:
            return next((part for part in held if type(part) is Node), None)
    return None


def nodes_of_group(item: Any) -> list[Node]:
    """The nodes of the graph that a match or a partition holds, without its inputs, at most 256."""
    fields = _fields(item)
    matched = fields.get("nodes_map")
    if type(matched) is dict:
        inputs = fields.get("placeholder_nodes")
        outer = [part for part in inputs if type(part) is Node] if type(inputs) is list else []
        held: Any = [part for part in matched.values() if type(part) is Node and part not in outer]
    else:
        held = fields.get("nodes")
    if type(held) not in (list, tuple, set, dict):
        return []
    return list(islice(dict.fromkeys(part for part in held if type(part) is Node), MOST_NODES))


def _fields(item: Any) -> dict[str, Any]:
    if type(item).__name__ not in GROUPS:
        return {}
    try:
        fields = object.__getattribute__(item, "__dict__")
    except AttributeError:
        return {}
    return fields if type(fields) is dict else {}
