"""Forces the guards of the built-in passes on the graphs that they alone keep from being rewritten."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pass_case import Case
from pass_guarding import asked_in, case_node, predicate

from qdqviz.check.checker import check
from qdqviz.check.lint import lint
from qdqviz.live.interventions import Force
from qdqviz.live.session import Session, run
from qdqviz.load.programs import describe
from qdqviz.passes.resolve import resolve

NOT_RUN = frozenset({"has_rows_the_kernel_misreads"})
"""Guards without which the process itself may end: the rewrite is made, and not run."""


@dataclass(frozen=True)
class Forced:
    """What forcing a guard comes to."""

    outcome: str
    """`equal`, `differs (wrong)`, `fails`, `raises ValueError`, `no rewrite` and the like."""
    rules: tuple[str, ...]
    """Lint rules that find something, in alphabetical order."""


def force(each: Case, path: Path) -> Forced:
    """Run a case's pass past its guard, and past those behind it that would turn it down too."""
    session = forced_session(each, path)
    assert set(forces(each, [each.guard])) - {unused for unused, _ in session.unused}
    found = {finding.rule for finding in lint(session.trace, session.store).findings}
    return Forced(outcome(each, session), tuple(sorted(found)))


def forced_session(each: Case, path: Path) -> Session:
    module = each.build()
    loaded = describe("guarded", module, None, inputs=module.meta.get("inputs", ()))
    interventions = forces(each, [each.guard, *each.behind])
    return run(loaded, resolve(each.name), path / "t.qdqtrace", interventions=interventions)


def outcome(each: Case, session: Session) -> str:
    if session.error is not None:
        return f"raises {type(session.error).__name__}"
    if not session.trace.steps:
        return "no rewrite"
    if each.guard in NOT_RUN:
        return "not run"
    report = check(session)
    judgement = report.rewrites[0].judgement
    assert report.verdict == judgement.verdict, "a rewrite is to blame, not the pass as a whole"
    return judgement.verdict if judgement.kind is None else f"{judgement.verdict} ({judgement.kind})"


def forces(each: Case, guards: list[str]) -> list[Force]:
    """The decisions of some guards on the case's node, made to come out false."""
    node = case_node(each)
    return [
        Force(each.name, node, test.lineno, test.col_offset, outcome=False)
        for test in asked_in(each.name)
        if predicate(test) in guards
    ]
