"""What was last read off a node, and cheap tests whether it reads differently now."""

from __future__ import annotations

from itertools import repeat
from operator import is_
from typing import Any

from torch.fx import Node
from torch.fx.immutable_collections import immutable_dict, immutable_list
from torch.fx.node import _NodeBase

from qdqviz.ir.node import NodeState
from qdqviz.record.metadata import SPEC_KEYS

read_meta = _NodeBase.__dict__["meta"].__get__
"""A node's metadata, read past the watcher."""


class Mirror:
    """What was read off one node the last time, to tell cheaply whether it has changed."""

    __slots__ = ("args", "kwargs", "meta", "meta_items", "node", "state", "target", "val")

    def __init__(self, node: Node, state: NodeState) -> None:
        self.take(node, state)

    def take(self, node: Node, state: NodeState) -> None:
        """Be the mirror of a node that reads as `state` now."""
        self.node = node
        self.state = state
        self.target: Any = node.target
        self.args: Any = node._args
        self.kwargs: Any = node._kwargs
        self.meta: dict[str, Any] = read_meta(node)
        self.meta_items = items = dict(self.meta)
        self.val = items.get("val")


def same_meta(mirror: Mirror, meta: dict[str, Any]) -> bool:
    """Whether a node's metadata is the dictionary that was last read, with the same objects in it."""
    items = mirror.meta_items
    return (
        meta is mirror.meta
        and len(meta) == len(items)
        and all(map(is_, meta.values(), items.values()))
        and list(meta) == list(items)
    )


def alike(left: Any, right: Any, ids: dict[Node, int]) -> bool:
    """Whether two raw arguments encode the same: nodes by identity, the rest by type and value."""
    kind = type(left)
    if kind is not type(right):
        return False
    if left is right:
        return True
    if kind is Node:
        found = ids.get(left)
        return found is not None and found == ids.get(right)
    if kind in _SEQUENCES:
        if _PLAIN.issuperset(map(type, left)):  # no symbol among them, which must not be compared
            return list(map(type, left)) == list(map(type, right)) and bool(left == right)
        return len(left) == len(right) and all(map(alike, left, right, repeat(ids)))
    if kind is immutable_dict:
        return list(left) == list(right) and all(map(alike, left.values(), right.values(), repeat(ids)))
    if kind is float:
        return repr(left) == repr(right)
    return kind in _PLAIN and left == right


_SEQUENCES = frozenset({tuple, list, immutable_list})
_PLAIN = frozenset({int, str, bool})


def same_items(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether two metadata dictionaries hold the same objects, besides what belongs to the spec."""
    if len(before) == len(now) and list(before) == list(now):
        differing = len(now) - sum(map(is_, before.values(), now.values()))
        if differing == 0 or (differing == 1 and before.get("val") is not now.get("val")):
            return True
        for key, old, new in zip(now, before.values(), now.values(), strict=True):
            if old is not new and key not in SPEC_KEYS:
                return False
        return True
    rest = len(before)
    for key in SPEC_KEYS:
        rest -= key in before
    for key, item in now.items():
        if key not in SPEC_KEYS:
            if before.get(key, before) is not item:
                return False
            rest -= 1
    return rest == 0
