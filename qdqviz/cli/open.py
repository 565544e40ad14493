"""`qdqviz open`: a trace or a target in the terminal."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_passes, add_target
from qdqviz.cli.output import Output
from qdqviz.cli.steps import print_steps
from qdqviz.cli.traces import names_trace, open_trace, plan_of, temporary_session


class Open(Command):
    """Walk through a trace, or a target recorded on the fly.

    Where there is no terminal, the steps are printed instead.

      qdqviz open t.qdqtrace
      qdqviz open encoder -p cadence-reorder
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TARGET and `-p`."""
        add_target(parser, traces=True)
        add_passes(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Open the terminal's application, or print the steps."""
        return show(options, output)


def show(options: Namespace, output: Output) -> int:
    """Open what the options name; without a terminal print its steps."""
    is_trace = names_trace(options.target) or (not options.passes and Path(options.target).is_file())
    if not output.interactive:
        if is_trace:
            with open_trace(options, output) as trace:
                print_steps(trace, output)
        else:
            with temporary_session(options, output) as session:
                print_steps(session.trace, output)
        return 0
    from qdqviz.draw.theme import DEFAULT_THEME
    from qdqviz.tui.app import run_app

    theme = options.theme or DEFAULT_THEME
    if not is_trace:
        return run_app(plan_of(options), theme=theme)
    with open_trace(options, output) as trace:
        return run_app(trace, theme=theme)
