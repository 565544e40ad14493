"""Puts together what the watchers see and writes it to a trace."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from torch.fx import Graph, GraphModule, Node

from qdqviz.record.body import LiveBody, Mirror
from qdqviz.record.constants import ConstantPool
from qdqviz.record.editlog import Group
from qdqviz.record.encode import Encoder
from qdqviz.record.identity import Identities
from qdqviz.record.observe import Observer
from qdqviz.record.owner import Owner
from qdqviz.record.program import lifted_constants
from qdqviz.record.reconcile import Reconciler, differs
from qdqviz.record.retrace import NodeRun, Retrace, RetraceReader, fetch, new_graph
from qdqviz.record.runlog import RETRACE_SITE, RunLog
from qdqviz.record.running import Run
from qdqviz.record.steering import Steering, plainly
from qdqviz.record.subject import LiveSubject, dialect_of, inner_graph
from qdqviz.trace.model import LookedFor, Subject
from qdqviz.trace.writer import TraceWriter


class Recorder:
    """Listens to edits, retraces and pass calls on one thread."""

    def __init__(self, writer: TraceWriter, keep_constants: bool = False) -> None:
        self.writer = writer
        self.ids = Identities()
        self.encoder = Encoder(self.ids, writer.text)
        self.observer = Observer(self.ids, self.encoder)
        self.pool = ConstantPool(self.encoder, keep_constants)
        self.runs: list[Run] = []
        """Pass runs under way, innermost last."""
        self.subjects: list[LiveSubject] = []
        self.names: dict[int, str] = {}
        """Names that callers gave to graph modules, by object id."""
        self.run_count = 0
        self.steering: Steering | None = None
        """Who vetoes and forces; None where nobody does."""
        self.write_sites: Callable[[Iterable[int]], None] = lambda sites: None
        """Writes the sites that a pass run decided at."""
        self._thread = threading.get_ident()
        self._suspended = 0
        self._bodies: dict[Graph, LiveBody] = {}
        """Every graph ever read, current or not."""
        self._current: dict[Graph, LiveBody] = {}
        """Graphs whose edits are recorded: the present ones of their subjects."""
        self._retraces: list[Retrace] = []
        self._outside: Run | None = None
        self.reads_metadata = False
        """Whether metadata that is handed out now may be edited by a pass."""
        self._programs: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._erased: list[Node] = []
        """Nodes erased since the last pass run ended: decisions may still speak of them."""

    # -- whether to listen -------------------------------------------------------------------------

    def wants(self, graph: Graph) -> bool:
        """Whether edits of this graph are recorded now, on this thread."""
        return graph in self._current and not self._suspended and threading.get_ident() == self._thread

    def _update_reading(self) -> None:
        self.reads_metadata = bool(self.runs) and not self._retraces

    def enter_run(self, run: Run) -> None:
        """A pass run begins."""
        self.runs.append(run)
        self._update_reading()

    def leave_run(self) -> None:
        """The innermost pass run has ended."""
        self.forget(self.runs.pop())
        self._update_reading()

    @property
    def listening(self) -> bool:
        """Whether this thread is recorded now."""
        return not self._suspended and threading.get_ident() == self._thread

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Listen to nothing while nested code is traced."""
        self._suspended += 1
        try:
            yield
        finally:
            self._suspended -= 1

    # -- subjects ----------------------------------------------------------------------------------

    def know_program(self, program: Any) -> None:
        """Take note of an ExportedProgram, whose signature says what its placeholders stand for."""
        self._programs[id(program.graph_module)] = program
        body = self._bodies.get(program.graph_module.graph)
        if body is not None:
            self.subjects[body.subject].program = weakref.ref(program)

    def subject_of(self, module: GraphModule) -> LiveSubject:
        """The subject that a pass is about to run on; a graph not seen before is read whole."""
        body = self._bodies.get(module.graph)
        if body is None:
            return self._new_subject(module, None)
        if self._current.get(module.graph) is body:
            return self.subjects[body.subject]
        subject = self.subjects[body.subject]
        target = subject.bodies[body.path]
        if body.path == "" and not self._is_running_on(subject) and differs(target, module, self.ids):
            return self._new_subject(module, subject.id)
        self._adopt(target, module)
        return subject

    def _is_running_on(self, subject: LiveSubject) -> bool:
        return any(run.subject is subject for run in self.runs)

    def _new_subject(self, module: GraphModule, parent: int | None) -> LiveSubject:
        subject = LiveSubject(len(self.subjects), self.ids, self.encoder, self.pool)
        self.subjects.append(subject)
        program = self._programs.get(id(module))
        subject.program = None if program is None else weakref.ref(program)
        lifted = lifted_constants(program, self.pool)
        first = subject.first_state(module, lifted)
        for body in subject.bodies.values():
            self._bodies[body.graph] = self._current[body.graph] = body
            body.versions.append(body.graph)
        name = self.names.get(id(module)) or f"graph {subject.id + 1}"
        self.writer.begin()
        self.writer.add_subject(Subject(subject.id, name, dialect_of(module), parent), first)
        return subject

    def body_of(self, graph: Graph) -> LiveBody | None:
        """The body of a graph that was read, or None."""
        return self._bodies.get(graph)

    def path_of(self, node: Node) -> str:
        """Path of the graph that holds a node."""
        body = self._bodies.get(node.graph)
        return "" if body is None else body.path

    # -- runs --------------------------------------------------------------------------------------

    def log(self, body: LiveBody) -> RunLog:
        """The log that an edit of this body goes to: the innermost run's, or that of no pass."""
        if self.runs:
            return self.runs[-1].log
        if self._outside is None or self._outside.subject.id != body.subject:
            self.close_outside()
            self._outside = Run.outside(self, self.subjects[body.subject])
        return self._outside.log

    def close_outside(self) -> None:
        """Write what was edited outside any pass."""
        run, self._outside = self._outside, None
        if run is not None and run.log.edits:
            run.finish()

    def flush(self, run: Run) -> None:
        """Write the rewrites of a run so far."""
        self._check_metadata(run)
        run.write_groups(run.log.edits.flush())
        run.log.forget_owners()
        self.observer.forget_nodes()

    def write_group(self, run: Run, group: Group) -> bool:
        """Write one group; says whether it is a step (and not settling)."""
        owner = group.owner
        if owner.settles or all(change.kind == "rename" for change in group.changes):
            self.writer.add_settling(group.subject, run.id, group.changes)
            return False
        step = self.writer.add_rewrite(
            group.subject,
            run.id,
            group.changes,
            path=owner.path,
            focus=None if owner.focus is None else run.log.edits.aliases.get(owner.focus, owner.focus),
            name=owner.name,
            unconditional=not owner.asked,
            note=owner.note,
        )
        owner.step = owner.step or step
        return True

    def check_constants(self, run: Run) -> None:
        """Constants may have been edited in place or replaced behind their nodes while a pass ran."""
        program = None if run.subject.program is None else run.subject.program()
        lifted = lifted_constants(program, self.pool)
        for body in run.subject.bodies.values():
            for nid, mirror in body.mirrors.items():
                old = mirror.state.constant
                if old is None or old.fingerprint is None:
                    continue
                node = mirror.node
                new = body.constant(node, nid) if node.op == "get_attr" else lifted.get(node.name)
                if new is not None and new.fingerprint != old.fingerprint:
                    run.log.edits.settle_node(nid)
                    state = replace(mirror.state, constant=new)
                    run.log.edits.put(body, nid, run.log.constant_owner(node), state)
                    mirror.state = state

    def _check_metadata(self, run: Run) -> None:
        """Metadata handed out since the last flush may have changed in place."""
        for nid, (body, owner) in run.meta_reads.items():
            if body.meta_changed(nid):
                run.log.edits.touch(body, nid, owner)
        run.meta_reads.clear()

    # -- edits (EditListener) ----------------------------------------------------------------------

    def created(self, graph: Graph, node: Node) -> None:
        """A node was created and inserted."""
        body = self._current[graph]
        log = self.log(body)
        nid = self.ids.ensure(node)
        if node.op in ("get_attr", "call_module"):
            self._read_child(body, node, log, log.created_owner(node))
        state = body.encode(node, nid, body.order_at(node))
        owner = log.created_owner(node)
        log.edits.put(body, nid, owner, state)
        body.mirrors[nid] = Mirror(node, state)

    def _read_child(self, body: LiveBody, node: Node, log: RunLog, owner: Owner) -> None:
        """Read the sub-graph that a node names, if it is new to the subject."""
        subject = self.subjects[body.subject]
        child = subject.name_child(body, node)
        if child is None:
            return
        path, module = child
        for insert in subject.read(module, path):
            inner = subject.bodies[insert.path]
            self._bodies[inner.graph] = self._current[inner.graph] = inner
            mirror = inner.mirrors.pop(insert.node.id)
            log.edits.put(inner, insert.node.id, owner, insert.node)
            inner.mirrors[insert.node.id] = mirror

    def created_elsewhere(self, node: Node) -> None:
        """A node was created in a graph that is no subject's (yet)."""
        if self.runs and not self._retraces and self.listening:
            token = self.runs[-1].log.current
            if token is not None:
                self.runs[-1].log.elsewhere[node] = token.owner

    def about_to_erase(self, graph: Graph, node: Node) -> None:
        """A node is about to be erased."""
        body = self._current[graph]
        nid = self.ids.of.get(node)
        if nid is None or nid not in body.mirrors:
            return
        log = self.log(body)
        owner = log.erasing(node)
        log.edits.touch(body, nid, owner)
        log.erasure = (owner, tuple(node._input_nodes))

    def erased(self, graph: Graph, node: Node) -> None:
        """The node was erased."""
        body = self._current[graph]
        nid = self.ids.of.get(node)
        if nid is None or nid not in body.mirrors:
            return
        log = self.log(body)
        owner, inputs = log.erasure or (log.erasing(node), ())
        log.edits.put_erased(body, nid, owner)
        del body.mirrors[nid]
        self._erased.append(node)
        for source in inputs:
            if not source.users:
                log.note_unused(source, owner)

    def about_to_write(self, node: Node, towards: Any) -> None:
        """A field of the node is about to change."""
        body = self._current.get(node.graph)
        nid = self.ids.of.get(node)
        if body is None or nid is None or nid not in body.mirrors:
            return
        log = self.log(body)
        log.writing = log.owner(node, towards)
        self.observer.forget(node)
        log.edits.touch(body, nid, log.writing)

    def inputs_dropped(self, node: Node, before: tuple[Node, ...]) -> None:
        """The node's inputs changed."""
        body = self._current.get(node.graph)
        if body is None or node not in self.ids.of:
            return
        unused = [source for source in before if not source.users]
        if unused:
            log = self.log(body)
            owner = log.writing or log.owner(node)
            for source in unused:
                log.note_unused(source, owner)

    def moved(self, node: Node) -> None:
        """A node took another place in its graph."""
        body = self._current.get(node.graph)
        nid = self.ids.of.get(node)
        if body is None or nid is None or nid not in body.mirrors:
            return
        log = self.log(body)
        log.edits.touch(body, nid, log.owner(node, None))
        body.replace_order(nid, node)

    def meta_read(self, node: Node) -> None:
        """A node's metadata dictionary was handed out."""
        run = self.runs[-1]
        nid = self.ids.of.get(node)
        body = self._current.get(node.graph)
        if nid is None or body is None:
            return
        token = run.log.current
        earlier = run.meta_reads.get(nid)
        if earlier is not None and token is not None and earlier[1] is token.owner:
            return
        if (
            earlier is not None
            and token is not None
            and earlier[1] is not token.owner
            and body.meta_changed(nid)
        ):
            run.log.edits.touch(body, nid, earlier[1])
            run.log.edits.settle_node(nid)
        run.meta_reads[nid] = (body, run.log.owner(node, None))

    def copied(self, copy: Node, original: Node) -> None:
        """A node was copied: a copy in another graph is the same node there."""
        if self.listening and copy.graph is not original.graph and copy not in self.ids.of:
            self.ids.same(copy, original)
            source = self._bodies.get(original.graph)
            if source is not None and copy.graph not in self._bodies:
                self._bodies[copy.graph] = source
                source.versions.append(copy.graph)

    def searched(self, graph: Graph, op: str, target: Any, found: int) -> None:
        """A graph was searched as a whole."""
        if self.runs and self.runs[-1].log.call is None:
            text = None if target is None else self.encoder.targets.text(target)
            log = self.runs[-1].log
            if len(log.looked_for) < 256:
                log.looked_for.append(
                    LookedFor("find_nodes", op or None, text, found, self._current[graph].path)
                )

    def calling(self, name: str) -> Any:
        """A named call that edits a graph begins."""
        if not self.listening or not self.runs:
            return None
        log = self.runs[-1].log
        before, log.call = log.call, log.call or name
        return (log, before)

    def called(self, token: Any) -> None:
        """The named call is over."""
        if token is not None:
            log, before = token
            log.call = before

    # -- retraces ----------------------------------------------------------------------------------

    def begin_retrace(self, module: GraphModule, interpreter: Any = None) -> Retrace | None:
        """A graph is about to be executed into a new one."""
        body = self._current.get(module.graph)
        if body is None or not self.runs or not self.listening:
            return None
        self._check_metadata(self.runs[-1])
        self.runs[-1].log.edits.settle()
        retrace = Retrace(body, module.graph, interpreter)
        self._retraces.append(retrace)
        self._update_reading()
        return retrace

    def run_node(self, original: Any, interpreter: Any, node: Node) -> Any:
        """Run one old node, noting what it creates."""
        retrace = self._retraces[-1] if self._retraces else None
        graph = new_graph(interpreter) if retrace is not None and node.graph is retrace.old else None
        nid = self.ids.of.get(node)
        if retrace is None or graph is None or nid is None or not self.runs or not self.listening:
            return original(interpreter, node)
        log = self.runs[-1].log
        token = log.open(RETRACE_SITE, node)
        attempt = token or log.current
        if attempt is None:
            return original(interpreter, node)
        run = NodeRun(node, nid, attempt)
        retrace.runs.append(run)
        last = graph._root._prev
        asked = len(log.events)
        try:
            if log.steering is None:
                run.result = original(interpreter, node)
            else:
                with plainly(interpreter) if run.owner.vetoed else nullcontext():
                    run.result = original(interpreter, node)
            return run.result
        finally:
            run.created = _nodes_after(graph, last)
            run.own_code = len(log.events) > asked
            if token is not None:
                log.close(token)

    def end_retrace(self, retrace: Retrace | None, module: GraphModule | None) -> None:
        """The retrace is over; without a module it was broken off."""
        if retrace is None:
            return
        while self._retraces and self._retraces.pop() is not retrace:
            pass
        self._update_reading()
        if module is None or not self.runs:
            return
        body, run = retrace.body, self.runs[-1]
        old_module = body.module
        settle = Owner("settle")
        RetraceReader(retrace, self.ids, run.log.edits, settle).finish(module)
        self._rebind(body, retrace.old, module, old_module)

    def _rebind(
        self, body: LiveBody, old: Graph, module: GraphModule, old_module: GraphModule | None
    ) -> None:
        self._current.pop(old, None)
        self._bodies[module.graph] = self._current[module.graph] = body
        body.versions.append(module.graph)
        for parent in self.subjects[body.subject].bodies.values():
            if old_module is not None and parent.path_of(old_module) == body.path:
                parent.name_graph(module, body.path)

    def forget(self, run: Run) -> None:
        """Let go of graphs that nothing will come back to: all between a subject's first and its latest.

        What a run was given is kept as well, for a pass manager that discards what the pass returned.
        """
        for node in self._erased:
            self.ids.of.pop(node, None)
        self._erased.clear()
        for body in run.subject.bodies.values():
            keep = {body.versions[0], body.graph, run.given, *(outer.given for outer in self.runs)}
            for graph in body.versions:
                if graph not in keep and self._bodies.get(graph) is body and graph not in self._current:
                    del self._bodies[graph]
                    for node in graph.nodes:
                        self.ids.of.pop(node, None)
            body.versions = [graph for graph in body.versions if graph in self._bodies]

    # -- results -----------------------------------------------------------------------------------

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
        old, old_module = body.graph, body.module
        log = self.log(body)
        log.edits.settle()
        for node in module.graph.nodes:
            self.ids.ensure(node)
            if node.op in ("get_attr", "call_module"):
                self._adopt_child(body, module, node, log)
        Reconciler(body, self.ids, log, Owner("settle")).bring_to(module)
        self._rebind(body, old, module, old_module)

    def _adopt_child(self, body: LiveBody, module: GraphModule, node: Node, log: RunLog) -> None:
        """Follow a sub-graph into its copy."""
        inner = fetch(module, node)
        graph_module = inner_graph(inner)
        if graph_module is None or body.path_of(inner) is not None:
            return
        child = self._bodies.get(graph_module.graph)
        if child is None or child.subject != body.subject:
            before, body.module = body.module, module
            self._read_child(body, node, log, Owner("settle"))
            body.module = before
            return
        body.name_graph(inner, child.path)
        if child.graph is not graph_module.graph:
            self._adopt(child, graph_module)

    def now(self) -> float:
        """Seconds on a clock that only goes forward."""
        return time.perf_counter()


def _nodes_after(graph: Graph, last: Node) -> list[Node]:
    found, node, end = [], last._next, graph._root
    while node is not end:
        found.append(node)
        node = node._next
    return found
