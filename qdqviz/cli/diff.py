"""`qdqviz diff`: what a change to a pass does to real graphs."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

from qdqviz.cli.checking import add_inputs, add_interventions, add_tolerate
from qdqviz.cli.command import Command
from qdqviz.cli.diff_sides import Diff, opened, recorded, request_of
from qdqviz.cli.diff_verdict import FAIL_ON, reasons
from qdqviz.cli.options import TARGET_HELP, add_json, add_loading
from qdqviz.cli.output import Output
from qdqviz.cli.traces import names_trace
from qdqviz.errors import QdqvizError, UsageError

Source: TypeAlias = "tuple[str, Callable[[], AbstractContextManager[Diff]]]"
"""What is compared, and what compares it."""


class DiffCommand(Command):
    """Compare what two versions of a pass do, rewrite by rewrite.

    Two traces, or targets on which both versions are recorded: several targets give a table. Rewrites are
    aligned by pass and by the node that was looked at; names do not count. Listed are those that only one
    side has, with the guard that turned the node down on the other, and those that differ, each with what
    the rewrite does to the values on either side where targets are recorded.

      qdqviz diff old.qdqtrace new.qdqtrace
      qdqviz diff encoder convnet model.py:build --old old.py:Fuse --new new.py:Fuse --fail-on rewrites
      qdqviz diff encoder -p SinkOpsCloserToUsePass -p cadence:SinkOpsCloserToUsePass --tui
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add what to compare, how to show it, and when to fail."""
        parser.add_argument(
            "targets", metavar="A", nargs="+", help=f"two .qdqtrace files; or targets: {TARGET_HELP}"
        )
        parser.add_argument(
            "--old", metavar="PASSES", action="append", help="passes of the old side, in order; may repeat"
        )
        parser.add_argument(
            "--new", metavar="PASSES", action="append", help="passes of the new side, in order; may repeat"
        )
        parser.add_argument(
            "-p",
            "--passes",
            metavar="PASSES",
            action="append",
            help="the first is --old, the second --new; a single one with --veto, --force or --with is both",
        )
        add_loading(parser)
        add_interventions(parser)
        parser.add_argument(
            "--check",
            action=BooleanOptionalAction,
            default=None,
            help="judge every rewrite of both sides by the values it gives; done unless --no-check is said",
        )
        add_inputs(parser)
        parser.add_argument(
            "--fail-on",
            metavar="WHAT",
            action="append",
            choices=FAIL_ON,
            default=[],
            help=f"exit with 1 at other {', '.join(FAIL_ON)} (numerics: worse ones); may repeat",
        )
        add_tolerate(parser)
        parser.add_argument("--metadata", action="store_true", help="list differences in metadata, too")
        parser.add_argument(
            "--tui", action="store_true", help="walk through the differences in the terminal; one target only"
        )
        parser.add_argument("--brief", action="store_true", help="leave out single rewrites and nodes")
        parser.add_argument("--markdown", action="store_true", help="write Markdown, for a pull request")
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Compare, tell, and fail where that was demanded, a pass raised, or a target did not load."""
        if options.json and options.markdown:
            raise UsageError("say either --json or --markdown")
        if "numerics" in options.fail_on:
            if options.check is False:
                raise UsageError("--fail-on numerics needs them checked: leave out --no-check")
            options.check = True
        sources = list(_sources(options, output))
        if options.tui:
            return _walk(sources, options, output)
        report = _Report(options, output)
        for name, source in sources:
            try:
                with source() as diff:
                    report.add(diff)
            except QdqvizError as error:
                if len(sources) == 1:
                    raise
                report.fail(name, str(error))
        report.end()
        return int(report.failed)


def _walk(sources: Sequence[Source], options: Namespace, output: Output) -> int:
    """Show one comparison in the terminal; fail as without it."""
    from qdqviz.cli.diff_walk import walk

    if options.json or options.markdown:
        raise UsageError("say either --tui, or --json or --markdown")
    if len(sources) != 1:
        raise UsageError(f"--tui shows one target, and there are {len(sources)}: name one of them")
    if not output.interactive:
        raise UsageError("--tui needs a terminal: leave it out to have the differences printed")
    with sources[0][1]() as diff:
        walk(diff, options.theme)
        return int(bool(reasons(diff, options.fail_on, options.tolerate)))


def _sources(options: Namespace, output: Output) -> Iterator[Source]:
    """What is to be compared: two traces, or each target."""
    if any(names_trace(each) for each in options.targets):
        yield options.targets[0], lambda: opened(options.targets, options)
        return
    request = request_of(options)
    for target in dict.fromkeys(options.targets):
        yield target, lambda target=target: recorded(target, request, options, output)  # type: ignore[misc]


@dataclass(frozen=True)
class Row:
    """What remains of one comparison once its traces are gone."""

    target: str
    """The target, or both traces' names."""
    cells: tuple[str, ...]
    """Its row of the table of several targets."""
    differs: bool
    """Whether there is more to say than the table does."""
    lines: tuple[str, ...]
    """Its report."""
    data: dict[str, Any]
    """Its part of the JSON."""


class _Report:
    """Gathers what comparisons tell, and writes it."""

    def __init__(self, options: Namespace, output: Output) -> None:
        self._options = options
        self._output = output
        self._rows: list[Row] = []
        self.failed = False
        """Whether anything was not to be."""

    def add(self, diff: Diff) -> None:
        """Take note of a comparison while its traces are open."""
        from qdqviz.cli import diff_json, diff_markdown, diff_text

        options = self._options
        failures = reasons(diff, options.fail_on, options.tolerate)
        self.failed = self.failed or bool(failures)
        view = diff_markdown if options.markdown else diff_text
        data = diff_json.to_json(diff, failures) if options.json else {}
        lines = (
            () if options.json else tuple(view.lines(diff, brief=options.brief, metadata=options.metadata))
        )
        name = diff.target or f"{diff.left.name} → {diff.right.name}"
        found = diff.comparison
        differs = bool(failures) or not (found.same_rewrites and found.same_graphs and found.same_model)
        self._rows.append(Row(name, diff_text.cells(diff), differs, lines, data))

    def fail(self, target: str, reason: str) -> None:
        """Take note of a target that could not be compared."""
        self.failed = True
        self._output.error(f"{target}: {reason}")
        self._rows.append(Row(target, ("failed",), False, (), {"target": target, "error": reason}))

    def end(self) -> None:
        """Write everything."""
        from qdqviz.cli import diff_markdown, diff_text

        if self._options.json:
            told = {"comparisons": [row.data for row in self._rows], "failed": self.failed}
            self._output.json(told)
            return
        view = diff_markdown if self._options.markdown else diff_text
        for line in view.page(self._rows, brief=self._options.brief):
            self._output.line(line)
