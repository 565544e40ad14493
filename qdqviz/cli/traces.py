"""From TRACE on the command line to a trace: a file, or a target recorded on the fly."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qdqviz.cli.output import Output
from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.live.session import Plan, Session
    from qdqviz.trace.reader import Trace

SUFFIX = ".qdqtrace"
"""Ending of a trace's file name."""

MAGIC = b"SQLite format 3\x00"
"""First bytes of a trace, and of any other SQLite database."""


def names_trace(target: str) -> bool:
    """Whether a target on the command line means a trace: by its ending, else by the file's first bytes."""
    if target.endswith(SUFFIX):
        return True
    try:
        with Path(target).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


@contextmanager
def open_trace(options: Namespace, output: Output) -> Iterator[Trace]:
    """The trace that TRACE names; with `-p` the target is recorded into a temporary trace.

    Raises:
        UsageError: If a trace comes with passes, or a target without.
        QdqvizError: If it cannot be read or recorded.
    """
    from qdqviz.trace.reader import Trace

    if names_trace(options.target):
        if options.passes:
            raise UsageError(f"{options.target} is a trace and holds its passes: leave out -p")
        trace = Trace(options.target)
        try:
            yield trace
        finally:
            trace.close()
        return
    if not options.passes:
        raise _no_trace(options.target)
    with temporary_session(options, output) as session:
        yield session.trace


@contextmanager
def temporary_session(options: Namespace, output: Output) -> Iterator[Session]:
    """Load the target and run its passes; the trace is gone when the block ends.

    Raises:
        QdqvizError: If the target or a pass cannot be loaded, or a pass raised.
    """
    import tempfile

    from qdqviz.cli.failure import check_error
    from qdqviz.cli.progress import start

    with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
        session = start(plan_of(options, Path(folder) / f"recorded{SUFFIX}"), output)
        check_error(session, kept=False)
        try:
            yield session
        finally:
            session.trace.close()


def plan_of(options: Namespace, path: Path | None = None) -> Plan:
    """What the options say is to be loaded and run.

    Args:
        options: Those of a command that took `add_target` or `add_trace`, and `add_passes`.
        path: Where the trace goes; None for a temporary file.
    """
    import sys

    from qdqviz.live.session import Plan

    passes, imports = tuple(options.passes or ()), tuple(options.imports or ())
    command = ("qdqviz", *sys.argv[1:])
    return Plan(options.target, passes, imports, options.method, path, command)


def new_trace_path(name: str) -> Path:
    """The path of a trace to be written, which may replace a trace but nothing else.

    Raises:
        UsageError: If there is another kind of file, or a folder, or no folder to put it into.
    """
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file with -o")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}: make it, or name another file with -o")
    if path.is_file() and path.stat().st_size and not _is_trace(path):
        raise UsageError(f"{path} exists and is no trace: name another file with -o")
    return path


def _is_trace(path: Path) -> bool:
    from qdqviz.trace.schema import APPLICATION_ID

    head = path.open("rb").read(100)
    return head.startswith(MAGIC) and int.from_bytes(head[68:72], "big") == APPLICATION_ID


def _no_trace(target: str) -> UsageError:
    if Path(target).is_file() and not target.endswith((".py", ".pt2", ".pte")):
        return UsageError(
            f"{target} is no qdqviz trace; record one with `qdqviz run TARGET -p PASSES -o FILE`"
        )
    return UsageError(
        f"{target} is no trace: say which passes to record on it with -p, or name a {SUFFIX} file"
    )
