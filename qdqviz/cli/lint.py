"""`qdqviz lint`: what rewrites do to metadata and structure."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from qdqviz.cli.checking import checked_session
from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_trace
from qdqviz.cli.output import Output
from qdqviz.cli.table import columns
from qdqviz.cli.traces import names_trace, open_trace

if TYPE_CHECKING:
    from qdqviz.check.lint import Finding, LintReport
    from qdqviz.live.session import Session
    from qdqviz.live.store import Store
    from qdqviz.trace.reader import Trace


class Lint(Command):
    """Find what rewrites do wrong to metadata and structure.

    Rules: use-before-definition, use-of-erased, shared-meta, lost-debug-handle, lost-stack-trace,
    lost-nn-module-stack, lost-quantization-tag, copied-debug-handle, channel-axis, stale-val,
    lost-val, bare-quantization. The two about val need a target; a trace alone does not tell.

      qdqviz lint encoder -p cadence-reorder --off lost-debug-handle
      qdqviz lint t.qdqtrace --fail
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TRACE, `--off`, `--fail` and `--json`."""
        add_trace(parser)
        parser.add_argument(
            "--off", metavar="RULE", action="append", default=[], help="turn a rule off; may repeat"
        )
        parser.add_argument("--fail", action="store_true", help="exit with 1 if anything is found")
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Lint, and list what was found."""
        from qdqviz.cli.failure import check_error

        with _opened(options, output) as (trace, store, session):
            from qdqviz.check.lint import lint

            report = lint(trace, store, options.off)
            if options.json:
                output.json(to_json(report, trace))
            else:
                print_report(report, output)
            if session is not None:
                check_error(session, kept=False)
        return int(options.fail and bool(report.findings))


@contextmanager
def _opened(options: Namespace, output: Output) -> Iterator[tuple[Trace, Store | None, Session | None]]:
    """The trace, and where it is recorded on the fly what its session holds."""
    if names_trace(options.target) or not options.passes:
        with open_trace(options, output) as trace:
            yield trace, None, None
        return
    with checked_session(options, output) as session:
        yield session.trace, session.store, session


def print_report(report: LintReport, output: Output) -> None:
    """One line for each finding."""
    from qdqviz.check.lint import count_by_rule

    for rule in report.skipped:
        output.note(f"{rule} was not looked for: that needs the program, not only its trace")
    if not report.findings:
        output.line("nothing found")
        return
    for line in columns([("step", "rule", "node", "is", "should be"), *_rows(report.findings)], right={0}):
        output.line(line)
    counts = ", ".join(f"{count} {rule}" for rule, count in count_by_rule(report.findings).items())
    output.note(f"{len(report.findings)} findings: {counts}")


def to_json(report: LintReport, trace: Trace) -> dict[str, Any]:
    """What `lint --json` writes (schemas/lint.schema.json)."""
    return {
        "findings": [_finding_json(each, trace) for each in report.findings],
        "skipped": list(report.skipped),
    }


def _finding_json(each: Finding, trace: Trace) -> dict[str, Any]:
    run = None if each.step is None else trace.runs[trace.headers[each.step - 1].run]
    return {
        "rule": each.rule,
        "step": each.step,
        "pass": None if run is None else run.name,
        "label": None if run is None else run.label,
        "path": each.path,
        "node": each.node,
        "is": each.found,
        "should_be": each.wanted,
    }


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[str, ...]]:
    """One row for each finding; names are short."""
    from qdqviz.ir.labels import shortened

    nodes = [f"{each.path}/{each.node}" if each.path else each.node for each in findings]
    texts = shortened([*nodes, *(each.found for each in findings), *(each.wanted for each in findings)])
    count = len(findings)
    columns_of = (texts[:count], texts[count : 2 * count], texts[2 * count :])
    for each, *said in zip(findings, *columns_of, strict=True):
        yield ("end" if each.step is None else str(each.step), each.rule, *said)
