"""Runs whole graphs on real values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from qdqviz.check.control import bound
from qdqviz.check.operations import LackingError, Missing, Operations
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import NodeState


@dataclass(frozen=True)
class Ran:
    """What one run of a graph gave."""

    outputs: Any
    """What the output node returns, or a `Missing`."""
    sources: Mapping[int, Any]
    """Placeholders and get_attr nodes as they are after the run; empty unless the graph writes to them."""
    missing: Missing | None = None
    """The first node that could not be run, dead ones included."""


def run_graph(
    state: GraphState,
    path: str,
    operations: Operations,
    inputs: Mapping[int, Any],
    *,
    each: Callable[[int, Any], None] | None = None,
    writes: bool = False,
) -> Ran:
    """Run one graph of a state as it is; values that nobody needs any more are let go.

    Args:
        state: The state.
        path: The graph.
        operations: Runs nodes.
        inputs: Values of the placeholders that are no constants, by identity.
        each: Is told the value of every node.
        writes: Whether its nodes write to their inputs: constants are copied then, and what has become of
            inputs and constants is reported.
    """
    return _GraphRun(state, path, operations, inputs, writes).run(each)


class _GraphRun:
    def __init__(
        self, state: GraphState, path: str, operations: Operations, inputs: Mapping[int, Any], writes: bool
    ) -> None:
        self._state = state
        self._body = state.body(path)
        self._operations = operations
        self._inputs = inputs
        self._writes = writes
        self._values: dict[int, Any] = {}

    def run(self, each: Callable[[int, Any], None] | None) -> Ran:
        order = self._body.in_order()
        uses = {node.id: len(self._body.users(node.id)) for node in order}
        missing: Missing | None = None
        outputs: Any = None
        for node in order:
            value = self._values[node.id] = self._value(node)
            if isinstance(value, Missing) and missing is None:
                missing = value
            if each is not None:
                each(node.id, value)
            if node.op == "output":
                outputs = value
            for identity in node.input_ids():
                uses[identity] = uses.get(identity, 0) - 1
                if uses[identity] <= 0 and not self._writes:
                    self._values.pop(identity, None)
        sources = (
            {node.id: self._values[node.id] for node in order if node.op in SOURCES} if self._writes else {}
        )
        return Ran(outputs, sources, missing)

    def _value(self, node: NodeState) -> Any:
        if node.id in self._inputs:
            given = self._inputs[node.id]
            return given.clone() if self._writes and isinstance(given, torch.Tensor) else given
        found = self._operations.run(node, lambda identity: self._look_up(node, identity), own=self._writes)
        return bound(found, self._run_inner)

    def _look_up(self, node: NodeState, identity: int) -> Any:
        if identity in self._values:
            return self._values[identity]
        what = self._body.get(identity)
        reason = (
            f"it uses {what.name} before that is computed" if what else "it uses a node that does not exist"
        )
        return Missing(node.name, node.target, reason, fails=True)

    def _run_inner(self, path: str, inputs: Sequence[Any]) -> Any:
        return run_sub_graph(self._state, path, self._operations, inputs)


def run_sub_graph(state: GraphState, path: str, operations: Operations, inputs: Sequence[Any]) -> Any:
    """The outputs of a sub-graph.

    Raises:
        LackingError: A node of it cannot be run.
    """
    placeholders = [node.id for node in state.body(path) if node.op == "placeholder"]
    ran = run_graph(state, path, operations, dict(zip(placeholders, inputs, strict=False)))
    if ran.missing is not None:
        raise LackingError(ran.missing)
    return ran.outputs


SOURCES = ("placeholder", "get_attr")
"""Kinds of nodes that hold what a graph may write to."""
