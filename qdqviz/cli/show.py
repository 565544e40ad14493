"""`qdqviz show`: one rewrite, told and drawn."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from qdqviz.cli.command import Command
from qdqviz.cli.live import effect_line, span_of
from qdqviz.cli.live import to_json as live_json
from qdqviz.cli.options import add_json, add_radius, add_step, add_trace
from qdqviz.cli.output import Output
from qdqviz.cli.pictures import picture_of, plain_text, terminal_text
from qdqviz.cli.steps import step_json
from qdqviz.cli.traces import open_trace

if TYPE_CHECKING:
    from qdqviz.ir.change import Change
    from qdqviz.trace.model import Rewrite
    from qdqviz.trace.reader import Trace


class Show(Command):
    """Show one rewrite: sentence, changes, before and after.

    Also what it did to live ranges. Pictures show the neighbourhood of what changed.

      qdqviz show t.qdqtrace 14
      qdqviz show convnet -p FuseBatchNormWithConv 1 --json
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TRACE, STEP, `--radius` and `--json`."""
        add_trace(parser)
        add_step(parser)
        add_radius(parser)
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Print the rewrite."""
        with open_trace(options, output) as trace:
            rewrite = trace.rewrite(options.step)
            if options.json:
                output.json(to_json(trace, rewrite, options.radius))
            else:
                print_rewrite(trace, rewrite, options, output)
        return 0


def print_rewrite(trace: Trace, rewrite: Rewrite, options: Namespace, output: Output) -> None:
    """The rewrite for people."""
    from qdqviz.explain.changes import change_text
    from qdqviz.explain.naming import counted
    from qdqviz.explain.sentence import sentence
    from qdqviz.ir.labels import shortened

    run = trace.runs[rewrite.run]
    asked = ", unconditional" if rewrite.unconditional else ""
    output.line(f"step {rewrite.step} of {trace.steps}  {run.label}{asked}")
    output.line(sentence(trace, rewrite))
    output.line()
    output.line(counted(len(rewrite.changes), "change"))
    for text in shortened([change_text(trace, rewrite, change) for change in rewrite.changes]):
        output.line(f"  {text}")
    output.line()
    output.line(effect_line(trace, rewrite))
    picture = picture_of(trace, rewrite, options.radius)
    for view in ("before", "after"):
        output.line()
        output.line(view)
        output.styled(terminal_text(picture.with_view(view), options.theme, output))


def to_json(trace: Trace, rewrite: Rewrite, radius: int) -> dict[str, Any]:
    """What `show --json` writes (schemas/show.schema.json)."""
    picture = picture_of(trace, rewrite, radius)
    return {
        **step_json(trace, rewrite),
        "changes": [change_json(trace, rewrite, change) for change in rewrite.changes],
        "live": live_json(span_of(trace, rewrite)),
        "picture": {view: plain_text(picture.with_view(view)) for view in ("before", "after")},
    }


def change_json(trace: Trace, rewrite: Rewrite, change: Change) -> dict[str, Any]:
    """One change."""
    from qdqviz.explain.changes import change_text, node_name

    return {
        "kind": change.kind,
        "path": change.path,
        "node": node_name(trace, rewrite, change),
        "text": change_text(trace, rewrite, change),
    }
