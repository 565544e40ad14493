"""The quantization grid of a value: its own, or that of the quantize that it goes into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from qdqviz.check.difference import Grid
from qdqviz.ir.computed import data_source
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState, OpInfo
from qdqviz.ir.qparams import QParams, qparams
from qdqviz.ir.roles import Role, role
from qdqviz.ir.values import Ref, Value

LookUp = Callable[[int], Any]
"""The value of a node, by identity."""


def grid_of(
    body: Body, node: int, ops: Mapping[str, OpInfo], look_up: LookUp, user: int | None = None
) -> Grid | None:
    """The grid of a node's value; None where it is not quantized.

    A value that data movement passes on has the grid of its origin; a real value that is computed has that
    of the first quantize that it reaches through data movement.

    Args:
        body: The node's graph.
        node: Its identity.
        ops: What is known of call targets.
        look_up: Values of nodes that hold scales and zero points.
        user: The user that the value is looked at for: if it quantizes, its grid counts.
    """
    asking = None if user is None else body.get(user)
    if asking is not None and role(asking) is Role.QUANTIZE and data_source(asking) == node:
        known = qparams(asking, ops)
        return None if known is None else _real_grid(known, look_up)
    state = body.get(node)
    seen: set[int] = set()
    while state is not None and state.id not in seen:
        seen.add(state.id)
        found = _made(state, ops, look_up)
        if found is not None:
            return found
        source = data_source(state) if role(state) is Role.MOVEMENT else None
        state = None if source is None else body.get(source)
    return _consumed(body, node, ops, look_up)


def _made(node: NodeState, ops: Mapping[str, OpInfo], look_up: LookUp) -> Grid | None:
    """The grid of what a node itself makes."""
    known = qparams(node, ops)
    kind = role(node)
    if known is None or kind is Role.QPARAMS:
        return None
    if kind is Role.DEQUANTIZE:
        return _real_grid(known, look_up)
    low, high = _integer_bounds(known)
    return Grid(1.0, low, high)


def _consumed(body: Body, node: int, ops: Mapping[str, OpInfo], look_up: LookUp) -> Grid | None:
    """The grid of the quantize that a real value goes into."""
    reached, queue = {node}, [node]
    for current in queue:
        for user in body.users(current):
            state = body[user]
            kind = role(state)
            if kind is Role.QUANTIZE and data_source(state) == current:
                known = qparams(state, ops)
                return None if known is None else _real_grid(known, look_up)
            if kind is Role.MOVEMENT and user not in reached and len(reached) < 64:
                reached.add(user)
                queue.append(user)
    return None


def _real_grid(known: QParams, look_up: LookUp) -> Grid | None:
    scale = _number(known.scale, look_up)
    if scale is None or scale <= 0:
        return None
    zero_point = _number(known.zero_point, look_up)
    low, high = _integer_bounds(known)
    if zero_point is None or known.scheme != "per_tensor":
        return Grid(scale)
    return Grid(
        scale,
        None if low is None else (low - zero_point) * scale,
        None if high is None else (high - zero_point) * scale,
    )


def _integer_bounds(known: QParams) -> tuple[float | None, float | None]:
    low, high = _as_float(known.quant_min), _as_float(known.quant_max)
    dtype = getattr(torch, known.dtype, None) if known.dtype else None
    if isinstance(dtype, torch.dtype) and not dtype.is_floating_point and dtype is not torch.bool:
        limits = torch.iinfo(dtype)
        low = float(limits.min) if low is None else low
        high = float(limits.max) if high is None else high
    return low, high


def _number(value: Value, look_up: LookUp) -> float | None:
    """A scale or zero point as one number: the largest where there are several."""
    if isinstance(value, Ref):
        found = look_up(value.node)
        if isinstance(found, torch.Tensor) and found.numel():
            return float(found.detach().double().max())
        return float(found) if isinstance(found, int | float) else None
    return _as_float(value)


def _as_float(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None
