"""`qdqviz export`: the program after passes, as a file."""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdqviz.cli.checking import add_interventions, checked_session, interventions_of
from qdqviz.cli.command import Command
from qdqviz.cli.options import add_passes, add_target
from qdqviz.cli.output import STDOUT, Output
from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.export.report import ExportReport
    from qdqviz.live.session import Session

FORMATS = ("pt2", "pte", "py")
"""Endings of program files."""


class Export(Command):
    """Run passes and write the program as .pt2, .pte or .py.

    The passes run on a copy of the target; the file's ending says what is written. What was
    written is read back and compared with the program before success is said.

      qdqviz export convnet -p cadence-reorder -o m.pte
      qdqviz export convnet -p cadence-reorder --step 4 -o at4.pt2
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TARGET, `-p`, `--step`, interventions, `-o` and `--format`."""
        add_target(parser)
        add_passes(parser)
        parser.add_argument(
            "--step",
            metavar="N",
            type=_step,
            help="write the program as it is after this rewrite; 0 is before all (default: after the passes)",
        )
        add_interventions(parser)
        parser.add_argument(
            "-o", "--output", metavar="FILE", required=True, help="the file; - is standard output"
        )
        parser.add_argument("--format", choices=FORMATS, help="for standard output, which has no ending")

    def run(self, options: Namespace, output: Output) -> int:
        """Run the passes, then write."""
        from qdqviz.cli.failure import check_error

        kind = program_format(options.output, options.format)
        with checked_session(options, output, interventions_of(options)) as session:
            check_error(session, kept=False)
            if options.output != STDOUT:
                report = write(session, Path(options.output), options)
            else:
                with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
                    report = write(session, Path(folder) / f"program.{kind}", options)
                    output.binary(report.path.read_bytes())
        output.note(report.summary)
        return 0


def write(session: Session, path: Path, options: Namespace) -> ExportReport:
    """Write the session's program.

    Raises:
        ExportFailedError: If it cannot be written or does not read back equal.
    """
    from qdqviz.export.program import export_program

    return export_program(
        _program(session, options.step),
        path,
        inputs=session.loaded.inputs,
        keywords=session.loaded.keywords,
        method=options.method,
        imports=options.imports or (),
    )


def _program(session: Session, step: int | None) -> Any:
    """The session's program after its passes, or after one of their rewrites.

    Raises:
        UsageError: If there is no such rewrite.
    """
    if step is None:
        return session.program
    from qdqviz.live.materialize import materialize

    session.trace.check_step(step)
    return materialize(session.trace.cursor(session.subject).at(step), session, step=step)


def _step(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"a step is a number from 0 on, not {text!r}")
    return int(text)


def program_format(name: str, asked: str | None) -> str:
    """The format of a program's file.

    Raises:
        UsageError: If nothing says it, or the file's ending says another.
    """
    ending = Path(name).suffix.lower().lstrip(".")
    if name == STDOUT and asked:
        return asked
    if name == STDOUT:
        raise UsageError(f"standard output has no ending: say --format {', '.join(FORMATS)}")
    if ending not in FORMATS:
        raise UsageError(f"{name}: a program's name ends in .{', .'.join(FORMATS)}")
    if asked and asked != ending:
        raise UsageError(f"{name} ends in .{ending}, and --format says {asked}")
    return ending
