"""Checks every rewrite of a session: did it keep the values?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from qdqviz.check.inputs import InputSet, input_sets
from qdqviz.check.operations import import_references
from qdqviz.check.report import CheckReport, Judgement, PassCheck, RewriteCheck, worst
from qdqviz.check.subject import SubjectCheck
from qdqviz.check.values import CAP
from qdqviz.errors import NotCheckableError, UsageError
from qdqviz.live.session import Session
from qdqviz.load.quiet import quiet
from qdqviz.trace.model import Rewrite

Report = Callable[[RewriteCheck | PassCheck], None]
"""Is told every finding as soon as there is one; a rewrite may be told twice, the later counts."""


def check(
    session: Session,
    inputs: str | None = None,
    sets: int = 1,
    *,
    seed: int = 0,
    cap: int = CAP,
    report: Report | None = None,
) -> CheckReport:
    """Judge every rewrite by itself, and the outputs after every pass.

    The first state is run once; of each later one only what its rewrite made new is run, and compared where
    unchanged nodes take it up. After a rewrite that differs or fails its users keep the old values, so that
    later rewrites are judged by what they do themselves. A rewrite that a later one of the same pass makes
    good counts as equal. Floating-point values may differ by rounding
    (`qdqviz.check.difference.TOLERANCE`); integers may not.

    Args:
        session: A session with its constants.
        inputs: `file.pt` or `file.py:callable`; None takes the program's example inputs, or else random ones.
        sets: How many input sets; further ones are drawn to be like the first.
        seed: Seed of what is drawn.
        cap: Bytes of values to keep per input set.
        report: Is told every finding.

    Raises:
        UsageError: The inputs cannot be read.
        NotCheckableError: The session has no constants, or the inputs do not fit the program.
    """
    began = time.perf_counter()
    trace = session.trace
    if session.store is None:
        raise NotCheckableError("this session kept no constants: run it again with them to check it")
    import_references(session.store.targets)
    rewrites: dict[int, RewriteCheck] = {}
    passes: list[PassCheck] = []
    used: dict[str, None] = {}

    def tell(found: RewriteCheck | PassCheck) -> None:
        if isinstance(found, RewriteCheck):
            rewrites[found.step] = found
        else:
            passes.append(found)
        if report is not None:
            report(found)

    with quiet():
        for subject in [each.id for each in trace.subjects if trace.cursor(each.id).steps]:
            chosen = _inputs_for(session, subject, inputs, sets, seed)
            used.update((each.name, None) for each in chosen)
            for found in _check_subject(session, subject, chosen, cap):
                tell(found)
    everything = [each.judgement for each in rewrites.values()] + [each.judgement for each in passes]
    ordered = sorted(rewrites.values(), key=lambda each: (_badness(each.judgement), each.step))
    seconds = time.perf_counter() - began
    return CheckReport(worst(everything).verdict, tuple(ordered), tuple(passes), tuple(used), seconds)


def _badness(judgement: Judgement) -> tuple[int, int]:
    severity, kind, _ = judgement.rank
    return (-severity, -kind)


def _inputs_for(
    session: Session, subject: int, inputs: str | None, sets: int, seed: int
) -> tuple[InputSet, ...]:
    """The input sets of a subject: those of the program for the session's own, random ones for all others."""
    body = session.trace.first(subject).root
    loaded = session.loaded
    if subject not in session.subjects:
        loaded, inputs = replace(loaded, inputs=None), None
    try:
        return input_sets(loaded, body, inputs, sets, seed)
    except UsageError:
        if subject in session.subjects:
            raise
        return ()


def _check_subject(
    session: Session, subject: int, sets: Sequence[InputSet], cap: int
) -> Iterator[RewriteCheck | PassCheck]:
    trace = session.trace
    steps = list(trace.cursor(subject).steps)
    if not sets:
        for step in steps:
            yield _found(
                session, trace.rewrite(step), Judgement("not_checkable", detail="there are no inputs")
            )
        return
    checking = SubjectCheck(session, subject, sets, cap)
    causes: list[Judgement] = []
    bad: dict[int, RewriteCheck] = {}
    for index, step in enumerate(steps):
        rewrite = trace.rewrite(step)
        found = _found(session, rewrite, checking.rewrite(rewrite))
        yield found
        if found.judgement.verdict in ("differs", "fails"):
            bad[step] = found
        following = trace.headers[steps[index + 1] - 1] if index + 1 < len(steps) else None
        if following is None or following.run != rewrite.run:
            yield from _confirm(session, checking, rewrite, bad, causes)
            bad = {}


def _confirm(
    session: Session,
    checking: SubjectCheck,
    last: Rewrite,
    bad: dict[int, RewriteCheck],
    causes: list[Judgement],
) -> Iterator[RewriteCheck | PassCheck]:
    """Judge a pass by a whole run; `causes` are the bad rewrites of earlier passes, and grow."""
    since_last, since_first, made_good = checking.confirm(last.step, list(bad))
    for step in sorted(made_good):
        was = bad[step].judgement
        detail = f"differs alone ({was.where}); later rewrites of the same pass make it good"
        yield replace(bad[step], judgement=replace(was, verdict="equal", kind=None, detail=detail))
    label = session.trace.runs[last.run].label
    own = [each.judgement for step, each in bad.items() if step not in made_good]
    causes += own
    yield PassCheck(last.run, label, last.step, _by_cause(since_last, own), _by_cause(since_first, causes))


def _by_cause(outputs: Judgement, causes: Sequence[Judgement]) -> Judgement:
    """Name a difference of outputs after the rewrites that are behind it.

    Outputs are often real numbers without a quantization step of their own, or many ops away: a rounding that
    went the other way comes out as any number. It is as bad as the worst rewrite, no worse.
    """
    if outputs.verdict != "differs" or outputs.kind != "wrong" or not causes:
        return outputs
    cause = worst(causes)
    if cause.verdict != "differs":
        return outputs
    return replace(outputs, kind=cause.kind)


def _found(session: Session, rewrite: Rewrite, judgement: Judgement) -> RewriteCheck:
    label = session.trace.runs[rewrite.run].label
    return RewriteCheck(rewrite.step, rewrite.run, label, rewrite.name, rewrite.path, judgement)
