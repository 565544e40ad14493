"""How far two values are apart, and in what way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from qdqviz.check.report import Kind

TOLERANCE = {
    torch.float64: 1e-9,
    torch.float32: 3e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
    torch.complex64: 3e-5,
    torch.complex128: 1e-9,
}
"""Share of the largest number in a tensor by which floating-point values may differ and count as equal.

It is what another order of summation makes of some thousand products; integers have to be equal."""

MOSTLY = 0.9
"""Share of the differing elements that have to be at a bound for a difference to be one of saturation."""

ONE_STEP = 1.001
"""Steps that still count as one: scales are rounded to float32."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The numbers that a quantized value can take."""

    step: float
    """Distance of two neighbours: 1 for integers, the scale for real values."""
    low: float | None = None
    """Least number, or None where it is not known."""
    high: float | None = None
    """Greatest number, or None where it is not known."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What two values differ by."""

    kind: Kind | None
    """None where they count as equal."""
    max_abs: float
    """Largest absolute difference; infinity where shapes differ, or only one of two numbers is finite."""
    steps: float | None = None
    """The same in steps of the grid; None without a grid."""
    sqnr: float | None = None
    """10 log10 of the old values' power over the difference's; None where either is zero or not finite."""
    place: str = ""
    """Index of the largest difference, such as `[0, 3]`; empty for numbers."""
    detail: str = ""
    """What differs, in a few words."""


SAME = Difference(None, 0.0)
"""Nothing differs."""


def difference(old: Any, new: Any, grid: Grid | None = None, other: Grid | None = None) -> Difference:
    """Compare two values: tensors, numbers, or structures of them.

    Args:
        old: The value before.
        new: The value after.
        grid: The grid of the old value, if it is quantized.
        other: The grid of the new value.
    """
    if old is new:
        return SAME
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return _structure(list(old), list(new), grid, other)
    if isinstance(old, dict) and isinstance(new, dict) and list(old) == list(new):
        return _structure(list(old.values()), list(new.values()), grid, other)
    if isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
        return _tensors(old, new, grid, other)
    return _plain(old, new)


def _structure(old: list[Any], new: list[Any], grid: Grid | None, other: Grid | None) -> Difference:
    if len(old) != len(new):
        return Difference("shape_dtype", math.inf, detail=f"{len(new)} values instead of {len(old)}")
    found = [difference(one, two, grid, other) for one, two in zip(old, new, strict=True)]
    return max(found, key=lambda each: (each.kind is not None, each.max_abs), default=SAME)


def _plain(old: Any, new: Any) -> Difference:
    if _is_number(old) and _is_number(new):
        apart = abs(old - new)
        same = apart <= TOLERANCE[torch.float32] * abs(old) or (old != old and new != new)
        return Difference(
            None if same else "wrong", float(apart), detail="" if same else f"{new} instead of {old}"
        )
    if type(old) is type(new) and old == new:
        return SAME
    names = [type(value).__name__ if value is not None else "None" for value in (old, new)]
    what = f"{names[1]} instead of {names[0]}" if names[0] != names[1] else f"another {names[0]}"
    return Difference("shape_dtype", math.inf, detail=what)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _tensors(old: Any, new: Any, grid: Grid | None, other: Grid | None) -> Difference:
    if old.shape != new.shape or old.dtype != new.dtype:
        return Difference("shape_dtype", _range_apart(old, new), detail=f"{_say(new)} instead of {_say(old)}")
    if old.numel() == 0:
        return SAME
    if old.is_complex():
        old, new = torch.view_as_real(old), torch.view_as_real(new)
    exact = not old.is_floating_point()
    one, two = old.detach().to(torch.float64), new.detach().to(torch.float64)
    apart = (one - two).abs()
    apart[(one == two) | (one.isnan() & two.isnan())] = 0.0
    apart = apart.nan_to_num(nan=math.inf, posinf=math.inf)
    largest = float(apart.max())
    if largest == 0.0:
        return SAME
    allowed = 0.0 if exact else TOLERANCE.get(old.dtype, 3e-5) * _magnitude(one)
    steps = largest / grid.step if grid is not None and grid.step > 0 else None
    sqnr, place = _sqnr(one, apart), _place(apart)
    if largest <= allowed:
        return Difference(None, largest, steps, sqnr, place)
    kind = _kind(one, two, apart > allowed, steps, grid, other)
    return Difference(kind, largest, steps, sqnr, place, _share(apart > allowed))


def _kind(
    old: Any, new: Any, differing: Any, steps: float | None, grid: Grid | None, other: Grid | None
) -> Kind:
    if grid is not None and steps is not None and steps <= ONE_STEP:
        return "quantization_step"
    if grid is not None and steps is not None:
        differing = (old - new).abs() > ONE_STEP * grid.step  # the others differ by rounding only
    # Clamped now and not before, or the other way round.
    if _mostly_clamped(new, old, differing, other or grid) or _mostly_clamped(old, new, differing, grid):
        return "saturates"
    return "wrong"


def _mostly_clamped(clamped: Any, free: Any, differing: Any, grid: Grid | None) -> bool:
    """Whether nearly all differing elements are at a bound of the grid in `clamped`, and not in `free`."""
    bounds = [] if grid is None else [bound for bound in (grid.low, grid.high) if bound is not None]
    if grid is None or not bounds:
        return False
    slack, at_bound = grid.step * 1e-3, torch.zeros_like(differing)
    for bound in bounds:
        at_bound |= ((clamped - bound).abs() <= slack) & ((free - bound).abs() > slack)
    return int((at_bound & differing).sum()) >= MOSTLY * int(differing.sum())


def _sqnr(old: Any, apart: Any) -> float | None:
    signal, noise = float(old.nan_to_num(0.0, 0.0, 0.0).square().sum()), float(apart.square().sum())
    if signal <= 0.0 or noise <= 0.0 or not math.isfinite(noise):
        return None
    return 10.0 * math.log10(signal / noise)


def _place(apart: Any) -> str:
    if apart.dim() == 0:
        return ""
    index = torch.unravel_index(apart.argmax(), apart.shape)
    return str([int(each) for each in index])


def _magnitude(values: Any) -> float:
    finite = values[values.isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0


def _range_apart(old: Any, new: Any) -> float:
    """Largest difference of values that differ in dtype only; infinity where shapes differ."""
    if old.shape != new.shape or old.is_complex() or new.is_complex():
        return math.inf
    if old.numel() == 0:
        return 0.0
    return float((old.detach().double() - new.detach().double()).abs().nan_to_num(nan=math.inf).max())


def _share(differing: Any) -> str:
    return f"{int(differing.sum()):,} of {differing.numel():,} elements differ"


def _say(tensor: Any) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
