"""When each value of a graph is last used."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from qdqviz.ir.node import NodeState, Spec
from qdqviz.ir.values import DictArg, ListArg, Ref, SliceArg, refs

_HOLDERS = frozenset({tuple, ListArg, DictArg, SliceArg})


class Value(NamedTuple):
    """One value that a node makes."""

    output: int | None
    """Which output of the node, or None where it has one only."""
    spec: Spec
    """What it is."""
    start: int
    """Step that makes it."""
    last: int
    """Last step that uses it; -1 where none does."""
    user: NodeState | None
    """The node of that step."""


class LastUses:
    """When each value of a graph is last used.

    Args:
        nodes: All nodes in execution order.
        specs: What each node makes.
    """

    def __init__(self, nodes: Collection[NodeState], specs: dict[int, Spec]) -> None:
        self._specs = specs
        self._positions = {node.id: index for index, node in enumerate(nodes)}
        self._nodes = tuple(nodes)
        self._last: dict[int, int] = {}
        self._last_of_part: dict[int, dict[int, int]] = {}
        self._taken: dict[int, tuple[int, int]] = {}
        for index, node in enumerate(nodes):
            self._note_uses(index, node)
        for node in reversed(self._nodes):
            if node.id in self._taken:
                self._hand_on(node)

    def _note_uses(self, index: int, node: NodeState) -> None:
        part = _part_taken(node)
        if part is not None:
            owner = self._specs.get(part[0])
            if isinstance(owner, tuple) and owner:
                # A part may be counted from the end.
                self._taken[node.id] = part[0], part[1] % len(owner)
                return
        last = self._last
        for value in node.args:
            if type(value) is Ref:
                last[value.node] = index
            elif type(value) in _HOLDERS:
                last.update(dict.fromkeys(refs(value), index))
        for _, value in node.kwargs:
            last.update(dict.fromkeys(refs(value), index))

    def _hand_on(self, node: NodeState) -> None:
        """A part taken by getitem is needed for as long as the getitem's users need it."""
        parent, part = self._taken[node.id]
        parts = self._last_of_part.setdefault(parent, {})
        own = self._last_of_part.get(node.id, {}).values()
        end = max(self._last.get(node.id, self._positions[node.id]), *own, -1)
        parts[part] = max(end, parts.get(part, -1))

    def values(self, node: NodeState) -> Iterator[Value]:
        """The values that a node makes: one, one for each output, or none for a getitem or the output."""
        if node.id in self._taken or node.op == "output":
            return
        spec = self._specs[node.id]
        last = self._last.get(node.id, -1)
        start = self._positions[node.id]
        if not isinstance(spec, tuple):
            yield Value(None, spec, start, last, self._user(last))
            return
        taken = self._last_of_part.get(node.id, {})
        for index, part in enumerate(spec):
            end = max(last, taken.get(index, -1))
            yield Value(index, part, start, end, self._user(end))

    def _user(self, step: int) -> NodeState | None:
        return self._nodes[step] if step >= 0 else None


def _part_taken(node: NodeState) -> tuple[int, int] | None:
    """(node, index) for a getitem of one part of a node's value."""
    if len(node.args) != 2 or not node.target.endswith("getitem"):
        return None
    parent, part = node.args
    return (parent.node, part) if isinstance(parent, Ref) and isinstance(part, int) else None
