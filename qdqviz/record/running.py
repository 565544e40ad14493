"""One pass run while it is under way."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qdqviz.ir.values import DictArg, ListArg, NodeSeen, Value
from qdqviz.record.body import LiveBody
from qdqviz.record.owner import Owner
from qdqviz.record.runlog import RunLog
from qdqviz.record.sorting import Group
from qdqviz.record.subject import LiveSubject
from qdqviz.trace.attempts import AttemptTable
from qdqviz.trace.model import OUTSIDE, PassError, PassRun

if TYPE_CHECKING:
    from qdqviz.record.recorder import Recorder


class Run:
    """A pass run under way: its log, and what the trace will say of it."""

    def __init__(
        self,
        recorder: Recorder,
        subject: LiveSubject,
        root: LiveBody | None,
        name: str,
        source: str,
        kind: str,
        file: str,
    ) -> None:
        self.id = recorder.run_count
        recorder.run_count += 1
        self.subject = subject
        self.root = root
        """The graph that it was called on."""
        self.given = None if root is None else root.graph
        """The same as the Graph object that it was then."""
        self.log = RunLog(recorder.ids, recorder.encoder, recorder.graphs.path_of)
        self.meta_reads: dict[int, tuple[LiveBody, Owner | None]] = {}
        """Nodes whose metadata was handed out, and to whom; None outside attempts and named calls."""
        self._recorder = recorder
        self._began = recorder.now()
        self._starts: list[int] = []
        self._paths: dict[str, None] = {} if root is None else {root.path: None}
        subject.runs[name] = ordinal = subject.runs.get(name, 0) + 1
        parent = recorder.runs[-1].id if recorder.runs else None
        first = recorder.writer.steps
        self.record = PassRun(
            self.id, subject.id, name, source, parent, ordinal, kind, first, first, file=file, done=False
        )
        if kind != "outside":
            recorder.writer.begin()
            recorder.writer.put_run(self.record)
            recorder.writer.commit()

    @classmethod
    def outside(cls, recorder: Recorder, subject: LiveSubject) -> Run:
        """The run that holds edits made between passes."""
        return cls(recorder, subject, None, OUTSIDE, "", "outside", "")

    def write_groups(self, groups: list[Group]) -> None:
        """Write rewrites and settling changes, and remember when each rewrite began."""
        recorder = self._recorder
        recorder.writer.begin()
        for group in groups:
            self._paths.update((change.path, None) for change in group.changes)
            if recorder.write_group(self, group):
                self._starts.append(group.first_seq)
        recorder.writer.add_ops(recorder.encoder.targets.new_ops)
        recorder.encoder.targets.new_ops.clear()

    def finish(
        self, error: PassError | None = None, modified: bool | None = None, decisions: str = "recorded"
    ) -> None:
        """Write all that is left of the run."""
        recorder = self._recorder
        self.log.close_all(raised=error is not None)
        recorder.check_constants(self)
        recorder.flush(self)
        table = self._attempts(error)
        self.record = replace(
            self.record,
            last_step=recorder.writer.steps,
            seconds=round(recorder.now() - self._began, 6),
            modified=modified,
            attempts=table.on_nodes(),
            declined=table.declined(),
            decisions=decisions,
            looked_for=tuple(self.log.looked_for),
            paths=tuple(self._paths),
            error=error,
            done=True,
        )
        recorder.writer.put_run(self.record, table)
        recorder.write_sites(table.sites())
        recorder.writer.commit()

    def _attempts(self, error: PassError | None) -> AttemptTable:
        tape, aliases = self.log.observer.tape, self.log.edits.aliases
        if aliases:
            tape.values = [_real_name(value, aliases) for value in tape.values]
        table = AttemptTable(tape)
        first, starts = self.record.first_step, self._starts
        nobody = Owner("attempt")
        for owner, events, seq, raised in self.log.closed:
            owner = owner or nobody
            focus = owner.focus
            table.add(
                owner.path,
                aliases.get(focus, focus) if focus is not None else None,
                owner.name,
                _outcome(owner, raised and error is not None),
                owner.step,
                first + bisect_right(starts, seq),
                events,
            )
        self._paths.update(
            dict.fromkeys(each.owner.path for each in self.log.closed if each.owner is not None)
        )
        return table


def _outcome(owner: Owner, raised: bool) -> str:
    if raised:
        return "raised"
    if owner.wrote:
        return "fired"
    return "vetoed" if owner.vetoed else "declined"


def _real_name(value: Value, aliases: dict[int, int]) -> Value:
    """A value with nodes spoken of by their real identities."""
    if type(value) is NodeSeen:
        return NodeSeen(aliases.get(value.node, value.node), value.name)
    if type(value) is tuple:
        return tuple([_real_name(part, aliases) for part in value])
    if type(value) is ListArg:
        return ListArg(tuple([_real_name(part, aliases) for part in value.items]))
    if type(value) is DictArg:
        pairs = [(_real_name(key, aliases), _real_name(part, aliases)) for key, part in value.items]
        return DictArg(tuple(pairs))
    return value


def first_line(error: BaseException) -> str:
    """The first line of an exception's message, taken from its arguments without running its `__str__`."""
    args: Any = error.args
    text = next((item for item in args if type(item) is str), "") if type(args) is tuple else ""
    return text.strip().splitlines()[0][:300] if text.strip() else ""
