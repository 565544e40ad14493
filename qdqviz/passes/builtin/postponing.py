"""Moves a dequantize below one op that moves data: worked out first, then done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torch.fx import Node

from qdqviz.passes.builtin.channels import axis_below, sliced_axis
from qdqviz.passes.builtin.metadata import copied_metadata, set_value
from qdqviz.passes.builtin.ops import argument, arguments_with, source_of
from qdqviz.passes.builtin.quantization import is_per_channel
from qdqviz.passes.builtin.values import UNKNOWN, Computed, compute, compute_node, value_of

PER_CHANNEL_PARAMETERS = ("scales", "zero_points")
"""Arguments of a per-channel op that have one element a channel."""


@dataclass(frozen=True)
class Postponed:
    """One op that will work on integers, and the dequantize that will follow it."""

    user: Node
    """The op that moves data."""

    moved: Computed
    """What it will compute from the integers."""

    axis: int | None
    """The dequantize's axis below the op; None per tensor."""

    sliced: dict[str, Computed]
    """The scales and zero points that have to be sliced like the channels, and what that gives."""

    dequantized: Computed = UNKNOWN
    """What the dequantize will compute."""


def plan(dequantize: Node, user: Node) -> Postponed:
    """Works out a dequantize's place below one of its users, without touching the graph."""
    integers = value_of(source_of(dequantize))
    moved = UNKNOWN if integers is None else compute_node(user, {dequantize: integers})
    axis = _axis(dequantize, user)
    planned = Postponed(user, moved, axis, _sliced_parameters(dequantize, user, axis))
    known = {user: moved.value}
    for name, sliced in planned.sliced.items():
        known[argument(dequantize, name)] = sliced.value
    args, kwargs = _arguments(dequantize, user, axis)
    return replace(planned, dequantized=compute(dequantize.target, args, kwargs, known))


def postpone(dequantize: Node, plans: list[Postponed]) -> None:
    """Lets the users work on the integers, and puts a copy of the dequantize below each of them."""
    graph = dequantize.graph
    for each in plans:
        user = each.user
        args, kwargs = _arguments(dequantize, user, each.axis)
        with graph.inserting_after(user):
            below = graph.create_node("call_function", dequantize.target, args, kwargs)
        below.meta = copied_metadata(dequantize)
        set_value(below, each.dequantized)
        for name, sliced in each.sliced.items():
            below.replace_input_with(argument(dequantize, name), _slice_parameter(below, name, user, sliced))
        user.replace_all_uses_with(below, lambda other, below=below: other is not below)
        user.replace_input_with(dequantize, source_of(dequantize))
        set_value(user, each.moved)
    graph.erase_node(dequantize)


def _axis(dequantize: Node, user: Node) -> int | None:
    if not is_per_channel(dequantize):
        return None
    axis = argument(dequantize, "axis")
    below = axis_below(user, axis)
    # A slice of the channels leaves them where they are, only fewer.
    return sliced_axis(user) if below is None else below


def _arguments(dequantize: Node, user: Node, axis: int | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    new: dict[str, Any] = {"input": user}
    if axis is not None:
        new["axis"] = axis
    return arguments_with(dequantize, **new)


def _sliced_parameters(dequantize: Node, user: Node, axis: int | None) -> dict[str, Computed]:
    """The scales and zero points that a slice of the channels has to slice too; none for any other op."""
    if axis is None or axis_below(user, argument(dequantize, "axis")) is not None:
        return {}
    found = {}
    for name in PER_CHANNEL_PARAMETERS:
        parameter = argument(dequantize, name)
        if isinstance(parameter, Node):
            args, kwargs = arguments_with(user, self=parameter, dim=0)
            found[name] = compute(user.target, args, kwargs)
    return found


def _slice_parameter(dequantize: Node, name: str, user: Node, value: Computed) -> Node:
    """Slices the scales or the zero points the way that `user` slices the channels."""
    args, kwargs = arguments_with(user, self=argument(dequantize, name), dim=0)
    with dequantize.graph.inserting_before(dequantize):
        sliced = dequantize.graph.create_node("call_function", user.target, args, kwargs)
    sliced.meta = copied_metadata(dequantize)
    set_value(sliced, value)
    return sliced
