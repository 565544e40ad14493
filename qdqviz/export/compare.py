"""Compares outputs, in quantization steps where an output is quantized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

DEQUANTIZE = "dequantize_per"
"""Beginning of the names of ops that turn integers into floats by a scale."""

QUANTIZE = "quantize_per"
"""Beginning of the names of ops whose result is in steps."""

MOVES_DATA = (
    "view",
    "permute",
    "transpose",
    "reshape",
    "squeeze",
    "unsqueeze",
    "expand",
    "clone",
    "slice",
    "t",
    "_clone_dim_order",
)
"""Ops (also with `_copy`) that pass the values of their first input on."""


@dataclass(frozen=True)
class Difference:
    """How far apart the outputs of two programs are."""

    largest: float
    """Largest absolute difference; 0.0 if all are equal, infinity where only one of two numbers is finite."""
    steps: float | None
    """The largest in quantization steps of its output; None if no output is quantized."""
    relative: float
    """The largest of an output that is not quantized, relative to the largest number in that output."""
    shapes: str | None
    """Which outputs differ in number, kind, shape or dtype; None if none do."""


def output_steps(program: Any) -> list[float | None]:
    """Size of one quantization step of each user output of an ExportedProgram; None where it has none.

    An output counts as quantized if it comes from a quantize or dequantize op through ops that only move
    data. The step of a dequantize is its scale, the largest one of several.
    """
    user_outputs = set(program.graph_signature.user_outputs)
    constants = {**program.state_dict, **program.constants}
    lifted = {
        spec.arg.name: constants.get(spec.target)
        for spec in program.graph_signature.input_specs
        if spec.target is not None
    }
    outputs = program.graph.output_node().args[0]
    nodes = [node for node in outputs if getattr(node, "name", None) in user_outputs]
    return [_step(node, lifted) for node in nodes]


def difference(wanted: Sequence[Any], found: Sequence[Any], steps: Sequence[float | None] = ()) -> Difference:
    """Compare flat outputs.

    Args:
        wanted: outputs of the program.
        found: outputs of the file.
        steps: quantization step of each output, None where it has none; missing ones count as None.
    """
    shapes = _shape_difference(wanted, found)
    if shapes is not None:
        return Difference(float("inf"), None, float("inf"), shapes)
    largest, relative, in_steps = 0.0, 0.0, None
    for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
        distance = _distance(one, other)
        largest = max(largest, distance)
        step = steps[index] if index < len(steps) else None
        if step:
            in_steps = max(in_steps or 0.0, distance / step)
        elif distance:
            relative = max(relative, distance / max(_magnitude(one), 1e-12))
    return Difference(largest, in_steps, relative, None)


def _step(node: Any, lifted: dict[str, Any]) -> float | None:
    while True:
        schema = getattr(node.target, "_schema", None)
        operation = "" if schema is None else schema.name.split("::")[1].removesuffix("_copy")
        if operation.startswith(QUANTIZE):
            return 1.0
        if operation.startswith(DEQUANTIZE):
            return _scale(node.args[1], lifted) if len(node.args) > 1 else None
        if operation not in MOVES_DATA or not node.args or not isinstance(node.args[0], torch.fx.Node):
            return None
        node = node.args[0]


def _scale(scale: Any, lifted: dict[str, Any]) -> float | None:
    if isinstance(scale, torch.fx.Node):
        value = lifted.get(scale.name)
        return float(value.abs().max()) if isinstance(value, torch.Tensor) and value.numel() else None
    return float(scale) if isinstance(scale, float | int) else None


def _shape_difference(wanted: Sequence[Any], found: Sequence[Any]) -> str | None:
    if len(wanted) != len(found):
        return f"{len(found)} outputs instead of {len(wanted)}"
    for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
        kinds = [_kind(one), _kind(other)]
        if kinds[0] != kinds[1]:
            return f"output {index} is {kinds[1]} instead of {kinds[0]}"
    return None


def _kind(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    return type(value).__name__


def _distance(one: Any, other: Any) -> float:
    if not isinstance(one, torch.Tensor):
        return 0.0 if one == other else float("inf")
    if one.numel() == 0:
        return 0.0
    unequal = ~((one == other) | ((one != one) & (other != other)))  # NaN equals NaN
    if not bool(unequal.any()):
        return 0.0
    wide = torch.complex128 if one.is_complex() else torch.float64 if one.is_floating_point() else torch.int64
    distances = (one[unequal].to(wide) - other[unequal].to(wide)).abs().to(torch.float64)
    return float(distances.nan_to_num(nan=float("inf"), posinf=float("inf")).max())


def _magnitude(value: Any) -> float:
    if not isinstance(value, torch.Tensor) or value.numel() == 0:
        return 0.0
    finite = value[value.isfinite()]
    if finite.numel() == 0:
        return 0.0
    return float((finite if finite.is_complex() else finite.to(torch.float64)).abs().max())
