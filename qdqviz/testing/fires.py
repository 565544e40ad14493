"""Assertions on what a pass does to a node; a failure's message is the explanation."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdqviz.errors import QdqvizError

if TYPE_CHECKING:
    from qdqviz.explain.answer import Why
    from qdqviz.trace.reader import Trace


def assert_fires(pass_: Any, program: Any, node: str | None = None) -> Why:
    """Assert that a pass rewrites a node of a program, or anything at all.

    The program is left as it is: the pass works on a copy.

    Args:
        pass_: The pass, ready to be called: an instance, or a function of a GraphModule.
        program: A GraphModule, ExportedProgram or EdgeProgramManager.
        node: The node's name; `PATH/NAME` in a sub-graph. None asserts that the pass rewrites anything.

    Returns:
        The explanation, with the steps of the rewrites.

    Raises:
        AssertionError: If it does not; the message says why not.
        UsageError: If there is no such node, with the closest names.
    """
    answer = why_on(pass_, program, node)
    if answer.verdict != "fired" or not answer.rewrites:
        raise AssertionError("\n".join(answer.sentences))
    return answer


def assert_declines(pass_: Any, program: Any, node: str, guard: str | None = None) -> Why:
    """Assert that a pass leaves a node alone, and because of a certain guard.

    Args:
        pass_: The pass, ready to be called.
        program: A GraphModule, ExportedProgram or EdgeProgramManager.
        node: The node's name.
        guard: Source text that a guard of the chain, or one of its siblings, must contain; None for any.

    Returns:
        The explanation.

    Raises:
        AssertionError: If it fires, or another guard turned the node down.
        UsageError: If there is no such node, with the closest names.
    """
    answer = why_on(pass_, program, node)
    tests = [each.text for link in answer.chain for each in (link, *link.siblings)]
    if answer.verdict == "fired" or not (guard is None or any(guard in text for text in tests)):
        wanted = f"\nexpected the guard {guard}" if guard is not None else ""
        raise AssertionError("\n".join(answer.sentences) + wanted)
    return answer


def why_on(pass_: Any, program: Any, node: str | None = None) -> Why:
    """Run a pass on a copy of a program and say why it did what it did to a node; see `assert_fires`.

    What the pass raises becomes the verdict `raised`, or `never` for what it did not come to.
    """
    from qdqviz.explain.why import why

    with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
        trace, error = _recorded(pass_, program, Path(folder) / "test.qdqtrace")
        try:
            run = _run_of(trace, pass_)
            if run is None:
                raise error or QdqvizError(
                    f"{_name(pass_)} did not run: give a pass object, or a function of a GraphModule"
                )
            return why(trace, run, node)
        finally:
            trace.close()


def _recorded(pass_: Any, program: Any, path: Path) -> tuple[Trace, Exception | None]:
    """The trace of a pass on a copy of a program, and what it raised."""
    from qdqviz.load.apply import apply_passes
    from qdqviz.load.copying import copy_program
    from qdqviz.record.api import record, record_pass

    copy = copy_program(program)
    error: Exception | None = None
    with record(path) as recording:
        try:
            apply_passes(copy, [record_pass(pass_) if inspect.isfunction(pass_) else pass_])
        except Exception as raised:  # noqa: BLE001  a pass may raise anything
            error = raised
    return recording.trace(), error


def _run_of(trace: Trace, pass_: Any) -> int | None:
    """The first run of the pass."""
    return next((run.id for run in trace.runs if run.kind == "pass" and run.name == _name(pass_)), None)


def _name(pass_: Any) -> str:
    return str(getattr(pass_, "__name__", type(pass_).__name__))
