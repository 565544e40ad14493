"""Follows graphs while they are executed into new ones: notes what the run of each old node makes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from torch.fx import GraphModule, Node

from qdqviz.record.owner import Owner
from qdqviz.record.retrace import NodeRun, Retrace, RetraceReader
from qdqviz.record.steering import plainly
from qdqviz.trace.garbage import no_collections

if TYPE_CHECKING:
    from qdqviz.record.recorder import Recorder


class RetraceFollower:
    """The retraces under way, innermost last."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._retraces: list[Retrace] = []

    @property
    def active(self) -> bool:
        """Whether a retrace is under way."""
        return bool(self._retraces)

    def begin(self, module: GraphModule, interpreter: Any = None) -> Retrace | None:
        """A graph is about to be executed into a new one."""
        recorder = self._recorder
        body = recorder.graphs.current.get(module.graph)
        if body is None or not recorder.runs or not recorder.listening:
            return None
        recorder.edits.check_metadata(recorder.runs[-1])
        recorder.runs[-1].log.edits.settle()
        retrace = Retrace(body, module.graph, interpreter)
        self._retraces.append(retrace)
        recorder.update_reading()
        return retrace

    def run_node(self, original: Any, interpreter: Any, node: Node) -> Any:
        """Run one old node, noting what it creates."""
        recorder = self._recorder
        retrace = self._retraces[-1] if self._retraces else None
        if retrace is None or node.graph is not retrace.old or not recorder.runs or not recorder.listening:
            return original(interpreter, node)
        graph = retrace.new if interpreter is retrace.runner else retrace.traced_into(interpreter)
        nid = recorder.ids.of.get(node)
        if graph is None or nid is None:
            return original(interpreter, node)
        log = recorder.runs[-1].log
        token = log.open_run(node, nid)
        attempt = token or log.owners.current
        if attempt is None:
            return original(interpreter, node)
        run = NodeRun(node, nid, attempt, [], None, False)
        retrace.runs.append(run)
        root, codes = graph._root, log.raw.codes
        last, asked = root._prev, len(codes)
        try:
            if log.steering is None:
                run.result = original(interpreter, node)
            else:
                with plainly(interpreter) if run.owner.vetoed else nullcontext():
                    run.result = original(interpreter, node)
            return run.result
        finally:
            new = last._next
            while new is not root:
                run.created.append(new)
                new = new._next
            run.own_code = len(codes) > asked
            if token is not None:
                log.close(token)

    def end(self, retrace: Retrace | None, module: GraphModule | None) -> None:
        """The retrace is over; without a module it was broken off."""
        if retrace is None:
            return
        recorder = self._recorder
        while self._retraces and self._retraces.pop() is not retrace:
            pass
        recorder.update_reading()
        if module is None or not recorder.runs:
            return
        body, run = retrace.body, recorder.runs[-1]
        old_module = body.module
        run.log.observer.settle()
        with no_collections():
            RetraceReader(retrace, recorder.ids, run.log.edits, Owner("settle")).finish(module)
        recorder.graphs.rebind(body, retrace.old, module, old_module)
