"""What one rewrite changes in one graph, as far as values are concerned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from qdqviz.ir.change import Change, Erase, Insert, Update, same
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.ir.values import Ref, Value, map_refs, refs

_COMPUTES = ("args", "kwargs", "target", "op", "constant")
"""Fields that say what a node computes."""


@dataclass(frozen=True)
class Region:
    """The nodes of one graph that a rewrite touches; all others compute what they did."""

    inserted: frozenset[int]
    """New nodes."""
    erased: frozenset[int]
    """Nodes that are gone."""
    edited: frozenset[int]
    """Nodes that compute something else: another target, other numbers, another constant."""
    rewired: frozenset[int]
    """Nodes that do the same with other inputs."""
    moved: frozenset[int]
    """Nodes at another place."""

    @property
    def dirty(self) -> frozenset[int]:
        """Nodes of the new graph to look at."""
        return self.inserted | self.edited | self.rewired

    @property
    def old(self) -> frozenset[int]:
        """Nodes of the old graph whose values the rewrite may replace."""
        return self.erased | self.edited | self.rewired


def region_of(changes: Iterable[Change], path: str, before: Body, after: Body) -> Region:
    """The region of a rewrite in the graph at `path`."""
    inserted: set[int] = set()
    erased: set[int] = set()
    written: set[int] = set()
    moved: set[int] = set()
    for change in changes:
        if change.path != path:
            continue
        if isinstance(change, Insert):
            inserted.add(change.node.id)
        elif isinstance(change, Erase):
            erased.add(change.node.id)
        elif isinstance(change, Update) and change.field in _COMPUTES:
            written.add(change.node)
        elif isinstance(change, Update) and change.field == "order":
            moved.add(change.node)
    kept = {node for node in written if node in before and node in after}
    rewired = {node for node in kept if is_rewired(before[node], after[node])}
    return Region(
        inserted=frozenset(node for node in inserted if node in after and node not in before),
        erased=frozenset(node for node in erased if node not in after),
        edited=frozenset(kept - rewired),
        rewired=frozenset(rewired),
        moved=frozenset(node for node in moved if node in after),
    )


def is_rewired(old: NodeState, new: NodeState) -> bool:
    """Whether a node does the same as before, perhaps with other inputs."""
    return (
        (old.op, old.target) == (new.op, new.target)
        and same(_shape(old.args), _shape(new.args))
        and same(_shape(old.kwargs), _shape(new.kwargs))
        and old.constant == new.constant
    )


def replaced_inputs(old: NodeState, new: NodeState) -> Iterator[tuple[int, int, int]]:
    """Position among all uses, old input and new input of every use in a rewired node that has changed."""
    befores, afters = _uses(old), _uses(new)
    for position, (before, after) in enumerate(zip(befores, afters, strict=True)):
        if before != after:
            yield position, before, after


def _uses(node: NodeState) -> list[int]:
    return [*refs(node.args), *(ref for _, value in node.kwargs for ref in refs(value))]


def _shape(value: Any) -> Any:
    """An argument structure with all node uses made equal."""
    return map_refs(value, _any_node)


def _any_node(_: int) -> Value:
    return Ref(-1)


def order_faults(body: Body, nodes: Iterable[int]) -> Iterator[tuple[NodeState, NodeState]]:
    """User and used, wherever one of `nodes` stands before what it uses, or behind what uses it."""
    for node in nodes:
        state = body.get(node)
        if state is None:
            continue
        for source in state.input_ids():
            used = body.get(source)
            if used is not None and used.order > state.order:
                yield state, used
        for user in body.users(node):
            if body[user].order < state.order:
                yield body[user], state
