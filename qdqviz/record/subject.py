"""One program under recording: its live graphs by path."""

from __future__ import annotations

import weakref
from typing import Any

from torch.fx import Graph, GraphModule, Node

from qdqviz.ir.graph import ROOT
from qdqviz.ir.node import NodeState
from qdqviz.record.body import LiveBody
from qdqviz.record.constants import ConstantPool
from qdqviz.record.encode import Encoder
from qdqviz.record.identity import Identities


class LiveSubject:
    """A subject while it is recorded."""

    def __init__(self, id: int, ids: Identities, encoder: Encoder, pool: ConstantPool) -> None:
        self.id = id
        self.bodies: dict[str, LiveBody] = {}
        """Its graphs by path."""
        self.runs: dict[str, int] = {}
        """How often each pass name has run on it."""
        self.program: weakref.ref[Any] | None = None
        """The ExportedProgram that it is the graph of, where known."""
        self._ids = ids
        self._encoder = encoder
        self._pool = pool

    @property
    def root(self) -> LiveBody:
        """The outermost graph."""
        return self.bodies[ROOT]

    def read(
        self, module: GraphModule, path: str = ROOT, lifted: dict[str, Any] | None = None
    ) -> dict[str, list[NodeState]]:
        """Read a graph module and the sub-graphs that it names for the first time.

        Returns:
            Their nodes in order, by the path of their graph.
        """
        body = self._body(path, module.graph)
        body.module = module
        body.lifted = lifted or {}
        named = [self.name_child(body, node) for node in module.graph.nodes]
        found = {path: body.snapshot()}
        for child in named:
            if child is not None:
                found |= self.read(child[1], child[0])
        return found

    def name_child(self, body: LiveBody, node: Node) -> tuple[str, GraphModule] | None:
        """Path and graph of the sub-graph that a node names, if it names one not named before."""
        if node.op not in ("get_attr", "call_module"):
            return None
        inner = body.fetch(node)
        module = inner_graph(inner)
        if module is None or body.path_of(inner) is not None:
            return None
        path = self._fresh_path(f"{body.path}.{node.target}" if body.path else str(node.target))
        body.name_graph(inner, path)
        return path, module

    def _body(self, path: str, graph: Graph) -> LiveBody:
        body = self.bodies[path] = LiveBody(self.id, path, graph, self._ids, self._encoder, self._pool)
        return body

    def _fresh_path(self, wanted: str) -> str:
        taken = set(self.bodies).union(*(body.graph_paths() for body in self.bodies.values()))
        path, number = wanted, 2
        while path in taken:
            path, number = f"{wanted}~{number}", number + 1
        return path


def inner_graph(found: Any) -> GraphModule | None:
    """The graph module that a fetched object is, or (a delegate) was lowered from; else None."""
    if isinstance(found, GraphModule):
        return found
    if type(found).__name__ == "LoweredBackendModule":
        original = getattr(found, "original_module", None)
        inner = getattr(original, "graph_module", None)
        return inner if isinstance(inner, GraphModule) else None
    return None


def dialect_of(module: GraphModule) -> str:
    """`edge`, `aten` or `mixed`, by the targets of a graph's calls."""
    edge = aten = False
    for node in module.graph.nodes:
        if node.op == "call_function":
            kind = type(node.target).__name__
            edge = edge or kind == "EdgeOpOverload"
            aten = aten or kind == "OpOverload"
    return "mixed" if edge and aten else "edge" if edge else "aten"
