"""`qdqviz passes`: every pass that can be named after `-p`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json
from qdqviz.cli.output import Output
from qdqviz.cli.table import columns

if TYPE_CHECKING:
    from qdqviz.passes.entry import PassEntry


class Passes(Command):
    """List the passes that -p can name.

    These are the built-in ones, pipelines, and those of the installed executorch. Beside these,
    -p takes package.module:Class, file.py:Class, and functions that make a pass or are one.
    A class name that several backends use is written FAMILY:NAME.

      qdqviz passes
      qdqviz passes cadence quantize
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TEXT and `--json`."""
        parser.add_argument("text", metavar="TEXT", nargs="*", help="words that name, family or summary hold")
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Print the list; fail if nothing matches."""
        from qdqviz.passes.catalogue import Catalogue

        catalogue = Catalogue()
        found = catalogue.entries(" ".join(options.text) or None)
        if options.json:
            output.json([{**asdict(entry), "qualified": entry.qualified} for entry in found])
            return 0
        for line in columns([_row(entry) for entry in found]):
            output.line(line)
        if not found:
            close = catalogue.suggestions(" ".join(options.text))
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            output.warn(f"no pass matches {' '.join(options.text)!r}{hint}")
            return 1
        return 0


def _row(entry: PassEntry) -> tuple[str, str, str]:
    missing = f"needs {entry.missing}" if entry.missing else ""
    if not missing and entry.importable is False:
        missing = "cannot be imported"
    return (entry.family, entry.name, f"[{missing}] {entry.summary}".strip() if missing else entry.summary)
