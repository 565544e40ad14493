"""`qdqviz demo`: a sample with passes, ready to walk through."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from qdqviz.cli.command import Command
from qdqviz.cli.open import show
from qdqviz.cli.options import add_loading, add_passes
from qdqviz.cli.output import Output

SAMPLE = "encoder"
"""The sample that is shown unless told otherwise."""

PASSES = "cadence-reorder,cadence-fuse"
"""The passes that run on it."""


class Demo(Command):
    """Record passes on a sample and walk through what they did.

    Where there is no terminal, the steps are printed instead. `qdqviz samples` lists the samples.

      qdqviz demo
      qdqviz demo convnet
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add SAMPLE and `-p`."""
        parser.add_argument("target", metavar="SAMPLE", nargs="?", default=SAMPLE, help=f"default: {SAMPLE}")
        add_passes(parser)
        add_loading(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Like `open` on the sample."""
        from qdqviz.load.samples import find_sample

        find_sample(options.target)
        options.passes = options.passes or [PASSES]
        return show(options, output)
