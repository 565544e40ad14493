"""`qdqviz check`: did every rewrite keep the values?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from qdqviz.cli.checking import (
    add_inputs,
    add_interventions,
    add_tolerate,
    checked_session,
    interventions_of,
)
from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_passes, add_target
from qdqviz.cli.output import Output
from qdqviz.cli.table import columns

if TYPE_CHECKING:
    from qdqviz.check.report import CheckReport, Judgement, PassCheck, RewriteCheck
    from qdqviz.live.session import Session

FAIL_ON = ("fails", "differs", "not_checkable")
"""Verdicts that `--fail-on` takes, from worst to best; each includes the worse ones."""


class Check(Command):
    """Run passes and judge every rewrite by the values it gives.

    Verdicts: equal, differs, fails (the graph no longer runs), not_checkable (an op cannot run here).

    Each rewrite is judged by itself, on real inputs: what is new in the graph is run, and compared
    where unchanged nodes take it up. After each pass a run of the whole graph confirms the outputs.
    Listed is what is not equal, the worst first; --all lists everything.

      qdqviz check encoder -p cadence-reorder
      qdqviz check model.py:build -p MyPass --fail-on differs --tolerate quantization_step
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TARGET, `-p`, inputs, interventions, `--fail-on`, `--all` and `--json`."""
        add_target(parser)
        add_passes(parser, required=True)
        add_inputs(parser)
        add_interventions(parser)
        parser.add_argument(
            "--fail-on",
            metavar="VERDICT",
            choices=FAIL_ON,
            help=f"exit with 1 at {', '.join(FAIL_ON)} or worse",
        )
        add_tolerate(parser)
        parser.add_argument("--all", action="store_true", help="list equal rewrites too")
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Check, say what was found, and fail if that was demanded or a pass raised."""
        from qdqviz.cli.failure import check_error

        with checked_session(options, output, interventions_of(options)) as session:
            from qdqviz.check.checker import check

            report = check(session, options.inputs, options.sets, seed=options.seed)
            if options.json:
                output.json(to_json(report, session))
            else:
                print_report(report, output, everything=options.all)
            check_error(session, kept=False)
        return int(must_fail(report, options.fail_on, options.tolerate))


def must_fail(report: CheckReport, fail_on: str | None, tolerated: Sequence[str]) -> bool:
    """Whether a report holds a verdict that was not to be."""
    if fail_on is None:
        return False
    bad = FAIL_ON[: FAIL_ON.index(fail_on) + 1]
    judgements = [each.judgement for each in report.rewrites] + [each.judgement for each in report.passes]
    return any(
        each.verdict in bad and not (each.verdict == "differs" and each.kind in tolerated)
        for each in judgements
    )


def print_report(report: CheckReport, output: Output, *, everything: bool = False) -> None:
    """The verdict, then the rewrites, the worst first, then the passes."""
    output.line(f"{report.verdict}: {_counts(report)}")
    output.line(f"on {'; '.join(report.inputs) or 'no inputs'}; {report.seconds:.2f} s")
    shown = [each for each in report.rewrites if everything or each.judgement.verdict != "equal"]
    if shown:
        output.line()
        for line in _rewrite_lines(shown):
            output.line(line)
    if report.passes:
        output.line()
        titles = ("after pass", "step", "outputs", "max abs", "since the start", "max abs")
        for line in columns([titles, *map(_pass_row, report.passes)], right={1, 3, 5}):
            output.line(line)


def _rewrite_lines(shown: Sequence[RewriteCheck]) -> Iterator[str]:
    """A table of rewrites; below each that is not equal, what is wrong with it. Names are short."""
    from qdqviz.ir.labels import shortened

    places = [f"{each.path}/{each.focus}" if each.path else each.focus for each in shown]
    texts = shortened([*places, *(says(each.judgement) for each in shown)])
    focuses, reasons = texts[: len(shown)], texts[len(shown) :]
    titles = ("step", "verdict", "kind", "max abs", "steps", "pass", "focus")
    rows = [(*_row(each), focus) for each, focus in zip(shown, focuses, strict=True)]
    heading, *lines = columns([titles, *rows], right={0, 3, 4})
    yield heading
    for line, each, reason in zip(lines, shown, reasons, strict=True):
        yield line
        if each.judgement.verdict != "equal":
            yield f"      {reason}"


def says(judgement: Judgement) -> str:
    """Where, and what."""
    return ": ".join(filter(None, (judgement.where, judgement.detail)))


def figure(value: float | None) -> str:
    """A figure in three digits; empty where there is none, or none that is finite (other shapes)."""
    return f"{value:.3g}" if value is not None and isfinite(value) else ""


def to_json(report: CheckReport, session: Session) -> dict[str, Any]:
    """What `check --json` writes (schemas/check.schema.json)."""
    from qdqviz.cli.failure import describe

    return {
        "target": session.loaded.name,
        "verdict": report.verdict,
        "inputs": list(report.inputs),
        "seconds": report.seconds,
        "rewrites": [_rewrite_json(each, session) for each in report.rewrites],
        "passes": [_pass_json(each, session) for each in report.passes],
        "error": None if session.error is None else describe(session.trace, session.error),
    }


def judgement_json(judgement: Judgement) -> dict[str, Any]:
    """A judgement; what is not finite is null."""
    return {
        "verdict": judgement.verdict,
        "kind": judgement.kind,
        "max_abs": _finite(judgement.max_abs),
        "quantization_steps": _finite(judgement.steps),
        "sqnr": _finite(judgement.sqnr),
        "where": judgement.where,
        "detail": judgement.detail,
    }


def _rewrite_json(each: RewriteCheck, session: Session) -> dict[str, Any]:
    run = session.trace.runs[each.run]
    about = {"step": each.step, "pass": run.name, "label": run.label, "run": run.id}
    return {**about, "focus": each.focus, "path": each.path, **judgement_json(each.judgement)}


def _pass_json(each: PassCheck, session: Session) -> dict[str, Any]:
    run = session.trace.runs[each.run]
    about = {"step": each.step, "pass": run.name, "label": run.label, "run": run.id}
    return {**about, **judgement_json(each.judgement), "since_start": judgement_json(each.since_start)}


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _counts(report: CheckReport) -> str:
    counts: dict[str, int] = {}
    for each in report.rewrites:
        verdict, kind = each.judgement.verdict, each.judgement.kind
        name = f"{verdict} ({kind})" if kind else verdict
        counts[name] = counts.get(name, 0) + 1
    total = len(report.rewrites)
    parts = [f"{count} {name}" for name, count in counts.items()]
    return f"{total} rewrite{'' if total == 1 else 's'}{': ' if parts else ''}{', '.join(parts)}"


def _row(each: RewriteCheck) -> tuple[str, ...]:
    judgement = each.judgement
    numbers = (figure(judgement.max_abs), figure(judgement.steps))
    return (str(each.step), judgement.verdict, judgement.kind or "", *numbers, each.name)


def _pass_row(each: PassCheck) -> tuple[str, ...]:
    def two(judgement: Judgement) -> tuple[str, str]:
        kind = f" ({judgement.kind})" if judgement.kind else ""
        return f"{judgement.verdict}{kind}", figure(judgement.max_abs)

    return (each.name, str(each.step), *two(each.judgement), *two(each.since_start))
