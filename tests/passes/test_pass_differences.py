"""Each documented difference to upstream, on a small graph where it shows, and one where it does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from pass_differences import (
    BRANCH,
    CHAIN,
    DIFFERENCES,
    HOIST,
    PERMUTE,
    POSTPONE,
    SINK,
    Comparison,
    Difference,
)
from pass_hand import DQ, DQC, INT8, OTHER, QC, Hand, Q
from torch.fx import GraphModule

DOCS = Path(__file__).parents[2] / "docs" / "passes.md"
QT = "quantized_decomposed.quantize_per_tensor.tensor"
DQT = "quantized_decomposed.dequantize_per_tensor.tensor"
CHANNEL_RANGE = (-128, 127, torch.int8)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return Comparison()


def plain() -> GraphModule:
    """A graph in which no difference applies."""
    hand = Hand()
    return hand.done(hand.op("aten.relu.default", hand.input(4)))


def per_channel_below_a_relu() -> GraphModule:
    hand = Hand()
    t = hand.op("aten.tanh.default", hand.input(2, 3))
    other = hand.op("aten.relu.default", hand.input(2))
    return hand.done(hand.op(QC, t, *hand.channels(3), 1, *CHANNEL_RANGE), other)


def dynamic(last: str) -> Callable[[], GraphModule]:
    def build() -> GraphModule:
        hand = Hand()
        x, scale, zero_point = hand.input(4), hand.given(torch.tensor([0.1])), hand.given(torch.tensor([0]))
        arguments = (scale, zero_point, -128, 127, torch.int8)
        moved = hand.op("aten.view_copy.default", hand.op("aten.tanh.default", x), [2, 2])
        other = hand.op("aten.relu.default", hand.input(2))
        d = hand.op(DQT, hand.op(QT, moved, *arguments), *arguments)
        third = hand.op("aten.sigmoid.default", hand.input(2))
        return hand.done(hand.op(last, d, *([[4]] if "view" in last else [])), other, third)

    return build


def slice_then_quantize_far_below() -> GraphModule:
    hand = Hand()
    t = hand.op("aten.tanh.default", hand.input(4))
    first = hand.op("aten.relu.default", hand.input(2))
    part = hand.op("aten.slice_copy.Tensor", t, 0, 0, 2)
    second = hand.op("aten.relu.default", hand.input(2))
    return hand.done(hand.op(Q, part, *INT8), first, second)


def two_quantized_inputs() -> GraphModule:
    hand = Hand()
    first, second = hand.input(4), hand.input(4)
    return hand.done(hand.op(Q, first, *INT8), hand.op(Q, second, *OTHER))


def two_kinds_of_dequantize_before_one_user() -> GraphModule:
    hand = Hand()
    channels = hand.op(DQC, hand.input(2, 3, dtype=torch.int8), *hand.channels(3), 1, *CHANNEL_RANGE)
    tensor = hand.op(DQ, hand.input(2, 3, dtype=torch.int8), *INT8)
    other = hand.op("aten.relu.default", hand.input(2))
    return hand.done(hand.op("aten.add.Tensor", tensor, channels), other)


def per_channel_quantize_behind_a_permute() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op(QC, p, *hand.channels(3), 0, *CHANNEL_RANGE))


def cat_of_a_view() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    joined = hand.op("aten.cat.default", [v, hand.input(2, 2)])
    return hand.done(hand.op(Q, joined, *INT8))


def per_channel_dequantize_before_a_permute() -> GraphModule:
    hand = Hand()
    d = hand.op(DQC, hand.input(3, 3, dtype=torch.int8), *hand.channels(3), 0, *CHANNEL_RANGE)
    return hand.done(hand.op("aten.permute_copy.default", d, [1, 0]))


def a_slice_and_the_whole() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    parts = [hand.op("aten.slice_copy.Tensor", d, 0, 0, end) for end in (4, 2)]
    return hand.done(*(hand.op("aten.relu.default", part) for part in parts))


def overlapping_slices_and_an_output() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    parts = [hand.op("aten.slice_copy.Tensor", d, 0, start, start + 3) for start in (0, 1)]
    return hand.done(hand.op(Q, parts[0], *INT8), parts[1])


def dequantize_with_out_dtype() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8, out_dtype=torch.float16)
    return hand.done(hand.op("aten.view_copy.default", d, [2, 2]))


def three_slices(*parameters: tuple) -> Callable[[], GraphModule]:
    def build() -> GraphModule:
        hand = Hand()
        y = hand.op("aten.tanh.default", hand.input(6))
        parts = [hand.op("aten.slice_copy.Tensor", y, 0, start, start + 2) for start in (0, 2, 4)]
        return hand.done(*(hand.op(Q, part, *own) for part, own in zip(parts, parameters, strict=True)))

    return build


def branch_with_a_computed_scale() -> GraphModule:
    hand = Hand()
    scale, zero_point = hand.given(torch.tensor([0.1])), hand.given(torch.tensor([0]))
    moved = hand.op("aten.view_copy.default", hand.op("aten.tanh.default", hand.input(4)), [2, 2])
    return hand.done(hand.op(QT, moved, scale, zero_point, -128, 127, torch.int8))


def symbolic_permute_and_view() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(5, 3, dynamic=(0,)), [1, 0])
    return hand.done(hand.op("aten.view_copy.default", p, [3, 1, -1]))


def negative_permute_and_view() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3, 4), [-1, 0, -2])
    return hand.done(hand.op("aten.view_copy.default", p, [4, 2, 1, 3]))


LATE = (0.05, 100, -128, 127, torch.int8)
SHOWN: list[tuple[str, str, Callable[[], GraphModule]]] = [
    ("hoists per-channel quantizes too", HOIST, per_channel_below_a_relu),
    ("moves dynamic q/dq (.tensor overloads) too", SINK, dynamic("aten.neg.default")),
    ("moves dynamic q/dq (.tensor overloads) too", POSTPONE, dynamic("aten.view_copy.default")),
    ("follows what it hoists in one run", HOIST, slice_then_quantize_far_below),
    ("leaves neighbours in their order", HOIST, two_quantized_inputs),
    ("leaves neighbours in their order", SINK, two_kinds_of_dequantize_before_one_user),
    ("moves per-channel quantizes with their axis", CHAIN, per_channel_quantize_behind_a_permute),
    ("goes on above a cat in the same run", CHAIN, cat_of_a_view),
    ("moves per-channel dequantizes with their axis", POSTPONE, per_channel_dequantize_before_a_permute),
    ("counts every slice's bytes", POSTPONE, a_slice_and_the_whole),
    ("counts an output as a user", POSTPONE, overlapping_slices_and_an_output),
    ("keeps out_dtype", POSTPONE, dequantize_with_out_dtype),
    ("requantizes only between different parameters", BRANCH, three_slices(INT8, INT8, INT8)),
    ("leaves quantizes with a computed scale in their place", BRANCH, branch_with_a_computed_scale),
    ("lets a view infer a symbolic size", PERMUTE, symbolic_permute_and_view),
    ("counts a permute's dimensions from the front", PERMUTE, negative_permute_and_view),
]


@pytest.mark.parametrize(("difference", "name", "build"), SHOWN, ids=[f"{n}-{d}" for d, n, _ in SHOWN])
def test_a_difference_shows_and_explains_what_is_different_alone(difference, name, build, comparison):
    assert comparison.explain(name, build()) == [difference]


def test_the_most_common_parameters_win_over_upstreams_largest_zero_point(comparison):
    used = comparison.explain(BRANCH, three_slices(LATE, INT8, INT8)())
    assert used == ["puts the most common parameters above", "requantizes only between different parameters"]


@pytest.mark.parametrize("difference", DIFFERENCES, ids=[each.name for each in DIFFERENCES])
def test_no_difference_applies_where_there_is_nothing_to_part_over(difference: Difference, comparison):
    assert not difference.applies(plain())
    for name in difference.passes:
        assert comparison.explain(name, plain()) == []


def test_a_difference_does_not_explain_what_is_not_its_own(comparison, monkeypatch):
    """With our pass broken on purpose, nothing explains the result any more."""
    monkeypatch.setattr("qdqviz.passes.builtin.postpone_dequantize.has_no_users", lambda _node: True)
    with pytest.raises(AssertionError, match="do not explain it"):
        comparison.explain(POSTPONE, dequantize_with_out_dtype())


def test_every_difference_is_shown_here_and_stands_in_the_documentation():
    shown = {difference for difference, *_ in SHOWN} | {"puts the most common parameters above"}
    assert shown == {each.name for each in DIFFERENCES}
    text = DOCS.read_text()
    assert [each.name for each in DIFFERENCES if each.name not in text] == []
