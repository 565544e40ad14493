"""Puts together what the watchers see and writes it to a trace."""

from __future__ import annotations

import time
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from msgspec.structs import replace
from torch.fx import GraphModule

from qdqviz.ir.change import Update
from qdqviz.record.body import LiveBody
from qdqviz.record.constants import ConstantPool
from qdqviz.record.edits import EditHearer
from qdqviz.record.encode import Encoder
from qdqviz.record.follow import RetraceFollower
from qdqviz.record.graphs import LiveGraphs
from qdqviz.record.handover import Handovers
from qdqviz.record.identity import Identities
from qdqviz.record.program import lifted_constants
from qdqviz.record.runlog import RunLog
from qdqviz.record.running import Run
from qdqviz.record.sorting import Group
from qdqviz.record.steering import Steering
from qdqviz.record.subject import LiveSubject
from qdqviz.trace.garbage import no_collections
from qdqviz.trace.writer import TraceWriter


class Recorder:
    """One recording: the pass runs under way, and the parts that hear of edits, retraces and handovers."""

    def __init__(self, writer: TraceWriter, keep_constants: bool = False) -> None:
        self.writer = writer
        self.ids = Identities()
        self.encoder = Encoder(self.ids, writer.text)
        self.pool = ConstantPool(self.encoder, keep_constants)
        self.graphs = LiveGraphs(self.ids, self.encoder, self.pool)
        self.runs: list[Run] = []
        """Pass runs under way, innermost last."""
        self.run_count = 0
        self.steering: Steering | None = None
        """Who vetoes and forces; None where nobody does."""
        self.write_sites: Callable[[Iterable[int]], None] = lambda sites: None
        """Writes the sites that a pass run decided at."""
        self.edits = EditHearer(self)
        self.retraces = RetraceFollower(self)
        self.handovers = Handovers(self)
        self._thread = get_ident()
        self.held_off = 0
        """How many blocks are running in which nothing is listened to."""
        self._outside: Run | None = None

    # -- whether to listen -------------------------------------------------------------------------

    @property
    def listening(self) -> bool:
        """Whether this thread is recorded now."""
        return not self.held_off and get_ident() == self._thread

    @property
    def asked_log(self) -> RunLog | None:
        """The log of the pass run that is recorded now, if one is."""
        return self.runs[-1].log if self.runs and self.listening else None

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Listen to nothing while nested code is traced."""
        self.held_off += 1
        try:
            yield
        finally:
            self.held_off -= 1

    def update_reading(self) -> None:
        """Whether metadata may be edited has changed: while a retrace runs, what reads it is torch."""
        self.edits.watch_metadata(bool(self.runs) and not self.retraces.active)

    # -- subjects ----------------------------------------------------------------------------------

    @property
    def subjects(self) -> list[LiveSubject]:
        """All subjects so far."""
        return self.graphs.subjects

    def subject_of(self, module: GraphModule) -> LiveSubject:
        """The subject that a pass is about to run on; a graph not seen before is read whole."""
        return self.handovers.subject_of(module)

    # -- runs --------------------------------------------------------------------------------------

    def enter_run(self, run: Run) -> None:
        """A pass run begins."""
        self.runs.append(run)
        self.update_reading()

    def leave_run(self) -> None:
        """The innermost pass run has ended."""
        ended = self.runs.pop()
        self.edits.forget_erased()
        self.graphs.forget(ended.subject, (ended.given, *(outer.given for outer in self.runs)))
        self.update_reading()

    def log(self, body: LiveBody) -> RunLog:
        """The log that an edit of this body goes to: the innermost run's, or that of no pass."""
        if self.runs:
            return self.runs[-1].log
        if self._outside is None or self._outside.subject.id != body.subject:
            self.close_outside()
            self._outside = Run.outside(self, self.graphs.subjects[body.subject])
        return self._outside.log

    def close_outside(self) -> None:
        """Write what was edited outside any pass."""
        run, self._outside = self._outside, None
        if run is not None and run.log.edits:
            run.finish()

    def flush(self, run: Run) -> None:
        """Write the rewrites of a run so far."""
        with no_collections():
            self.edits.check_metadata(run)
            run.write_groups(run.log.edits.flush())
        run.log.owners.forget()
        run.log.observer.forget_nodes()

    def write_group(self, run: Run, group: Group) -> bool:
        """Write one group; says whether it is a step (and not settling)."""
        owner = group.owner
        if owner.settles or all(type(c) is Update and c.field == "name" for c in group.changes):
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
                    run.log.edits.put(body, nid, run.log.owners.of_constant(node), state)
                    mirror.state = state

    def now(self) -> float:
        """Seconds on a clock that only goes forward."""
        return time.perf_counter()
