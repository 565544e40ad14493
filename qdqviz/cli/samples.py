"""`qdqviz samples`: the sample models."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json
from qdqviz.cli.output import Output
from qdqviz.cli.table import columns


class Samples(Command):
    """List the sample models, or describe one.

    A description says what there is to see, and which passes to try.

      qdqviz samples
      qdqviz samples encoder
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add SAMPLE and `--json`."""
        parser.add_argument("sample", metavar="SAMPLE", nargs="?", help="say more about this one")
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Print the list, or one sample's description."""
        from qdqviz.load.samples import find_sample, list_samples

        found = [find_sample(options.sample)] if options.sample else list_samples()
        if options.json:
            output.json([_to_json(sample) for sample in found])
        elif options.sample:
            output.line(f"{found[0].summary}\n\n{found[0].description}")
        else:
            for line in columns([(sample.name, sample.summary) for sample in found]):
                output.line(line)
        return 0


def _to_json(sample: Any) -> dict[str, str]:
    return {
        "name": sample.name,
        "summary": sample.summary,
        "description": sample.description,
        "file": str(sample.path),
    }
