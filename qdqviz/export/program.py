"""Writes a program at any step to a `.pt2`, `.pte` or `.py` file, and compares what it reads back."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from qdqviz.errors import ExportFailedError
from qdqviz.export.compare import Difference, output_steps
from qdqviz.export.fingerprint import fingerprint, first_difference
from qdqviz.export.outputs import Calls, calls_of, compare, eager
from qdqviz.export.prepare import exported_copies, keep_initial_state, to_edge_manager
from qdqviz.export.readback import read_back
from qdqviz.export.report import ExportReport, Format
from qdqviz.export.unfinished import Unfinished
from qdqviz.load.dialect import dialect_of
from qdqviz.load.messages import describe_error
from qdqviz.load.quiet import quiet


def export_program(
    program: Any,
    path: Path,
    *,
    inputs: tuple[Any, ...] | None = None,
    keywords: Mapping[str, Any] | None = None,
    method: str | None = None,
    imports: Sequence[str] = (),
) -> ExportReport:
    """Write a program to a file; the program itself stays as it is.

    A `.pt2` is written by the serializer of its dialect; a fresh process loads it, and its graph, constants
    and outputs have to be equal. A `.pte` is lowered from a copy (an aten program by way of to_edge) and
    executed by ExecuTorch's runtime in a process of its own; what it may differ by is said in
    `qdqviz.export.outputs`. A `.py` is the graph's readable code. A file appears under its name only if all
    that holds.

    Args:
        program: an EdgeProgramManager, ExportedProgram or GraphModule.
        path: the file; its suffix says what is written.
        inputs: example inputs by position; None takes those of the program.
        keywords: example inputs by name.
        method: the only method to write; None writes all (a `.pt2` holds one).
        imports: op libraries that a user has to import for the program.

    Raises:
        ExportFailedError: the program cannot be written, does not run, or does not read back equal.
    """
    file_format = _format(path, program, method)
    _refuse_place(path)
    with quiet():
        programs = exported_copies(program, method, inputs)
        if file_format == "py":
            return _write_python(programs, path)
        calls = calls_of(programs, inputs, keywords)
        wanted, unchecked = eager(program, list(programs), calls)
        calls = {name: given for name, given in calls.items() if name in wanted}
        if file_format == "pt2":
            return _write_pt2(programs, path, calls, wanted, unchecked, imports)
        return _write_pte(programs, path, calls, wanted, unchecked)


def _format(path: Path, program: Any, method: str | None) -> Format:
    methods = getattr(program, "methods", ())
    match path.suffix:
        case ".pt2":
            if method is None and len(methods) > 1:
                names = ", ".join(sorted(methods))
                raise ExportFailedError(f"a .pt2 holds one method: choose one with --method ({names})")
            return "pt2"
        case ".pte":
            return "pte"
        case ".py":
            return "py"
    raise ExportFailedError(f"{path.name} is no .pt2, .pte or .py file: give it one of these suffixes")


def _refuse_place(path: Path) -> None:
    """Say at once, not after minutes of work, that a file cannot be there."""
    if not path.parent.is_dir():
        raise ExportFailedError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ExportFailedError(f"cannot write {path}: it is a folder")


def _write_pt2(
    programs: dict[str, Any],
    path: Path,
    calls: Calls,
    wanted: Calls,
    unchecked: str | None,
    imports: Sequence[str],
) -> ExportReport:
    ((method, program),) = programs.items()
    lines = fingerprint(program)
    with Unfinished(path, lambda file: _save(program, file)) as unfinished:
        answer = read_back(unfinished.file, "pt2", calls, imports)
        changed = first_difference(lines, answer.fingerprint or [])
        if changed:
            raise ExportFailedError(f"{path} reads back changed: {changed}")
        worst = compare(wanted, answer.outputs, {method: output_steps(program)}, exact=True)
        unfinished.keep()
    nodes = sum(line.startswith("%") for line in lines)
    compared = (f"graph of {nodes} nodes", "constants", *_outputs_compared(wanted))
    return _report(path, "pt2", (method,), compared, worst, unchecked)


def _write_pte(
    programs: dict[str, Any], path: Path, calls: Calls, wanted: Calls, unchecked: str | None
) -> ExportReport:
    import executorch.kernels.quantized  # noqa: F401  registers the out variants of quantized ops

    steps = {name: output_steps(each) for name, each in programs.items()}
    content = _lower(programs)
    with Unfinished(path, lambda file: file.write_bytes(content)) as unfinished:
        answer = read_back(unfinished.file, "pte", calls, ())
        worst = compare(wanted, answer.outputs, steps, exact=False) if answer.cannot_run is None else None
        unfinished.keep()
    compared = () if answer.cannot_run else ("loads", *_outputs_compared(wanted))
    return _report(path, "pte", tuple(programs), compared, worst, answer.cannot_run or unchecked)


def _write_python(programs: dict[str, Any], path: Path) -> ExportReport:
    text = "\n\n".join(_readable(name, each) for name, each in programs.items())
    ast.parse(text)
    with Unfinished(path, lambda file: file.write_text(text, encoding="utf-8")) as unfinished:
        unfinished.keep()
    return _report(path, "py", tuple(programs), (), None, "readable code is not run")


def _lower(programs: dict[str, Any]) -> bytes:
    manager = to_edge_manager(programs)
    for name in manager.methods:
        keep_initial_state(manager.exported_program(name))
    try:
        return bytes(manager.to_executorch().buffer)
    except Exception as error:
        raise ExportFailedError(f"lowering to ExecuTorch raised {describe_error(error)}") from error


def _save(program: Any, file: Path) -> None:
    try:
        if dialect_of(program.graph_module) == "aten":
            torch.export.save(program, file)
        else:
            from executorch import exir

            exir.save(program, str(file))
    except OSError:
        raise
    except Exception as error:
        raise ExportFailedError(
            f"the program cannot be serialized: {describe_error(_root(error))}"
        ) from error


def _root(error: BaseException) -> BaseException:
    """The innermost cause: the serializers wrap it once for each node and graph around it."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _readable(name: str, program: Any) -> str:
    state = {**program.state_dict, **program.constants}
    held = [
        f"#   {key}: {each.dtype} {list(each.shape)}" for key, each in state.items() if hasattr(each, "dtype")
    ]
    code = program.graph_module.print_readable(print_output=False)
    return "\n".join([f"# method {name}; its state, which is not in this file:", *held, code])


def _outputs_compared(wanted: Calls) -> tuple[str, ...]:
    calls = sum(len(each) for each in wanted.values())
    return (f"outputs of {calls} call{'s' if calls > 1 else ''}",) if calls else ()


def _report(
    path: Path,
    file_format: Format,
    methods: tuple[str, ...],
    compared: tuple[str, ...],
    worst: Difference | None,
    unchecked: str | None,
) -> ExportReport:
    largest = None if worst is None else worst.largest
    steps = None if worst is None else worst.steps
    return ExportReport(path, file_format, path.stat().st_size, methods, compared, largest, steps, unchecked)
