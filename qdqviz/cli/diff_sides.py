"""The two sides of a diff: traces that are there, or recordings made for it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from qdqviz.cli.output import Output
from qdqviz.cli.traces import SUFFIX
from qdqviz.errors import QdqvizError, UsageError

if TYPE_CHECKING:
    from qdqviz.check.report import CheckReport, Judgement
    from qdqviz.explain.difference import Teller
    from qdqviz.live.interventions import Intervention
    from qdqviz.live.session import Report, Session
    from qdqviz.load.loaded import Loaded
    from qdqviz.passes.entry import ResolvedPass
    from qdqviz.trace.compare.model import Comparison
    from qdqviz.trace.reader import Trace

OLD, NEW = "old", "new"
"""What the sides of a target are called."""

LEFT, RIGHT = "left", "right"
"""What the sides of two traces are called."""


@dataclass(frozen=True)
class Side:
    """One side."""

    name: str
    """A trace's file, or the passes that were run."""
    trace: Trace
    """What was recorded."""
    error: str | None = None
    """What a pass raised, in one line."""
    check: CheckReport | None = None
    """The numerics, where they were asked for."""

    def judgement(self, step: int | None) -> Judgement | None:
        """What was found about a rewrite; None where nothing was checked."""
        if self.check is None or step is None:
            return None
        return self._judgements.get(step)

    @cached_property
    def _judgements(self) -> dict[int, Judgement]:
        return {} if self.check is None else {each.step: each.judgement for each in self.check.rewrites}

    @property
    def outputs(self) -> Judgement | None:
        """What has become of the outputs since the first state; None where nothing was checked."""
        if self.check is None or not self.check.passes:
            return None
        return self.check.passes[-1].since_start


@dataclass(frozen=True)
class Diff:
    """One target's two sides, compared."""

    target: str | None
    """The target; None where two traces were given."""
    left: Side
    """The old side."""
    right: Side
    """The new side."""
    comparison: Comparison
    """What differs."""
    teller: Teller
    """Puts it in words."""


@dataclass(frozen=True)
class Request:
    """What is to be recorded on every target."""

    old: tuple[str, ...]
    """Passes of the old side, as after `-p`."""
    new: tuple[str, ...]
    """Passes of the new side."""
    interventions: tuple[Intervention, ...] = ()
    """What to veto and to force on the new side."""


def request_of(options: Namespace) -> Request:
    """What the options ask to be recorded.

    Raises:
        UsageError: They do not say what to compare.
    """
    from qdqviz.cli.checking import interventions_of

    interventions = interventions_of(options)
    lists = list(options.passes or ())
    if (options.old or options.new) and lists:
        raise UsageError("say either --old and --new, or -p twice: the first is old, the second new")
    if lists:
        options.old, options.new = lists[:1], lists[1:]
        if len(lists) > 2:
            raise UsageError(f"a diff has two sides, and there are {len(lists)} lists of passes")
    if options.old and not options.new and interventions:
        options.new = options.old
    if not options.old or not options.new:
        raise UsageError("say which passes to compare: --old PASSES --new PASSES, or name two traces")
    return Request(tuple(options.old), tuple(options.new), interventions)


@contextmanager
def opened(names: Sequence[str], options: Namespace) -> Iterator[Diff]:
    """Two traces, compared."""
    from qdqviz.trace.reader import Trace

    if len(names) != 2:
        raise UsageError(f"a diff of traces takes two, and there are {len(names)}")
    if options.old or options.new or options.passes:
        raise UsageError("traces hold their passes: leave out --old, --new and -p")
    if options.check:
        raise UsageError("a trace holds no numerics: name a target, --old and --new to have them checked")
    traces = [Trace(name) for name in names]
    try:
        sides = [Side(name, trace, _error_in(trace)) for name, trace in zip(names, traces, strict=True)]
        yield compared(None, sides[0], sides[1], (LEFT, RIGHT))
    finally:
        for trace in traces:
            trace.close()


@contextmanager
def recorded(target: str, request: Request, options: Namespace, output: Output) -> Iterator[Diff]:
    """One target with both lists of passes run on it, compared; the recordings are gone afterwards.

    Raises:
        QdqvizError: The target or a pass cannot be loaded, or an intervention met nothing.
    """
    import tempfile

    from qdqviz.cli.progress import pass_progress
    from qdqviz.live.session import Plan, dialect_warnings
    from qdqviz.load.quiet import quiet
    from qdqviz.passes.resolve import resolve

    plan = Plan(target, request.old, tuple(options.imports or ()), options.method)
    with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
        # What a model or a pass prints is beside the result.
        with redirect_stdout(sys.stderr), pass_progress(output, f"loading {target}") as tell:
            loaded, old = plan.prepare()
            with quiet():
                new = tuple(resolve(request.new))
            for warning in dict.fromkeys(dialect_warnings(loaded, (*old, *new))):
                output.warn(warning)
            sessions = [_run(loaded, old, Path(folder) / f"{OLD}{SUFFIX}", (), tell)]
            chosen = _settled(request.interventions, sessions[0])
            sessions.append(_run(loaded, new, Path(folder) / f"{NEW}{SUFFIX}", chosen, tell))
        try:
            _check_interventions(sessions[1])
            names = (",".join(request.old), ",".join(request.new))
            sides = [
                _side(name, session, options, output) for name, session in zip(names, sessions, strict=True)
            ]
            yield compared(target, sides[0], sides[1], (OLD, NEW))
        finally:
            for session in sessions:
                session.trace.close()


def _run(
    loaded: Loaded,
    passes: Sequence[ResolvedPass],
    path: Path,
    interventions: Sequence[Intervention],
    tell: Report | None,
) -> Session:
    from qdqviz.live.session import run

    session = run(loaded, passes, path, progress=tell, interventions=interventions)
    if isinstance(session.error, KeyboardInterrupt):
        raise session.error
    return session


def _settled(interventions: Sequence[Intervention], plain: Session) -> tuple[Intervention, ...]:
    """The interventions with every forced decision's outcome, as far as the old side tells."""
    from qdqviz.live.interventions import Force
    from qdqviz.live.settling import settle

    found: list[Intervention] = []
    for each in interventions:
        try:
            found.append(settle(each, plain.trace) if isinstance(each, Force) else each)
        except UsageError:
            found.append(each)  # it may be about a node that is there only once others are in force
    return tuple(found)


def _check_interventions(session: Session) -> None:
    if session.unused and session.error is None:
        first, reason = session.unused[0]
        raise UsageError(f"{first}: {reason or 'no such pass run, node or decision in the new side'}")


def _side(name: str, session: Session, options: Namespace, output: Output) -> Side:
    from qdqviz.cli.failure import describe

    error = None if session.error is None else describe(session.trace, session.error)
    if options.check is False:
        return Side(name, session.trace, error)
    from qdqviz.check.checker import check

    try:
        report = check(session, options.inputs, options.sets, seed=options.seed)
    except QdqvizError as found:
        if options.check:
            raise
        output.warn(f"numerics of {name} not checked: {found}")
        report = None
    return Side(name, session.trace, error, report)


def compared(target: str | None, left: Side, right: Side, names: tuple[str, str]) -> Diff:
    """Two sides, compared.

    Args:
        target: The target; None where two traces were given.
        left: The old side.
        right: The new side.
        names: What the sides are called.
    """
    from qdqviz.explain.difference import Teller
    from qdqviz.trace.compare.traces import compare

    comparison = compare(left.trace, right.trace)
    return Diff(target, left, right, comparison, Teller(comparison, names))


def _error_in(trace: Trace) -> str | None:
    from qdqviz.cli.failure import describe, raising_run

    return describe(trace, QdqvizError("a pass raised")) if raising_run(trace) is not None else None
