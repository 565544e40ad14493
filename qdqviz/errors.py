"""The one tree of errors: each message is one line that says what is wrong, with what, and what to do."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

_OWN = Path(__file__).parent


class QdqvizError(Exception):
    """Something that qdqviz could not do; the command line prints its message and exits with `exit_code`."""

    exit_code = 1
    """Process exit status when the command line ends with this error."""


class UsageError(QdqvizError):
    """The request itself is wrong: an unknown name, an ambiguous node, options that do not fit."""

    exit_code = 2


class TraceFileError(QdqvizError):
    """A trace file is missing, foreign, truncated, or newer than this qdqviz."""


class TargetError(UsageError):
    """A target on the command line names nothing that can be loaded."""


class PassError(QdqvizError):
    """A pass cannot be found, imported or built."""


class MissingDependencyError(QdqvizError):
    """A package that this command needs is not installed; the message names the extra."""


class LayoutError(QdqvizError):
    """The layout engine is missing, failed or took too long."""


class ThemeError(UsageError):
    """A theme file is missing a key or holds a value that is no colour."""


class ExportFailedError(QdqvizError):
    """A module could not be written, or what was written does not read back equal."""


class NotCheckableError(QdqvizError):
    """A graph state cannot be run here; the message names the op that stands in the way."""


def users_line(trace: TracebackType | None) -> str:
    """` (model.py, line 12)`: the innermost line of a traceback outside this and installed packages."""
    found = ""
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if "site-packages" not in path.parts and path.is_file() and _OWN not in path.parents:
            found = f" ({path.name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return found
