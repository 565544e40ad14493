"""`qdqviz draw`: the picture of a rewrite as a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_radius, add_step, add_trace
from qdqviz.cli.output import STDOUT, Output
from qdqviz.cli.pictures import picture_of, theme_of
from qdqviz.cli.traces import open_trace
from qdqviz.cli.walks import steps_of_pass, walk_bytes
from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.draw.files import Format
    from qdqviz.trace.reader import Trace

FORMATS: tuple[Format, ...] = ("svg", "png", "dot", "txt")
"""Endings of picture files."""


class Draw(Command):
    """Draw a rewrite as SVG, PNG, DOT or text.

    The file's ending says which. Shown is the neighbourhood of what changed, before and after in one
    layout.

      qdqviz draw t.qdqtrace 14 -o step14.svg
      qdqviz draw t.qdqtrace 14 -o - --format dot --view before
      qdqviz draw t.qdqtrace --walk SinkOpsCloserToUsePass -o sink.svg
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TRACE, STEP, `-o`, `--format`, `--view` and `--radius`."""
        add_trace(parser)
        add_step(parser, optional=True)
        parser.add_argument(
            "--walk",
            metavar="PASS|FIRST-LAST",
            help="instead of STEP: all rewrites of a pass, or a range of steps, as one animated SVG",
        )
        parser.add_argument(
            "-o", "--output", metavar="FILE", required=True, help="the file; - is standard output"
        )
        parser.add_argument(
            "--format", choices=FORMATS, help="the file's format, where its ending does not say it"
        )
        parser.add_argument(
            "--view",
            choices=("before", "after", "union"),
            default="union",
            help="what to show (default: both in one)",
        )
        add_radius(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Draw, then write."""
        from qdqviz.draw.files import render
        from qdqviz.explain.sentence import sentence

        kind = picture_format(options.output, options.format)
        theme = theme_of(options.theme)
        if (options.step is None) == (options.walk is None):
            raise UsageError("say what to draw: either STEP or --walk")
        if options.walk is not None and kind != "svg":
            raise UsageError(f"a walk is an animated SVG: {kind} cannot hold it")
        with open_trace(options, output) as trace:
            if options.walk is not None:
                data = walk_bytes(trace, _steps(trace, options.walk), options.radius, theme, output)
            else:
                rewrite = trace.rewrite(options.step)
                shown = picture_of(trace, rewrite, options.radius, options.view)
                title = f"{trace.runs[rewrite.run].label}, step {rewrite.step}: {sentence(trace, rewrite)}"
                data = render(shown, kind, theme, title=title)
        output.file(options.output, data)
        return 0


def _steps(trace: Trace, walk: str) -> tuple[int, ...]:
    """The steps of a walk.

    Raises:
        UsageError: If there are no such steps, or no such pass.
    """
    first, dash, last = walk.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        return steps_of_pass(trace, walk)
    if int(first) > int(last):
        raise UsageError(f"{walk} counts backwards")
    for step in (int(first), int(last)):
        trace.check_step(step, first=1)
    return tuple(range(int(first), int(last) + 1))


def picture_format(name: str, asked: str | None) -> Format:
    """The format of a picture's file; text on standard output unless told otherwise.

    Raises:
        UsageError: If nothing says it.
    """
    ending = Path(name).suffix.lower().lstrip(".")
    known = next((each for each in FORMATS if each == (asked or ending)), None)
    if known is not None:
        return known
    if name == STDOUT:
        return "txt"
    raise UsageError(f"{name}: a picture's name ends in .{', .'.join(FORMATS)}; or say which with --format")
