"""Graph modules that passes are given and give back: whose they are, and what came about unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.fx import GraphModule, Node

from qdqviz.record.body import LiveBody
from qdqviz.record.owner import Owner
from qdqviz.record.reconcile import Reconciler, differs
from qdqviz.record.retrace import fetch
from qdqviz.record.runlog import RunLog
from qdqviz.record.running import Run
from qdqviz.record.subject import LiveSubject, dialect_of, inner_graph
from qdqviz.trace.garbage import made_to_last
from qdqviz.trace.model import Subject

if TYPE_CHECKING:
    from qdqviz.record.recorder import Recorder


class Handovers:
    """Finds the subject of a graph module, and takes one graph for another where no edit led there."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._graphs = recorder.graphs

    def subject_of(self, module: GraphModule) -> LiveSubject:
        """The subject that a pass is about to run on; a graph not seen before is read whole."""
        graphs = self._graphs
        body = graphs.body_of(module.graph)
        if body is None:
            return self._new_subject(module, None)
        subject = graphs.subjects[body.subject]
        if graphs.current.get(module.graph) is body:
            return subject
        target = subject.bodies[body.path]
        running = any(run.subject is subject for run in self._recorder.runs)
        if body.path == "" and not running and differs(target, module, self._recorder.ids):
            return self._new_subject(module, subject.id)
        self._adopt(target, module)
        return subject

    def _new_subject(self, module: GraphModule, parent: int | None) -> LiveSubject:
        with made_to_last():
            subject, name, first = self._graphs.new_subject(module)
            writer = self._recorder.writer
            writer.begin()
            writer.add_subject(Subject(subject.id, name, dialect_of(module), parent), first)
        return subject

    def returned(self, run: Run, module: Any) -> None:
        """A pass returned this graph module: from here on it is the subject's."""
        if not isinstance(module, GraphModule) or run.root is None:
            return
        body = run.root
        if body.graph is not module.graph:
            self._adopt(body, module)
        elif body.module is not module:
            body.module = module

    def _adopt(self, body: LiveBody, module: GraphModule) -> None:
        """Take another graph for this body's, with whatever is different as edits."""
        ids = self._recorder.ids
        old, old_module = body.graph, body.module
        log = self._recorder.log(body)
        log.edits.settle()
        for node in module.graph.nodes:
            ids.ensure(node)
            if node.op in ("get_attr", "call_module"):
                self._adopt_child(body, module, node, log)
        Reconciler(body, ids, log, Owner("settle")).bring_to(module)
        self._graphs.rebind(body, old, module, old_module)

    def _adopt_child(self, body: LiveBody, module: GraphModule, node: Node, log: RunLog) -> None:
        """Follow a sub-graph into its copy."""
        inner = fetch(module, node)
        graph_module = inner_graph(inner)
        if graph_module is None or body.path_of(inner) is not None:
            return
        child = self._graphs.body_of(graph_module.graph)
        if child is None or child.subject != body.subject:
            before, body.module = body.module, module
            self._graphs.read_child(body, node, log, Owner("settle"))
            body.module = before
            return
        body.name_graph(inner, child.path)
        if child.graph is not graph_module.graph:
            self._adopt(child, graph_module)
