"""Runs a command line; the one place that turns errors into messages and exit codes."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from qdqviz.cli.output import Output
from qdqviz.cli.parser import build_parser
from qdqviz.errors import MissingDependencyError, QdqvizError

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of SIGINT."""

EXTRA = ("torch", "executorch", "torchao")
"""Packages that the extra `executorch` brings."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 0 done, 1 failed, 2 usage, 130 interrupted."""
    output = Output(quiet="--quiet" in arguments)
    try:
        code = _dispatch(arguments, output)
    except SystemExit as leave:  # argparse leaves so after --help and --version
        code = leave.code if isinstance(leave.code, int) else 0
    except KeyboardInterrupt as interrupt:
        output.error(str(interrupt) or "interrupted")
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001  whatever it is, the user gets one line and a code
        code = _report(error, output, debug="--debug" in arguments)
    output.flush()
    return code


def _dispatch(arguments: Sequence[str], output: Output) -> int:
    parser = build_parser()
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.error("no command was given")
    output.quiet = options.quiet
    if options.theme is not None:
        from qdqviz.cli.pictures import theme_of

        theme_of(options.theme)  # a wrong one is told by commands that show no colours, too
    return int(options.handler.run(options, output))


def _report(error: Exception, output: Output, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    known = _as_known(error)
    output.error(str(known))
    return known.exit_code


def _as_known(error: Exception) -> QdqvizError:
    """The error as one of ours: a missing package by its extra, a file by its name, the rest as a fault."""
    if isinstance(error, QdqvizError):
        return error
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] in EXTRA:
        return MissingDependencyError(
            f"this needs {error.name}, which is not installed: pip install 'qdqviz[executorch]'"
        )
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return QdqvizError(f"{where}{error.strerror}")
    first = next(iter(str(error).splitlines()), "")
    return QdqvizError(f"{type(error).__name__}: {first}; --debug shows where")
