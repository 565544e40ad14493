"""Finds the first rewrite that breaks the program, in about log2(n) runs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qdqviz.check.at_work import AtWork
from qdqviz.check.inputs import input_sets
from qdqviz.check.operations import import_references
from qdqviz.check.outputs import OutputNames
from qdqviz.check.report import Judgement, worst
from qdqviz.check.values import CAP
from qdqviz.check.writes import writes_to_inputs
from qdqviz.errors import NotCheckableError, UsageError
from qdqviz.ir.graph import GraphState
from qdqviz.live.session import Session
from qdqviz.load.quiet import quiet

IsGood = Callable[[int], Judgement]
"""What became of the program at a step; `equal` is good, `differs` and `fails` are bad."""

PLACEHOLDER = "{module}"
"""Stands for the file of the program in a user's command."""

SKIPPED = 125
"""Exit code by which a user's command says that it cannot tell, as for `git bisect run`."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of the program."""

    step: int
    """At this step."""
    judgement: Judgement
    """What became of it."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """What a bisection found."""

    step: int | None
    """The first rewrite after which the program is broken; None where it never is."""
    run: int | None
    """The pass run that made it."""
    name: str
    """Label of the pass run."""
    focus: str
    """Node that the pass looked at."""
    path: str
    """Graph of that node."""
    judgement: Judgement
    """What became of the program at that step, or at the last one."""
    trials: tuple[Trial, ...]
    """All runs, in the order in which they were made."""
    unsure: tuple[int, ...] = ()
    """Steps before `step` of which nothing could be told; any of them may be the first."""


def bisect(session: Session, is_good: IsGood, report: Callable[[Trial], None] | None = None) -> Bisection:
    """Find the first rewrite of the session's program that breaks it.

    Assumes that a program that is broken at one step is so at all later ones; tries the last step first.

    Args:
        session: The session.
        is_good: Tells what became of the program at a step; see `by_outputs` and `by_command`.
        report: Is told of every run.

    Raises:
        NotCheckableError: Nothing can be told of the first state, or it is broken already.
    """
    trials: list[Trial] = []

    def try_step(step: int) -> Judgement:
        trials.append(Trial(step, is_good(step)))
        if report is not None:
            report(trials[-1])
        return trials[-1].judgement

    steps = list(session.trace.cursor(session.subject).steps)
    last = try_step(steps[-1]) if steps else Judgement("equal", detail="nothing was rewritten")
    if last.verdict == "equal":
        return Bisection(None, None, "", "", "", last, tuple(trials))
    if last.verdict == "not_checkable":
        raise NotCheckableError(f"nothing can be told of the last state: {last.detail}")
    first = try_step(0)
    if first.verdict != "equal":
        raise NotCheckableError(f"the program is broken before any rewrite: {first.detail or first.where}")
    found, judgement, unsure = _search(steps, last, try_step)
    header = session.trace.headers[found - 1]
    label = session.trace.runs[header.run].label
    return Bisection(found, header.run, label, header.name, header.path, judgement, tuple(trials), unsure)


def _search(
    steps: Sequence[int], last: Judgement, try_step: Callable[[int], Judgement]
) -> tuple[int, Judgement, tuple[int, ...]]:
    """The first bad step, what became of the program there, and the steps before it that cannot be told."""
    good, bad, judgement = -1, len(steps) - 1, last
    skipped: set[int] = set()
    while True:
        candidates = [index for index in range(good + 1, bad) if index not in skipped]
        if not candidates:
            return (
                steps[bad],
                judgement,
                tuple(steps[index] for index in sorted(skipped) if good < index < bad),
            )
        middle = candidates[len(candidates) // 2]
        found = try_step(steps[middle])
        if found.verdict == "not_checkable":
            skipped.add(middle)
        elif found.verdict == "equal":
            good = middle
        else:
            bad, judgement = middle, found


# -- by outputs ------------------------------------------------------------------------------------


def by_outputs(
    session: Session,
    inputs: str | None = None,
    sets: int = 1,
    *,
    seed: int = 0,
    tolerated: Sequence[str] = (),
) -> IsGood:
    """Compare the outputs at a step with those of the first state.

    Args:
        session: The session, with its constants.
        inputs: See `qdqviz.check.checker.check`.
        sets: How many input sets.
        seed: Seed of what is drawn.
        tolerated: Kinds of difference that count as good, such as `quantization_step`.

    Raises:
        UsageError: The inputs cannot be read.
        NotCheckableError: The session has no constants, or the inputs do not fit the program.
    """
    if session.store is None:
        raise NotCheckableError("this session kept no constants: run it again with them to bisect it")
    import_references(session.store.targets)
    subject = session.subject
    cursor = session.trace.cursor(subject)
    first = cursor.first()
    with quiet():
        chosen = input_sets(session.loaded, first.root, inputs, sets, seed)
        names = OutputNames(session, subject)
        ops = session.trace.ops

        def writes(state: GraphState) -> bool:
            return any(writes_to_inputs(node, ops) for path in state.paths() for node in state.body(path))

        at_work = [AtWork(session, subject, each, first, names, writes(first), CAP) for each in chosen]

    def is_good(step: int) -> Judgement:
        state = cursor.at(step)
        with quiet():
            found = worst(each.since_first(state, step, writes(state)) for each in at_work)
        return Judgement("equal", detail=found.detail) if found.kind in tolerated else found

    return is_good


# -- by a command ----------------------------------------------------------------------------------


def by_command(session: Session, command: str, write: Callable[[Any, Path], None]) -> IsGood:
    """Let a user's command decide: exit code 0 is good, 125 says that it cannot tell, any other is bad.

    Args:
        session: The session, with its constants.
        command: A shell command that holds `{module}`, which stands for the file of the program.
        write: Writes a program to a file; may raise anything if it cannot.

    Raises:
        UsageError: The command does not name the module.
    """
    if PLACEHOLDER not in command:
        raise UsageError(f"the command {command!r} does not say where the program goes: write {PLACEHOLDER}")
    from qdqviz.live.materialize import materialize

    cursor = session.trace.cursor(session.subject)

    def is_good(step: int) -> Judgement:
        with TemporaryDirectory(prefix="qdqviz-") as folder:
            file = Path(folder) / f"step{step}.pt2"
            try:
                write(materialize(cursor.at(step), session, step=step), file)
            except Exception as error:  # noqa: BLE001  a broken program may not be written; the reason is told
                first = next(iter(str(error).splitlines()), type(error).__name__)
                return Judgement("not_checkable", detail=f"cannot be written: {first}")
            return _run(command.replace(PLACEHOLDER, str(file)))

    return is_good


def _run(command: str) -> Judgement:
    code = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, check=False).returncode
    if code == 0:
        return Judgement("equal", detail="the command ended with 0")
    if code == SKIPPED:
        return Judgement("not_checkable", detail=f"the command ended with {SKIPPED}: it cannot tell")
    return Judgement("differs", detail=f"the command ended with {code}")
