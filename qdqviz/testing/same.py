"""Asserts that two versions of a pass do the same; a failure's message is the diff."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.cli.diff_sides import Diff, Side
    from qdqviz.load.loaded import Loaded
    from qdqviz.passes.entry import ResolvedPass


def assert_same_rewrites(
    old: Any, new: Any, program: Any = None, *, metadata: bool = False, graphs: bool = True
) -> None:
    """Assert that two versions of a pass make the same rewrites, or that two traces hold the same.

    Names of nodes do not count. The program is left as it is: the passes work on copies.

    Args:
        old: The old version: a pass class or object, a function of a GraphModule, what stands after `-p` on
            the command line (`cadence-reorder`, `old.py:Fuse`), or a list of these. Without `program`: a
            trace or its path.
        new: The new version, likewise.
        program: A GraphModule, ExportedProgram or EdgeProgramManager, or what the command line takes as a
            TARGET (`encoder`, `model.py:build`). None compares two traces.
        metadata: Whether metadata has to be the same, too.
        graphs: Whether the final graphs have to be the same, too.

    Raises:
        AssertionError: They differ, or a pass raised; the message says in what.
        QdqvizError: A trace, target or pass cannot be read or loaded.
    """
    from qdqviz.cli.diff_text import lines
    from qdqviz.cli.diff_verdict import reasons

    wanted = ["rewrites", *(["graph"] if graphs else []), *(["metadata"] if metadata else [])]
    with _traces(old, new) if program is None else _recordings(old, new, program) as diff:
        if reasons(diff, wanted):
            errors = [f"{side.name}: {side.error}" for side in (diff.left, diff.right) if side.error]
            raise AssertionError("\n".join((*errors, *lines(diff, brief=False, metadata=metadata))))


@contextmanager
def _traces(old: Any, new: Any) -> Iterator[Diff]:
    """Two traces, compared; those that are opened here are closed again."""
    from qdqviz.cli.diff_sides import LEFT, RIGHT, Side, compared
    from qdqviz.trace.reader import Trace

    opened: list[Trace] = []
    sides: list[Side] = []
    try:
        for each in (old, new):
            if isinstance(each, str | os.PathLike):
                each = Trace(Path(each))
                opened.append(each)
            if not isinstance(each, Trace):
                raise UsageError(f"{type(each).__name__} is no trace: name a program to run passes on")
            sides.append(Side(each.path.name, each))
        yield compared(None, sides[0], sides[1], (LEFT, RIGHT))
    finally:
        for trace in opened:
            trace.close()


@contextmanager
def _recordings(old: Any, new: Any, program: Any) -> Iterator[Diff]:
    """Both versions on copies of a program, compared; the recordings are gone afterwards."""
    from qdqviz.cli.diff_sides import NEW, OLD, compared
    from qdqviz.load.quiet import import_toolchain

    import_toolchain()
    loaded = _loaded(program)
    with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
        sides = [
            _recorded(name, _passes(each), loaded, Path(folder) / f"{name}.qdqtrace")
            for name, each in ((OLD, old), (NEW, new))
        ]
        try:
            yield compared(loaded.name, sides[0], sides[1], (OLD, NEW))
        finally:
            for side in sides:
                side.trace.close()


def _recorded(name: str, passes: Sequence[ResolvedPass], loaded: Loaded, path: Path) -> Side:
    from qdqviz.cli.diff_sides import Side
    from qdqviz.cli.failure import describe
    from qdqviz.live.session import run

    session = run(loaded, passes, path)
    if isinstance(session.error, KeyboardInterrupt):
        raise session.error
    error = None if session.error is None else describe(session.trace, session.error)
    return Side(name, session.trace, error)


def _loaded(program: Any) -> Loaded:
    from qdqviz.load.programs import as_program, describe
    from qdqviz.load.target import load

    if isinstance(program, str):
        return load(program)
    found, inputs = as_program(program, "the program")
    return describe("program", found, None, inputs)


def _passes(given: Any) -> list[ResolvedPass]:
    """The passes that a specification, a pass, or a list of either stands for."""
    from qdqviz.passes.resolve import resolve
    from qdqviz.passes.wrap import path_of, wrap

    if isinstance(given, str):
        return resolve(given)
    if isinstance(given, list | tuple):
        return [found for each in given for found in _passes(each)]
    return wrap(given, path_of(given, type(given).__name__))
