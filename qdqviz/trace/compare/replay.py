"""Replays one subject of a trace and keeps what every rewrite did to every node: one pass, linear in time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace
from rpds import HashTrieMap

from qdqviz.ir.change import Change, Erase, Insert, Update
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.node import NodeState
from qdqviz.trace.model import Rewrite
from qdqviz.trace.reader import Trace

WINDOW = 8
"""How many neighbours on either side say where a node stands: some may have no counterpart."""

REACH = 64
"""How far neighbours are looked for, past nodes that the same rewrite made or moved."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a node stands in the execution order."""

    before: tuple[int, ...]
    """Identities of the nodes that run before it, the nearest first; those that the rewrite made, moved or
    erased are left out."""
    after: tuple[int, ...]
    """Identities of the nodes that run after it, the nearest first."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What a rewrite did to one node, all in all."""

    path: str
    """Graph that holds the node."""
    old: NodeState | None
    """The node before the rewrite; None where the rewrite made it."""
    new: NodeState | None
    """The node after the rewrite; None where the rewrite erased it."""
    was: Spot | None = None
    """Where it stood, if it was moved or erased."""
    now: Spot | None = None
    """Where it stands, if it was moved or made."""

    @property
    def moved(self) -> bool:
        """Whether the node stands elsewhere among the nodes that the rewrite left where they were."""
        if self.now is None or self.was is None:
            return self.now is not None
        return (self.was.before[:1], self.was.after[:1]) != (self.now.before[:1], self.now.after[:1])


@dataclass(frozen=True, slots=True)
class History:
    """All that happened to one subject."""

    first: GraphState
    """Its first state."""
    final: GraphState
    """Its last state."""
    edits: Mapping[int, tuple[Edit, ...]]
    """What each of its steps did, node by node, in execution order."""
    made: Mapping[int, tuple[NodeState, ...]]
    """For each pass run that rewrote something, the nodes that it made and left, as they were at its end."""
    names: Mapping[int, str]
    """The last name of every node that there ever was."""


def replay(trace: Trace, subject: int) -> History:
    """Read everything that happened to a subject.

    Raises:
        TraceFileError: If the trace is damaged.
    """
    cursor = trace.cursor(subject)
    first = cursor.first()
    graphs = _Graphs(first)
    edits: dict[int, tuple[Edit, ...]] = {}
    made: dict[int, dict[int, None]] = {}
    ends: dict[int, tuple[NodeState, ...]] = {}
    last: Rewrite | None = None
    done = 0
    for step in cursor.steps:
        rewrite = trace.rewrite(step)
        if last is not None and last.run != rewrite.run:
            ends[last.run] = graphs.alive(made[last.run])
        _settle(trace, subject, graphs, range(done, step))
        edits[step] = graphs.rewrite(rewrite.changes)
        created = made.setdefault(rewrite.run, {})
        created.update((each.new.id, None) for each in edits[step] if each.old is None and each.new)
        last, done = rewrite, step
    if last is not None:
        ends[last.run] = graphs.alive(made[last.run])
    _settle(trace, subject, graphs, range(done, trace.steps + 1))
    return History(first, graphs.state(), edits, ends, graphs.names)


def _settle(trace: Trace, subject: int, graphs: _Graphs, steps: Iterable[int]) -> None:
    cursor = trace.cursor(subject)
    for step in steps:
        graphs.apply(cursor.settling_after(step))


class _Graphs:
    """The graphs of one subject, changed in place."""

    def __init__(self, state: GraphState) -> None:
        self.names: dict[int, str] = {}
        self._nodes: dict[str, dict[int, NodeState]] = {}
        self._orders: dict[str, list[tuple[bytes, int]]] = {}
        for path in state.paths():
            nodes = state.body(path).in_order()
            self._nodes[path] = {node.id: node for node in nodes}
            self._orders[path] = [(node.order, node.id) for node in nodes]
            self.names.update((node.id, node.name) for node in nodes)

    def state(self) -> GraphState:
        """The present state."""
        state = GraphState()
        for path, nodes in self._nodes.items():
            if nodes or not path:
                state = GraphState(state.bodies.insert(path, Body(HashTrieMap(nodes))))
        return state

    def alive(self, nodes: Iterable[int]) -> tuple[NodeState, ...]:
        """Those of these nodes that are still there."""
        found = (graph.get(node) for node in nodes for graph in self._nodes.values())
        return tuple(node for node in found if node is not None)

    def apply(self, changes: Iterable[Change]) -> None:
        """Make changes."""
        for change in changes:
            self._apply(change)

    def rewrite(self, changes: tuple[Change, ...]) -> tuple[Edit, ...]:
        """Make the changes of a rewrite, and say what they come to for each node."""
        touched = list(dict.fromkeys((change.path, change.node_id) for change in changes))
        placed = {(c.path, c.node_id) for c in changes if not isinstance(c, Update) or c.field == "order"}
        skipped = {node for _, node in placed}
        old = {key: self._get(*key) for key in touched}
        was = {key: self._spot(key[0], found, skipped) for key in placed if (found := old[key]) is not None}
        self.apply(changes)
        edits = []
        for key in touched:
            new = self._get(*key)
            if new is old[key]:
                continue  # made and erased again
            now = self._spot(key[0], new, skipped) if new is not None and key in placed else None
            edits.append(Edit(key[0], old[key], new, was.get(key), now))
        return tuple(sorted(edits, key=_in_execution_order))

    def _get(self, path: str, node: int) -> NodeState | None:
        return self._nodes.get(path, {}).get(node)

    def _apply(self, change: Change) -> None:
        nodes = self._nodes.setdefault(change.path, {})
        orders = self._orders.setdefault(change.path, [])
        if isinstance(change, Insert):
            nodes[change.node.id] = change.node
            insort(orders, (change.node.order, change.node.id))
            self.names[change.node.id] = change.node.name
        elif isinstance(change, Erase):
            node = nodes.pop(change.node.id)
            del orders[bisect_left(orders, (node.order, node.id))]
        else:
            old = nodes[change.node]
            new = nodes[change.node] = replace(old, **{change.field: change.new})
            if change.field == "name":
                self.names[new.id] = new.name
            elif change.field == "order":
                del orders[bisect_left(orders, (old.order, old.id))]
                insort(orders, (new.order, new.id))

    def _spot(self, path: str, node: NodeState, skipped: set[int]) -> Spot:
        orders = self._orders[path]
        key = (node.order, node.id)
        low, high = bisect_left(orders, key), bisect_right(orders, key)
        return Spot(
            tuple(_near(orders, range(low - 1, max(low - 1 - REACH, -1), -1), skipped)),
            tuple(_near(orders, range(high, min(high + REACH, len(orders))), skipped)),
        )


def _near(orders: list[tuple[bytes, int]], positions: Iterable[int], skipped: set[int]) -> Iterator[int]:
    count = 0
    for position in positions:
        node = orders[position][1]
        if node not in skipped:
            yield node
            count += 1
            if count == WINDOW:
                return


def _in_execution_order(edit: Edit) -> tuple[str, bytes]:
    node = edit.new or edit.old
    assert node is not None
    return edit.path, node.order
