"""`qdqviz live`: how long values live, before and after a rewrite or the whole trace."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_step, add_trace
from qdqviz.cli.output import Output
from qdqviz.cli.traces import open_trace

if TYPE_CHECKING:
    from qdqviz.ir.graph import Body
    from qdqviz.ir.liveness import LiveDifference, Liveness, LiveRange
    from qdqviz.trace.model import Rewrite
    from qdqviz.trace.reader import Trace


class Live(Command):
    """Show the live ranges of quantized and dequantized values: before and after a rewrite, or all of them.

    qdqviz live t.qdqtrace 14
    qdqviz live t.qdqtrace --all --json
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TRACE, STEP, `--all` and `--json`."""
        add_trace(parser)
        add_step(parser, optional=True)
        parser.add_argument(
            "--all", action="store_true", help="every value, not only quantized and dequantized ones"
        )
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Print lanes and numbers."""
        which = "all" if options.all else "qdq"
        with open_trace(options, output) as trace:
            found = _spans(trace, options.step)
            compared = [(name, live_difference(*bodies, which)) for name, bodies in found]
            if options.json:
                output.json(
                    [{"graph": name, "step": options.step, **to_json(each)} for name, each in compared]
                )
                return 0
            for name, each in compared:
                print_lanes(name, each, options, output)
        return 0


def live_difference(before: Body, after: Body, which: str = "qdq") -> LiveDifference:
    """The live ranges of two states of a graph."""
    from qdqviz.ir.liveness import difference, liveness

    return difference(liveness(before, which), liveness(after, which))  # type: ignore[arg-type]


def rewrite_difference(trace: Trace, rewrite: Rewrite) -> LiveDifference:
    """What a rewrite did to the live ranges of its graph."""
    return live_difference(*_around(trace, rewrite))


def effect_line(trace: Trace, rewrite: Rewrite) -> str:
    """What a rewrite did to live ranges: peak and byte-steps before and after."""
    return numbers(rewrite_difference(trace, rewrite))


def numbers(found: LiveDifference) -> str:
    """`live ranges: peak 48 KiB → 36 KiB, 1,024 → 512 byte-steps (fp32 1,024 → 128)`."""
    from qdqviz.ir.text import bytes_text

    before, after = found.before, found.after
    text = f"live ranges: peak {bytes_text(before.peak_bytes)} → {bytes_text(after.peak_bytes)}"
    text += f", {before.byte_steps:,} → {after.byte_steps:,} byte-steps"
    text += f" (floating point {before.real_byte_steps:,} → {after.real_byte_steps:,})"
    unknown = max(before.unknown, after.unknown)
    return text + (f"; {unknown} values of unknown size" if unknown else "")


def print_lanes(name: str, found: LiveDifference, options: Namespace, output: Output) -> None:
    """The lanes of one graph, before above after, and the numbers."""
    from qdqviz.cli.lanes import lanes_text

    output.line(f"{name}  {numbers(found)}")
    output.styled(lanes_text(found, options.theme, output))


def step_json(trace: Trace, rewrite: Rewrite) -> dict[str, Any]:
    """The live ranges around a rewrite."""
    return to_json(rewrite_difference(trace, rewrite))


def to_json(found: LiveDifference) -> dict[str, Any]:
    """Live ranges before and after (schemas/live.schema.json)."""
    return {
        "before": liveness_json(found.before),
        "after": liveness_json(found.after),
        "difference": {
            "peak_bytes": found.peak_bytes,
            "byte_steps": found.byte_steps,
            "real_byte_steps": found.real_byte_steps,
        },
    }


def liveness_json(found: Liveness) -> dict[str, Any]:
    """The live ranges of one state."""
    return {
        "length": found.length,
        "peak_bytes": found.peak_bytes,
        "peak_step": found.peak_step,
        "byte_steps": found.byte_steps,
        "real_byte_steps": found.real_byte_steps,
        "unknown": found.unknown,
        "ranges": [range_json(each) for each in found.ranges],
    }


def range_json(found: LiveRange) -> dict[str, Any]:
    """One live range."""
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


def _around(trace: Trace, rewrite: Rewrite) -> tuple[Body, Body]:
    from qdqviz.ir.graph import Body

    states = (trace.before(rewrite.step), trace.after(rewrite.step))
    before, after = (state.bodies.get(rewrite.path) or Body() for state in states)
    return before, after


def _spans(trace: Trace, step: int | None) -> list[tuple[str, tuple[Body, Body]]]:
    """The states to compare: around one step, or from first to last of every graph of every subject."""
    from qdqviz.cli.steps import graph_name

    if step is not None:
        rewrite = trace.rewrite(step)
        return [(graph_name(trace, rewrite), _around(trace, rewrite))]
    found = []
    for subject in trace.subjects:
        first, final = trace.first(subject.id), trace.final(subject.id)
        for path in first.paths():
            last = final.bodies.get(path)
            if last is not None:
                name = f"{subject.name}/{path}" if path else subject.name
                found.append((name, (first.body(path), last)))
    return found
