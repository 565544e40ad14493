"""Which live torch.fx graphs are the subjects' graphs, now and formerly."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from torch.fx import Graph, GraphModule, Node

from qdqviz.ir.node import NodeState
from qdqviz.record.body import LiveBody
from qdqviz.record.constants import ConstantPool
from qdqviz.record.encode import Encoder
from qdqviz.record.identity import Identities
from qdqviz.record.owner import Owner
from qdqviz.record.program import lifted_constants
from qdqviz.record.runlog import RunLog
from qdqviz.record.subject import LiveSubject


class LiveGraphs:
    """Every graph of the subjects of a recording, by the Graph object that it is or was."""

    def __init__(self, ids: Identities, encoder: Encoder, pool: ConstantPool) -> None:
        self.subjects: list[LiveSubject] = []
        """All subjects so far; a subject's id is its place."""
        self.names: dict[int, str] = {}
        """Names that callers gave to graph modules, by object id."""
        self.current: dict[Graph, LiveBody] = {}
        """Graphs whose edits are recorded: the present ones of their subjects."""
        self._ever: dict[Graph, LiveBody] = {}
        self._programs: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._ids = ids
        self._encoder = encoder
        self._pool = pool

    def body_of(self, graph: Graph) -> LiveBody | None:
        """The body of a graph that was read, current or not; None of one that was not."""
        return self._ever.get(graph)

    def path_of(self, node: Node) -> str:
        """Path of the graph that holds a node."""
        body = self._ever.get(node.graph)
        return "" if body is None else body.path

    def know_program(self, program: Any) -> None:
        """Take note of an ExportedProgram, whose signature says what its placeholders stand for."""
        self._programs[id(program.graph_module)] = program
        body = self._ever.get(program.graph_module.graph)
        if body is not None:
            self.subjects[body.subject].program = weakref.ref(program)

    def new_subject(self, module: GraphModule) -> tuple[LiveSubject, str, dict[str, list[NodeState]]]:
        """Read a graph module as a new subject.

        Returns:
            The subject, its name, and its nodes by the path of their graph.
        """
        subject = LiveSubject(len(self.subjects), self._ids, self._encoder, self._pool)
        self.subjects.append(subject)
        program = self._programs.get(id(module))
        subject.program = None if program is None else weakref.ref(program)
        first = subject.read(module, lifted=lifted_constants(program, self._pool))
        for body in subject.bodies.values():
            self._take(body)
            body.versions.append(body.graph)
        return subject, self.names.get(id(module)) or f"graph {subject.id + 1}", first

    def read_child(self, body: LiveBody, node: Node, log: RunLog, owner: Owner) -> None:
        """Read the sub-graph that a node names, if it is new to the subject: `owner` made it appear."""
        subject = self.subjects[body.subject]
        child = subject.name_child(body, node)
        if child is None:
            return
        path, module = child
        for inner_path, states in subject.read(module, path).items():
            inner = subject.bodies[inner_path]
            self._take(inner)
            for state in states:
                mirror = inner.mirrors.pop(state.id)
                log.edits.put(inner, state.id, owner, state)
                inner.mirrors[state.id] = mirror

    def _take(self, body: LiveBody) -> None:
        self._ever[body.graph] = self.current[body.graph] = body

    def note_copy(self, copy: Graph, original: Graph) -> None:
        """A graph that is no subject's holds copies of nodes of another: it may come in its place."""
        source = self._ever.get(original)
        if source is not None and copy not in self._ever:
            self._ever[copy] = source
            source.versions.append(copy)

    def rebind(self, body: LiveBody, old: Graph, module: GraphModule, old_module: GraphModule | None) -> None:
        """The graph of a body is that of `module` from here on."""
        self.current.pop(old, None)
        self._ever[module.graph] = self.current[module.graph] = body
        body.versions.append(module.graph)
        for parent in self.subjects[body.subject].bodies.values():
            if old_module is not None and parent.path_of(old_module) == body.path:
                parent.name_graph(module, body.path)

    def forget(self, subject: LiveSubject, given: Iterable[Graph | None]) -> None:
        """Let go of graphs that nothing will come back to: all between a subject's first and its latest.

        Args:
            subject: Whose graphs.
            given: Graphs to keep as well: what pass runs were called on, for a pass manager that discards
                what a pass returned.
        """
        also = set(given)
        for body in subject.bodies.values():
            keep = {body.versions[0], body.graph, *also}
            for graph in body.versions:
                if graph not in keep and self._ever.get(graph) is body and graph not in self.current:
                    del self._ever[graph]
                    for node in graph.nodes:
                        self._ids.of.pop(node, None)
            body.versions = [graph for graph in body.versions if graph in self._ever]
