"""Where the channels go: told by the rules, found by looking at the numbers."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from pass_hand import Hand, find

from qdqviz.passes.builtin.channels import axis_above, axis_below, sliced_axis

OPS: list[tuple[str, tuple[int, ...], tuple[Any, ...]]] = [
    *(("permute_copy.default", (2, 3, 4), (list(dims),)) for dims in itertools.permutations(range(3))),
    ("permute_copy.default", (2, 3, 4), ([-1, 0, -2],)),
    *(("transpose_copy.int", (2, 3, 4), dims) for dims in itertools.product(range(-3, 3), repeat=2)),
    *(("unsqueeze_copy.default", (2, 3), (dim,)) for dim in range(-3, 3)),
    ("squeeze_copy.default", (1, 3, 1, 4), ()),
    *(("squeeze_copy.dim", (1, 3, 1, 4), (dim,)) for dim in range(-4, 4)),
    *(("squeeze_copy.dims", (1, 3, 1, 4), (list(dims),)) for dims in ([0], [2], [0, 2], [-2], [0, 1], [3])),
    *(
        ("view_copy.default", (2, 3, 4), (list(shape),))
        for shape in [
            (6, 4),
            (2, 12),
            (24,),
            (2, 3, 2, 2),
            (2, 3, 4),
            (1, 2, 3, 4),
            (2, 1, 3, 4, 1),
            (3, 2, 4),
        ]
    ),
    *(
        ("view_copy.default", (4, 6), (list(shape),))
        for shape in [(4, 2, 3), (2, 2, 6), (6, 4), (8, 3), (4, -1)]
    ),
    *(("view_copy.default", (1, 4), (list(shape),)) for shape in [(4,), (4, 1), (2, 2), (1, 1, 4)]),
    ("expand_copy.default", (1, 3), ([2, 3],)),
    ("expand_copy.default", (2, 3), ([4, 2, 3],)),
    ("expand_copy.default", (1, 3), ([5, -1, -1],)),
    *(("slice_copy.Tensor", (4, 3), (dim, 1, 3)) for dim in (0, 1, -1, -2)),
    *(("slice_copy.Tensor", (4, 3), (dim, 0, 9, 1)) for dim in (0, 1)),
    ("slice_copy.Tensor", (4, 3), (0, 0, 4, 2)),
    *(("select_copy.int", (2, 3, 4), (dim, 1)) for dim in range(-3, 3)),
    *(("unfold_copy.default", (4, 3), (dim, 2, 1)) for dim in (0, 1, -1)),
    ("clone.default", (2, 3), ()),
]


def built(op: str, shape: tuple[int, ...], args: tuple[Any, ...]) -> Any:
    hand = Hand()
    return find(hand.done(hand.op(f"aten.{op}", hand.input(*shape), *args)), op.split(".")[0])


def numbers(shape: tuple[int, ...], axis: int) -> torch.Tensor:
    """A tensor that holds each element's index along an axis."""
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return torch.arange(shape[axis]).view(along).expand(shape).contiguous()


def axes_that_count(tensor: torch.Tensor, channels: int) -> set[int]:
    """The axes along which a tensor holds 0, 1, 2 ... up to all the channels."""
    return {
        axis
        for axis in range(tensor.dim())
        if tensor.shape[axis] == channels and torch.equal(tensor, numbers(tuple(tensor.shape), axis))
    }


@pytest.mark.parametrize(("op", "shape", "args"), OPS, ids=[f"{op}{args}" for op, _, args in OPS])
def test_the_axis_below_an_op_is_where_the_channels_are_found_again(op, shape, args):
    node = built(op, shape, args)
    for axis in range(len(shape)):
        moved = node.target(numbers(shape, axis), *args)
        found = axes_that_count(moved, shape[axis])
        for spelled in (axis, axis - len(shape)):
            told = axis_below(node, spelled)
            if shape[axis] == 1:
                assert told is None or told in found
            else:
                assert {told} == (found or {None})


@pytest.mark.parametrize(("op", "shape", "args"), OPS, ids=[f"{op}{args}" for op, _, args in OPS])
def test_the_axis_above_an_op_is_where_its_channels_come_from(op, shape, args):
    node = built(op, shape, args)
    after = node.meta["val"].dim()
    for axis in range(after):
        for spelled in (axis, axis - after):
            told = axis_above(node, spelled)
            if told is None:
                continue
            moved = node.target(numbers(shape, told), *args)
            assert axis in axes_that_count(moved, shape[told])
    # And no axis is missed: every axis that leads down leads up again.
    for axis in range(len(shape)):
        below = axis_below(node, axis)
        assert below is None or axis_above(node, below) == axis


def test_the_sliced_axis_is_counted_from_the_front():
    assert [sliced_axis(built("slice_copy.Tensor", (4, 3), (dim, 1, 3))) for dim in (0, 1, -1, -2)] == [
        0,
        1,
        1,
        0,
    ]
    assert sliced_axis(built("select_copy.int", (4, 3), (0, 1))) is None


def test_a_symbolic_batch_does_not_hide_the_channels():
    hand = Hand()
    x = hand.input(5, 3, 4, dynamic=(0,))
    flat = hand.op("aten.view_copy.default", x, [-1, 3, 2, 2])
    merged = hand.op("aten.view_copy.default", x, [-1, 4])
    module = hand.done(flat, merged)
    assert [axis_below(find(module, "view", 0), axis) for axis in range(3)] == [0, 1, None]
    assert [axis_below(find(module, "view", 1), axis) for axis in range(3)] == [None, None, 1]
