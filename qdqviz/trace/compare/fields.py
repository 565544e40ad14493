"""What differs between two nodes that are counterparts, field by field."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TypeAlias

from qdqviz.ir.node import NodeState
from qdqviz.ir.values import Ref, Value
from qdqviz.trace.compare.model import Difference, Place
from qdqviz.trace.compare.replay import Edit
from qdqviz.trace.compare.signature import Leaf, Leaves, TextOf, content, leaves_of, metadata

SameLeaf: TypeAlias = "Callable[[Leaf, Leaf], bool]"
"""Whether a part of an argument is the same in both traces: nodes that are counterparts, equal values."""

SHARED = "(shared dictionary)"
"""Stands for the key of a metadata difference that is about whose dictionary it is."""


def field_differences(
    one: Edit, other: Edit, same_leaf: SameLeaf, texts: tuple[TextOf, TextOf]
) -> Iterator[Difference]:
    """What differs after an edit, of what either side changed; position left out.

    Args:
        one: The left edit, of a node that is there afterwards.
        other: The right one.
        same_leaf: Tells what is the same.
        texts: Give the long texts of the left and of the right trace.
    """
    left, right = one.new, other.new
    assert left is not None
    assert right is not None
    named = left.op in ("placeholder", "get_attr")
    if left.op != right.op or (not named and _changed("target", one, other) and left.target != right.target):
        yield Difference("target", one.path, left, right, (), left.target, right.target)
    if not named:
        for place in _argument_places(one, other, same_leaf):
            values = argument_at(left, place), argument_at(right, place)
            yield Difference("argument", one.path, left, right, place, *values)
    if _changed("constant", one, other) and content(left.constant) != content(right.constant):
        yield Difference("constant", one.path, left, right, (), left.constant, right.constant)
    if _changed("spec", one, other) and left.spec != right.spec:
        yield Difference("spec", one.path, left, right, (), left.spec, right.spec)
    if _changed("meta", one, other):
        yield from _metadata_differences(one, other, texts)
    if _changed("shares_meta", one, other) and not _same_owner(left, right, same_leaf):
        values = _owner(left), _owner(right)
        yield Difference("metadata", one.path, left, right, ("meta", SHARED), *values)


def argument_at(node: NodeState, place: Place) -> Value:
    """The argument at a place such as `("args", 3)` or `("kwargs", "axis")`; None where it is left out."""
    where, key = place[:2]
    if where == "args":
        return node.args[key] if isinstance(key, int) and key < len(node.args) else None
    return next((value for name, value in node.kwargs if name == key), None)


def _changed(field: str, one: Edit, other: Edit) -> bool:
    """Whether either side made the node, or changed this field of it."""
    return any(
        each.old is None or getattr(each.old, field) != getattr(each.new, field) for each in (one, other)
    )


def _argument_places(one: Edit, other: Edit, same_leaf: SameLeaf) -> Iterator[Place]:
    """Arguments that differ in a part that either side changed, each once."""
    before, after = _leaves(one)
    there_before, there_after = _leaves(other)
    told: set[Place] = set()
    for place in dict.fromkeys((*after, *there_after)):
        left, right = after.get(place), there_after.get(place)
        if place[:2] in told or (left is not None and right is not None and same_leaf(left, right)):
            continue
        if before.get(place) != left or there_before.get(place) != right:
            told.add(place[:2])
            yield place[:2]


def _leaves(edit: Edit) -> tuple[Leaves, Leaves]:
    assert edit.new is not None
    return {} if edit.old is None else leaves_of(edit.old), leaves_of(edit.new)


def _metadata_differences(one: Edit, other: Edit, texts: tuple[TextOf, TextOf]) -> Iterator[Difference]:
    before, after = (_items(node, texts[0]) for node in (one.old, one.new))
    there_before, there_after = (_items(node, texts[1]) for node in (other.old, other.new))
    for key in sorted({*after, *there_after}):
        left, right = after.get(key, _ABSENT), there_after.get(key, _ABSENT)
        if left[0] == right[0]:
            continue
        if before.get(key, _ABSENT)[0] != left[0] or there_before.get(key, _ABSENT)[0] != right[0]:
            place = ("meta", key)
            yield Difference("metadata", one.path, one.new, other.new, place, left[1], right[1])


_ABSENT: tuple[Hashable, Value] = (None, None)


def _items(node: NodeState | None, text_of: TextOf) -> dict[str, tuple[Hashable, Value]]:
    if node is None:
        return {}
    return {key: (told, shown) for key, told, shown in metadata(node, text_of)}


def _same_owner(left: NodeState, right: NodeState, same_leaf: SameLeaf) -> bool:
    if left.shares_meta is None or right.shares_meta is None:
        return left.shares_meta is right.shares_meta
    return same_leaf(Ref(left.shares_meta), Ref(right.shares_meta))


def _owner(node: NodeState) -> Value:
    return None if node.shares_meta is None else Ref(node.shares_meta)
