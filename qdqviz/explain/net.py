"""What a rewrite's changes come to: nodes gone, nodes new, nodes that are no longer what they were."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from qdqviz.ir.change import UPDATABLE, same
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import NodeState
from qdqviz.ir.values import DictArg, ListArg, Ref, Value, map_refs
from qdqviz.trace.model import Rewrite


@dataclass(frozen=True, slots=True)
class Updated:
    """A node that is there before and after, and differs."""

    path: str
    """Graph that holds it."""
    old: NodeState
    """The node before."""
    new: NodeState
    """The node after."""
    fields: tuple[str, ...]
    """Names of the fields that differ, from `qdqviz.ir.change.UPDATABLE`."""

    @property
    def rewired(self) -> bool:
        """Whether it uses other nodes than before."""
        return self.old.input_ids() != self.new.input_ids()

    @property
    def literals_changed(self) -> bool:
        """Whether arguments differ that are no uses of nodes."""
        return bool({"args", "kwargs"} & set(self.fields)) and not same(
            _arguments(self.old), _arguments(self.new)
        )


@dataclass(frozen=True, slots=True)
class Net:
    """The difference between the states before and after a rewrite, edits that cancel out left out."""

    removed: tuple[tuple[str, NodeState], ...]
    """Nodes that are gone, as they were, with the path of their graph, in execution order."""
    added: tuple[tuple[str, NodeState], ...]
    """Nodes that are new, as they are after the rewrite, in execution order."""
    updated: tuple[Updated, ...]
    """Nodes that differ."""
    graphs_added: tuple[str, ...] = ()
    """Paths of sub-graphs that are new."""
    graphs_dropped: tuple[str, ...] = ()
    """Paths of sub-graphs that are gone."""

    @property
    def empty(self) -> bool:
        """Whether the states are equal."""
        return not (self.removed or self.added or self.updated or self.graphs_added or self.graphs_dropped)


def net_of(rewrite: Rewrite, before: GraphState, after: GraphState) -> Net:
    """The difference that a rewrite makes; it costs what the rewrite is large, not what the graph is.

    Args:
        rewrite: The rewrite, with its changes.
        before: State of its subject right before it.
        after: State of its subject right after it.
    """
    removed, added, updated = [], [], []
    for path, node in _touched(rewrite):
        old, new = _get(before, path, node), _get(after, path, node)
        if old is None and new is not None:
            added.append((path, new))
        elif old is not None and new is None:
            removed.append((path, old))
        elif old is not None and new is not None:
            fields = tuple(f for f in UPDATABLE if not same(getattr(old, f), getattr(new, f)))
            if fields:
                updated.append(Updated(path, old, new, fields))
    for nodes in (removed, added):
        nodes.sort(key=lambda item: (item[0], item[1].order))
    old_paths, new_paths = set(before.bodies), set(after.bodies)
    return Net(
        tuple(removed),
        tuple(added),
        tuple(updated),
        tuple(sorted(new_paths - old_paths)),
        tuple(sorted(old_paths - new_paths)),
    )


def signature(node: NodeState) -> Hashable:
    """Equal for nodes that do the same to whatever they read: op, target, and arguments but for nodes."""
    constant = None if node.constant is None else (node.constant.kind, node.constant.target)
    return (node.op, node.target, _hashable(_arguments(node)), constant)


def _touched(rewrite: Rewrite) -> dict[tuple[str, int], None]:
    return {(change.path, change.node_id): None for change in rewrite.changes}


def _get(state: GraphState, path: str, node: int) -> NodeState | None:
    body = state.bodies.get(path)
    return None if body is None else body.get(node)


def _arguments(node: NodeState) -> Value:
    """All arguments, with every use of a node made equal."""
    pairs: tuple[Value, ...] = tuple((name, value) for name, value in node.kwargs)
    return map_refs((node.args, pairs), lambda _: Ref(-1))


def _hashable(value: Any) -> Hashable:
    """The value so that 1, 1.0 and True stay apart in a dictionary, as they do for `same`."""
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, ListArg | DictArg):
        return (type(value).__name__, tuple(map(_hashable, value.items)))
    return (type(value).__name__, repr(value))
