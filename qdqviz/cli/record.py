"""`qdqviz record`: a user's script, unchanged, with every pass in it recorded."""

from __future__ import annotations

import os
import runpy
import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from qdqviz.cli.command import Command
from qdqviz.cli.output import STDOUT, Output
from qdqviz.cli.traces import SUFFIX, new_trace_path
from qdqviz.errors import UsageError

INTERRUPTED = 130
"""Exit code of a script that Ctrl-C ended."""


class Record(Command):
    """Run a script unchanged and record every pass in it.

    It runs as `python` would run it, also a module with -m, and keeps its arguments, output and
    exit code. Options of qdqviz come before SCRIPT or -m; everything after belongs to the script.

      qdqviz record -o t.qdqtrace lower.py --model resnet
      qdqviz record -m mypackage.lower --model resnet
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add `-o`, `-m` and SCRIPT with its arguments."""
        parser.usage = (
            "qdqviz record [-o TRACE] SCRIPT [ARGS...]\n       qdqviz record [-o TRACE] -m MODULE [ARGS...]"
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="TRACE",
            help=f"where the trace goes (default: NAME{SUFFIX} in this folder)",
        )
        parser.add_argument(
            "-m", dest="module", metavar="MODULE", nargs=REMAINDER, help="run a module instead"
        )
        parser.add_argument("script", metavar="SCRIPT", nargs="?", help="the script to run")
        parser.add_argument("arguments", metavar="ARGS", nargs=REMAINDER, help="its arguments")

    def run(self, options: Namespace, output: Output) -> int:
        """Run the script under a recording and return its exit code."""
        name, start, arguments = _what_to_run(options)
        if options.output == STDOUT:
            raise UsageError("standard output belongs to the script: name a file with -o")
        path = new_trace_path(options.output or f"{Path(name).stem or 'recorded'}{SUFFIX}")
        from qdqviz.explain.naming import counted
        from qdqviz.load.quiet import import_toolchain
        from qdqviz.record.api import record

        import_toolchain()
        command = ("qdqviz", *sys.argv[1:])
        with (
            record(path, title=name, command=command) as recording,
            _as_python(name, arguments, options.module),
        ):
            code = _exit_code_of(start)
        output.note(f"qdqviz: recorded {counted(recording.steps, 'rewrite')} in {path}")
        return code


def _what_to_run(options: Namespace) -> tuple[str, Callable[[], object], list[str]]:
    """Name, what starts it, and its arguments.

    Raises:
        UsageError: If there is nothing to run.
    """
    if options.module is not None:
        if not options.module:
            raise UsageError("-m needs a module's name")
        module, *arguments = options.module
        return module, lambda: runpy.run_module(module, run_name="__main__", alter_sys=True), arguments
    if options.script is None:
        raise UsageError("name a script, or a module with -m; see `qdqviz record --help`")
    if not Path(options.script).exists():
        raise UsageError(f"cannot find the script {options.script}")
    return (
        options.script,
        lambda: runpy.run_path(options.script, run_name="__main__"),
        options.arguments,
    )


@contextmanager
def _as_python(name: str, arguments: Sequence[str], module: object) -> Iterator[None]:
    """`sys.argv` and `sys.path` as the interpreter sets them for a script or a module."""
    argv, path = sys.argv[:], sys.path[:]
    sys.argv[:] = ["-m" if module is not None else name, *arguments]
    first = os.getcwd() if module is not None else str(Path(name).resolve().parent)
    if not sys.flags.safe_path:
        # What stands first is the folder of the `qdqviz` script, or with `python -m` the current one.
        sys.path[:1] = [first]
    try:
        yield
    finally:
        sys.argv[:], sys.path[:] = argv, path


def _exit_code_of(start: Callable[[], object]) -> int:
    """Run it; what it raises is shown with the script's own traceback, as the interpreter does."""
    try:
        start()
    except SystemExit as leave:
        return _code_of(leave)
    except BaseException as error:  # noqa: BLE001  what the script raises is the script's
        own = error.with_traceback(_own_frames(error.__traceback__))
        sys.excepthook(type(own), own, own.__traceback__)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _code_of(leave: SystemExit) -> int:
    """The exit status that the interpreter makes of a SystemExit."""
    if leave.code is None:
        return 0
    if isinstance(leave.code, int):
        return leave.code
    print(leave.code, file=sys.stderr)
    return 1


def _own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the script's first frame on, without what started the script."""
    starters = (__file__, runpy.__file__, "<frozen runpy>")
    found = traceback
    while found is not None and found.tb_frame.f_code.co_filename in starters:
        found = found.tb_next
    return found if found is not None else traceback
