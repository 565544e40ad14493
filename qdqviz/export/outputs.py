"""What a program gives for its example inputs, here and from the file that was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from qdqviz.errors import ExportFailedError
from qdqviz.export.child import clone, run_exported
from qdqviz.export.compare import Difference, difference
from qdqviz.load.copying import copy_program
from qdqviz.load.loaded import exported_of
from qdqviz.load.messages import describe_error

STEPS_ALLOWED = 1.001
"""Quantization steps by which a lowered program's quantized output may differ from eager's: one, and the
rounding of the scale to float32."""

RELATIVE_ALLOWED = 0.01
"""Share of the largest number in an output that is not quantized by which a lowered program may differ."""

Calls = dict[str, list[list[Any]]]
"""Method -> flat values of each call."""


def calls_of(
    programs: Mapping[str, Any], inputs: tuple[Any, ...] | None, keywords: Mapping[str, Any] | None
) -> Calls:
    """Flat inputs of the calls that are compared: two calls where a program keeps state, else one.

    Args:
        programs: method -> ExportedProgram.
        inputs: example inputs by position; None takes those of each program.
        keywords: example inputs by name.

    Returns:
        Nothing for a method that has no inputs.
    """
    calls: Calls = {}
    for name, program in programs.items():
        given = (inputs, dict(keywords or {})) if inputs is not None else program.example_inputs
        if given is not None:
            repeated = 2 if program.graph_signature.buffers_to_mutate else 1
            calls[name] = [pytree.tree_leaves(given)] * repeated
    return calls


def eager(program: Any, methods: Sequence[str], calls: Calls) -> tuple[Calls, str | None]:
    """Outputs of a program in this process, and why some could not be computed.

    Raises:
        ExportFailedError: the program does not run on its inputs.
    """
    outputs: Calls = {}
    unchecked = None
    for name in methods:
        if name not in calls:
            unchecked = f"outputs of {name}: there are no example inputs (--inputs)"
            continue
        try:
            outputs[name] = _run(program, name, calls[name])
        except NotImplementedError as error:
            unchecked = f"outputs of {name}: {describe_error(error)}"
        except Exception as error:
            raise ExportFailedError(
                f"the program does not run on its example inputs: {describe_error(error)}"
            ) from error
    return outputs, unchecked


def compare(
    wanted: Calls,
    found: Mapping[str, list[list[Any]]],
    steps: Mapping[str, list[float | None]],
    *,
    exact: bool,
) -> Difference | None:
    """The largest difference of all methods and calls; None if there are none.

    Args:
        wanted: the program's outputs.
        found: the file's.
        steps: method -> quantization step of each output.
        exact: whether any difference is too much.

    Raises:
        ExportFailedError: a difference is larger than allowed.
    """
    differences: list[Difference] = []
    for name, expected in wanted.items():
        for call, (one, other) in enumerate(zip(expected, found[name], strict=True)):
            each = difference(one, other, steps[name])
            if not _allowed(each, exact):
                raise ExportFailedError(f"{name} reads back different in call {call + 1}: {_say(each)}")
            differences.append(each)
    return max(differences, key=lambda each: each.largest, default=None)


def _run(program: Any, method: str, calls: list[list[Any]]) -> list[list[Any]]:
    copied = copy_program(program)
    exported = exported_of(copied, method)
    if exported is not None:
        exported.graph_module.recompile()
        return run_exported(exported, calls)
    copied.recompile()
    with torch.no_grad():
        return [clone(pytree.tree_leaves(copied(*clone(flat)))) for flat in calls]


def _allowed(each: Difference, exact: bool) -> bool:
    if each.shapes or exact:
        return each.largest == 0.0
    return (each.steps or 0.0) <= STEPS_ALLOWED and each.relative <= RELATIVE_ALLOWED


def _say(each: Difference) -> str:
    if each.shapes:
        return each.shapes
    steps = "" if each.steps is None else f", {each.steps:.3g} quantization steps"
    return f"outputs are up to {each.largest:.3g} apart{steps}"
