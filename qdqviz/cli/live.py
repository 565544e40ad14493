"""`qdqviz live`: how long values live, before and after a rewrite or the whole trace."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_step, add_trace
from qdqviz.cli.output import Output
from qdqviz.cli.pictures import theme_of
from qdqviz.cli.steps import graph_name
from qdqviz.cli.terminal import terminal
from qdqviz.cli.traces import open_trace

if TYPE_CHECKING:
    from qdqviz.ir.graph import Body
    from qdqviz.ir.liveness import LiveDifference, Liveness, LiveRange, Which
    from qdqviz.trace.model import Rewrite
    from qdqviz.trace.reader import Trace

PLAIN_COLUMNS = 110
"""Width of the lanes where no terminal says its own."""


class Live(Command):
    """Show how long values live, before and after.

    Before and after one rewrite, or without STEP before and after everything.

    Counted are quantized and dequantized values and what data movement makes of them, or brings to them.

      qdqviz live t.qdqtrace 14
      qdqviz live t.qdqtrace --values all --json
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TRACE, STEP, `--values` and `--json`."""
        add_trace(parser)
        add_step(parser, optional=True)
        parser.add_argument(
            "--values",
            choices=("qdq", "carried", "all"),
            default="carried",
            help="qdq: made by q/dq ops; carried: and what moves them (default); all: all but constants",
        )
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Print lanes and numbers."""
        with open_trace(options, output) as trace:
            spans = _spans(trace, options.step)
            if options.json:
                found = [
                    {"graph": each.graph, "step": each.step, **to_json(each, options.values)}
                    for each in spans
                ]
                output.json(found)
                return 0
            for each in spans:
                output.line(each.graph)
                output.styled(_lanes(each, options, output))
                if options.values != "all" and each.is_empty(options.values):
                    output.note("there are no such values: --values all shows all")
        return 0


@dataclass(frozen=True)
class Span:
    """Two states of one graph that are compared."""

    graph: str
    """Name of the graph."""
    step: int | None
    """The step between them; None for the whole trace."""
    before: Body
    """The earlier state."""
    after: Body
    """The later state."""
    focus: tuple[int, ...] = ()
    """Nodes that are shown even where nothing changed."""

    def is_empty(self, which: Which) -> bool:
        """Whether neither state has values of that kind."""
        found = self.difference(which)
        return not found.before.ranges and not found.after.ranges

    def difference(self, which: Which = "carried") -> LiveDifference:
        """The live ranges of both."""
        from qdqviz.ir.liveness import difference, liveness

        return difference(liveness(self.before, which), liveness(self.after, which))


def span_of(trace: Trace, rewrite: Rewrite) -> Span:
    """The states around a rewrite."""
    from qdqviz.ir.graph import Body
    from qdqviz.ir.neighbourhood import touched

    before, after = (
        state.bodies.get(rewrite.path) or Body()
        for state in (trace.before(rewrite.step), trace.after(rewrite.step))
    )
    focus = touched(rewrite.changes, rewrite.path)
    return Span(graph_name(trace, rewrite), rewrite.step, before, after, focus)


def effect_line(trace: Trace, rewrite: Rewrite) -> str:
    """`live ranges: peak 48 KiB → 36 KiB, byte-steps 1,024 → 512 (real values 1,024 → 128)`."""
    from qdqviz.ir.text import bytes_text

    found = span_of(trace, rewrite).difference()
    before, after = found.before, found.after
    text = f"live ranges: peak {bytes_text(before.peak_bytes)} → {bytes_text(after.peak_bytes)}"
    text += f", byte-steps {before.byte_steps:,} → {after.byte_steps:,}"
    text += f" (real values {before.real_byte_steps:,} → {after.real_byte_steps:,})"
    unknown = max(before.unknown, after.unknown)
    return text + (f"; {unknown} values of unknown size" if unknown else "")


def to_json(span: Span, which: Which = "carried") -> dict[str, Any]:
    """Live ranges before and after (schemas/live.schema.json)."""
    found = span.difference(which)
    return {
        "values": which,
        "before": _liveness_json(found.before),
        "after": _liveness_json(found.after),
        "difference": {
            "peak_bytes": found.peak_bytes,
            "byte_steps": found.byte_steps,
            "real_byte_steps": found.real_byte_steps,
        },
    }


def _liveness_json(found: Liveness) -> dict[str, Any]:
    return {
        "length": found.length,
        "peak_bytes": found.peak_bytes,
        "peak_step": found.peak_step,
        "byte_steps": found.byte_steps,
        "real_byte_steps": found.real_byte_steps,
        "unknown": found.unknown,
        "ranges": [_range_json(each) for each in found.ranges],
    }


def _range_json(found: LiveRange) -> dict[str, Any]:
    return {
        "node": found.name,
        "output": found.output,
        "dtype": found.dtype,
        "bytes": found.nbytes,
        "start": found.start,
        "end": found.end,
        "steps": found.steps,
        "byte_steps": found.byte_steps,
        "returned": found.returned,
    }


def _lanes(span: Span, options: Namespace, output: Output) -> str:
    from qdqviz.cli.terminal import colour_depth
    from qdqviz.draw.ansi import ansi_text
    from qdqviz.draw.lanes import live_lanes

    theme = theme_of(options.theme)
    columns = terminal().columns if output.is_terminal else PLAIN_COLUMNS
    cells = live_lanes(span.before, span.after, which=options.values, focus=span.focus, columns=columns)
    return ansi_text(cells, theme, colour_depth(os.environ)) if output.is_terminal else cells.plain()


def _spans(trace: Trace, step: int | None) -> list[Span]:
    """What to compare: the states around one step, or the first and last of every graph."""
    if step is not None:
        return [span_of(trace, trace.rewrite(step))]
    found = []
    for subject in trace.subjects:
        first, final = trace.first(subject.id), trace.final(subject.id)
        for path in first.paths():
            last = final.bodies.get(path)
            if last is not None:
                name = f"{subject.name}/{path}" if path else subject.name
                found.append(Span(name, None, first.body(path), last))
    return found
