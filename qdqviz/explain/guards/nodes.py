"""What is known of a value as far as nodes go: parts of it, and what of it is a node."""

from __future__ import annotations

import ast
from typing import TypeAlias

from qdqviz.explain.seen_text import foreign_text
from qdqviz.ir.values import Atom, DictArg, ListArg, NodeSeen, Ref, Value

Known: TypeAlias = "int | str | tuple[Known | None, ...] | dict[str, Known | None] | None"
"""A node's identity, a text such as its target, a sequence, keyword arguments; None for what is not known."""


def place_in(target: ast.expr, name: str) -> int | None:
    """Where in what is assigned a name's part stands; -1 for the whole, None for nowhere."""
    if isinstance(target, ast.Name):
        return -1 if target.id == name else None
    if isinstance(target, ast.Tuple | ast.List):
        for index, each in enumerate(target.elts):
            if isinstance(each, ast.Name) and each.id == name:
                return index
    return None


def part_of(target: ast.expr, name: str, value: Value) -> Known:
    """What a name in a loop's target stands for, given the item."""
    index = place_in(target, name)
    if index is None:
        return None
    known = known_of(value)
    return known if index < 0 else item_of(known, index)


def item_of(known: Known, key: object) -> Known:
    """A part of a sequence or of keyword arguments."""
    if isinstance(known, dict):
        return known.get(key) if isinstance(key, str) else None
    if isinstance(known, tuple) and isinstance(key, int) and -len(known) <= key < len(known):
        return known[key]
    return None


def known_of(value: Value) -> Known:
    """The nodes in a value as it was seen; those of a graph that is not the program's by their names."""
    if isinstance(value, NodeSeen):
        return value.node
    if isinstance(value, Atom) and value.kind == "node":
        return foreign_text(value.text)
    items = value.items if isinstance(value, ListArg) else value
    return tuple(known_of(item) for item in items) if isinstance(items, tuple) else None


def known_of_argument(value: Value) -> Known:
    """The nodes in an argument."""
    if isinstance(value, Ref):
        return value.node
    if isinstance(value, DictArg):
        return None
    items = value.items if isinstance(value, ListArg) else value
    return tuple(known_of_argument(item) for item in items) if isinstance(items, tuple) else None


def is_whole(known: Known) -> bool:
    """Whether the nodes in a value are all that it holds, as they stand."""
    return not isinstance(known, tuple) or all(isinstance(part, int) for part in known)


def nodes_of(known: Known) -> tuple[int, ...]:
    """All nodes in a value, in order."""
    if isinstance(known, int):
        return (known,)
    if isinstance(known, tuple):
        return tuple(node for part in known for node in nodes_of(part))
    return ()
