"""The lists of a trace as they are at one instant; the terminal draws from these, never from the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from qdqviz.ir.node import OpInfo
from qdqviz.trace.model import PassRun, Rewrite, Subject, TraceInfo
from qdqviz.trace.reader import Trace


@dataclass(frozen=True)
class Lists:
    """Subjects, pass runs and rewrites of a trace, without their changes."""

    info: TraceInfo
    """Where the trace comes from."""
    complete: bool
    """False while it is recorded, and for good if the recording was cut off."""
    subjects: tuple[Subject, ...]
    """In order of first appearance."""
    runs: tuple[PassRun, ...]
    """In order of start."""
    headers: tuple[Rewrite, ...]
    """In order of their steps; step `n` is at `n - 1`."""
    ops: Mapping[str, OpInfo]
    """What is known of call targets."""

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.headers)

    @cached_property
    def own_steps(self) -> Mapping[int, Sequence[int]]:
        """Steps that each run itself made, those of nested runs not included."""
        found: dict[int, list[int]] = {}
        for header in self.headers:
            found.setdefault(header.run, []).append(header.step)
        return found

    @cached_property
    def children(self) -> Mapping[int | None, Sequence[PassRun]]:
        """The runs that each run called, in order; under None those that nobody called."""
        found: dict[int | None, list[PassRun]] = {}
        for run in self.runs:
            found.setdefault(run.parent, []).append(run)
        return found

    @cached_property
    def passes(self) -> tuple[int, ...]:
        """The runs that count as passes: managers and what was edited between passes do not."""
        return tuple(run.id for run in self.runs if run.kind == "pass")

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        return {run: number for number, run in enumerate(self.passes, 1)}

    def number(self, run: int) -> int | None:
        """The number of a pass among all passes, 1-based; None for what is no pass."""
        return self._numbers.get(run)

    def is_wrapper(self, run: PassRun) -> bool:
        """Whether a run is a pass manager that only called one other run: it says nothing of its own."""
        if run.kind != "manager" or run.id in self.own_steps:
            return False
        return len(self.children.get(run.id, ())) == 1


def read_lists(trace: Trace) -> Lists:
    """The lists of a trace as they are now."""
    return Lists(trace.info, trace.complete, trace.subjects, trace.runs, trace.headers, dict(trace.ops))
