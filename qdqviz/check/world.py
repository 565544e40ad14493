"""The values of one graph for one input set, kept up as rewrites are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from qdqviz.check.control import bound, operands
from qdqviz.check.operations import Operations
from qdqviz.check.running import run_sub_graph
from qdqviz.check.values import ABSENT, CAP, Values, evaluate
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import op_name


class World:
    """Values of one graph, computed when asked for, and expected ones where a rewrite was found wrong."""

    def __init__(self, path: str, operations: Operations, inputs: Mapping[int, Any], cap: int = CAP) -> None:
        """Take what the graph is run on.

        Args:
            path: The graph.
            operations: Runs nodes.
            inputs: Values of the placeholders that are no constants, by identity.
            cap: Bytes of values to keep.
        """
        self.path = path
        self.operations = operations
        self.inputs = dict(inputs)
        self.tainted: dict[int, int] = {}
        """Nodes whose value here is what their users used to get, not what they compute; by step at fault."""
        self._values = Values(cap)
        self._actual: dict[int, Any] = {}
        self._spoiled: tuple[GraphState | None, frozenset[int]] = (None, frozenset())

    def value(self, state: GraphState, node: int) -> Any:
        """The value of a node of the graph in `state`; a `Missing` where it cannot be computed."""
        found = self._values.get(node, ABSENT)
        return self._compute(state, node) if found is ABSENT else found

    def keep(self, node: int, value: Any) -> None:
        """Take note of a value that was computed."""
        self._values.put(node, value)
        self.tainted.pop(node, None)

    def expect(self, node: int, value: Any, step: int) -> None:
        """Let a node have the value that its users expect, though it computes another since `step`."""
        self._values.pin(node, value)
        self.tainted[node] = step

    def forget(self, node: int) -> None:
        """Let go of a node that is gone."""
        self._values.drop(node)
        self._actual.pop(node, None)
        self.tainted.pop(node, None)

    # -- what nodes really compute -----------------------------------------------------------------

    def actual(self, state: GraphState, node: int) -> Any:
        """The value that a node of `state` really computes, expectations aside."""
        spoiled = self.spoiled(state)
        if node not in spoiled:
            return self.value(state, node)

        def known(each: int) -> Any:
            return self._actual.get(each, ABSENT) if each in spoiled else self.value(state, each)

        body = state.bodies.get(self.path) or Body()
        evaluate(body, [node], known, lambda each: self.run_node(state, each, known), self._actual)
        return known(node)

    def spoiled(self, state: GraphState) -> frozenset[int]:
        """Nodes of `state` that compute from tainted ones, and these."""
        if self._spoiled[0] is not state:
            body = state.bodies.get(self.path) or Body()
            found = {node for node in self.tainted if node in body}
            stack = list(found)
            while stack:
                fresh = [user for user in body.users(stack.pop()) if user not in found]
                found.update(fresh)
                stack.extend(fresh)
            self._spoiled = (state, frozenset(found))
        return self._spoiled[1]

    def forget_actual(self, nodes: Iterable[int] | None = None) -> None:
        """Let go of what nodes really compute, as they compute something else now; None lets go of all."""
        self._spoiled = (None, frozenset())
        if nodes is None:
            self._actual.clear()
        else:
            for node in nodes:
                self._actual.pop(node, None)

    def run_node(self, state: GraphState, node: NodeState, look_up: Callable[[int], Any]) -> Any:
        """The value of one node, given those of its inputs; sub-graphs are those of `state`."""
        if node.op == "placeholder" and node.id in self.inputs:
            return self.inputs[node.id]

        def run(path: str, inputs: Sequence[Any]) -> Any:
            return run_sub_graph(state, path, self.operations, inputs)

        return bound(self.operations.run(node, look_up), run)

    def _compute(self, state: GraphState, wanted: int) -> Any:
        body = state.bodies.get(self.path) or Body()
        fresh: dict[int, Any] = {}

        def known(node: int) -> Any:
            found = fresh.get(node, ABSENT)
            return self._values.get(node, ABSENT) if found is ABSENT else found

        def run(node: NodeState) -> Any:
            return self.run_node(state, node, known)

        evaluate(body, [wanted], known, run, fresh)
        for node, value in fresh.items():
            self._values.put(node, value)
        return fresh[wanted]


def inputs_of(body: Body) -> list[NodeState]:
    """The placeholders of an outermost graph, in its first state, that are no constants, in order."""
    kinds = (None, "user_input")
    return [
        node
        for node in body
        if node.op == "placeholder" and (None if node.constant is None else node.constant.kind) in kinds
    ]


def caller_of(state: GraphState, path: str) -> tuple[str, NodeState] | None:
    """The node that runs the sub-graph at `path`, and the path of the graph that holds it."""
    for outer in state.paths():
        body = state.body(outer)
        for node in body:
            constant = node.constant
            if (
                node.op == "get_attr"
                and constant is not None
                and (constant.kind, constant.target) == ("graph", path)
            ):
                for user in body.users(node.id):
                    return outer, body[user]
    return None


def sub_inputs(world: World, state: GraphState, caller: NodeState, path: str) -> Sequence[Any] | None:
    """What `caller` runs the sub-graph at `path` on; None where that is not known or cannot be computed."""
    args = world.operations.known_arguments(caller, lambda node: world.value(state, node))
    return None if args is None else operands(op_name(caller.target).plain, args, path)
