"""Cases for the guards of the five reordering passes."""

from __future__ import annotations

from typing import Any

import torch
from pass_case import Cases
from pass_hand import DQ, DQC, INT8, QC, Hand, Q, literal
from torch.fx import GraphModule

from qdqviz.passes.names import REORDER

CASES = Cases()
HOIST, SINK, CHAIN, POSTPONE, BRANCH = REORDER
QT = "quantized_decomposed.quantize_per_tensor.tensor"


# Hoist


@CASES.case(HOIST, "is_not_hoistable", focus="relu")
def hoist_relu() -> GraphModule:
    hand = Hand()
    t = hand.op("aten.tanh.default", hand.input(4))
    other = hand.op("aten.sigmoid.default", hand.input(4))
    return hand.done(hand.op("aten.relu.default", t), other)


@CASES.case(HOIST, "reads_no_node")
def hoist_of_a_literal() -> GraphModule:
    return literal(lambda value: [(Q, value, *INT8)])


@CASES.case(HOIST, "is_asked_for_its_shape", "has_other_users")
def hoist_below_size_query() -> GraphModule:
    hand = Hand("aten")
    t = hand.op("aten.tanh.default", hand.input(4, 4, dynamic=(0,)))
    size = hand.op("aten.sym_size.int", t, 0)
    other = hand.op("aten.sigmoid.default", hand.input(4))
    return hand.done(hand.op(Q, t, *INT8), other, size)


@CASES.case(HOIST, "has_other_users")
def hoist_shared_definition() -> GraphModule:
    hand = Hand()
    t = hand.op("aten.tanh.default", hand.input(4))
    other = hand.op("aten.relu.default", t)
    return hand.done(hand.op(Q, t, *INT8), other)


@CASES.case(HOIST, "stands_right_behind", focus="quantize")
def hoist_already_there() -> GraphModule:
    hand = Hand()
    first, second = hand.input(4), hand.input(4)
    qs = [hand.op(Q, first, *INT8), hand.op(Q, second, *INT8)]
    return hand.done(*qs)


@CASES.case(HOIST, "needs_a_value_from_below")
def hoist_above_its_scale() -> GraphModule:
    hand = Hand()
    x, (scales, zero_points) = hand.input(4, 4), hand.channels(4)
    t = hand.op("aten.tanh.default", x)
    computed = hand.op("aten.abs.default", hand.op("aten.relu.default", scales))
    return hand.done(hand.op(QC, t, computed, zero_points, 0, -128, 127, torch.int8))


@CASES.case(HOIST, "is_changed_between")
def hoist_past_a_change() -> GraphModule:
    hand = Hand("aten")
    x = hand.op("aten.tanh.default", hand.input(4))
    v = hand.op("aten.view.default", x, [2, 2])
    changed = hand.op("aten.relu_.default", x)
    return hand.done(hand.op(Q, v, *INT8), changed)


# Sink


@CASES.case(SINK, "is_not_sinkable", focus="quantize")
def sink_quantize() -> GraphModule:
    hand = Hand()
    q = hand.op(Q, hand.input(4), *INT8)
    other = hand.op("aten.tanh.default", hand.input(4))
    return hand.done(hand.op("aten.view_copy.default", q, [2, 2]), other)


@CASES.case(SINK, "has_no_users")
def sink_dead() -> GraphModule:
    hand = Hand()
    hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    return hand.done(hand.op("aten.tanh.default", hand.input(4)))


@CASES.case(SINK, "is_asked_for_its_shape", "has_several_users")
def sink_below_size_query() -> GraphModule:
    hand = Hand("aten")
    d = hand.op(DQ, hand.input(4, 4, dtype=torch.int8, dynamic=(0,)), *INT8)
    size = hand.op("aten.sym_size.int", d, 0)
    other = hand.op("aten.tanh.default", hand.input(4))
    return hand.done(hand.op("aten.relu.default", d), other, size)


@CASES.case(SINK, "has_several_users")
def sink_shared() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    other = hand.op("aten.tanh.default", hand.input(4))
    return hand.done(hand.op("aten.relu.default", d), hand.op("aten.sigmoid.default", d), other)


@CASES.case(SINK, "stands_right_before_its_user", focus="dequantize")
def sink_already_there() -> GraphModule:
    hand = Hand()
    first = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    second = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    return hand.done(hand.op("aten.add.Tensor", first, second))


@CASES.case(SINK, "is_changed_between")
def sink_past_a_change() -> GraphModule:
    hand = Hand("aten")
    x = hand.input(4, dtype=torch.int8)
    d = hand.op(DQ, x, *INT8)
    changed = hand.op("aten.neg_.default", x)
    return hand.done(hand.op("aten.tanh.default", d), changed)


# Chain


@CASES.case(CHAIN, "is_no_quantize", focus="relu")
def chain_relu() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    return hand.done(hand.op("aten.relu.default", v))


@CASES.case(CHAIN, "reads_no_node")
def chain_of_a_literal() -> GraphModule:
    return literal(lambda value: [(Q, value, *INT8)])


@CASES.case(CHAIN, "reads_no_node")
def chain_above_a_view_of_a_literal() -> GraphModule:
    return literal(lambda value: [("aten.view.default", value, [2, 2]), (Q, ..., *INT8)])


@CASES.case(CHAIN, "is_asked_for_its_shape", "has_other_users")
def chain_below_size_query() -> GraphModule:
    hand = Hand("aten")
    v = hand.op("aten.unsqueeze.default", hand.input(4, 4, dynamic=(0,)), 0)
    size = hand.op("aten.sym_size.int", v, 1)
    return hand.done(hand.op(Q, v, *INT8), size)


@CASES.case(CHAIN, "has_other_users")
def chain_shared() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    return hand.done(hand.op(Q, v, *INT8), hand.op("aten.relu.default", v))


@CASES.case(CHAIN, "cannot_be_split")
def chain_cat_of_integers() -> GraphModule:
    hand = Hand()
    joined = hand.op("aten.cat.default", [hand.input(4), hand.input(4, dtype=torch.int32)])
    return hand.done(hand.op(Q, joined, *INT8))


@CASES.case(CHAIN, "joins_along_the_axis")
def chain_cat_of_channels() -> GraphModule:
    hand = Hand()
    joined = hand.op("aten.cat.default", [hand.input(2, 3), hand.input(2, 3)])
    return hand.done(hand.op(QC, joined, *hand.channels(4), 0, -128, 127, torch.int8))


@CASES.case(CHAIN, "does_more_than_move_data")
def chain_above_relu() -> GraphModule:
    hand = Hand()
    return hand.done(hand.op(Q, hand.op("aten.relu.default", hand.input(4)), *INT8))


@CASES.case(CHAIN, "keeps_only_a_part")
def chain_above_slice() -> GraphModule:
    hand = Hand()
    return hand.done(hand.op(Q, hand.op("aten.slice_copy.Tensor", hand.input(4), 0, 0, 2), *INT8))


@CASES.case(CHAIN, "leaves_no_axis_above")
def chain_channels_made_by_a_view() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(8), [2, 4])
    return hand.done(hand.op(QC, v, *hand.channels(4), 1, -128, 127, torch.int8))


@CASES.case(CHAIN, "is_changed_between")
def chain_past_a_change() -> GraphModule:
    hand = Hand("aten")
    x = hand.input(4)
    copied = hand.op("aten.clone.default", x)
    changed = hand.op("aten.relu_.default", x)
    return hand.done(hand.op(Q, copied, *INT8), changed)


# Postpone


@CASES.case(POSTPONE, "is_no_dequantize", "cannot_run", focus="relu")
def postpone_relu() -> GraphModule:
    hand = Hand()
    r = hand.op("aten.relu.default", hand.input(4))
    return hand.done(hand.op("aten.view_copy.default", r, [2, 2]))


@CASES.case(POSTPONE, "reads_no_node")
def postpone_of_a_literal() -> GraphModule:
    return literal(lambda value: [(DQ, value.to(torch.int8), *INT8), ("aten.view.default", ..., [2, 2])])


@CASES.case(POSTPONE, "has_no_users")
def postpone_dead() -> GraphModule:
    return sink_dead()


@CASES.case(POSTPONE, "is_asked_for_its_shape", "is_no_slice", "makes_more_float_bytes", "cannot_run")
def postpone_below_size_query() -> GraphModule:
    hand = Hand("aten")
    d = hand.op(DQ, hand.input(4, 4, dtype=torch.int8, dynamic=(0,)), *INT8)
    size = hand.op("aten.sym_size.int", d, 0)
    return hand.done(hand.op("aten.unsqueeze.default", d, 0), size)


@CASES.case(POSTPONE, "does_more_than_move_data")
def postpone_before_relu() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    return hand.done(hand.op("aten.relu.default", d))


@CASES.case(POSTPONE, "is_no_slice")
def postpone_before_two_views() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    views = [hand.op("aten.view_copy.default", d, [2, 2]) for _ in range(2)]
    return hand.done(*(hand.op(Q, view, *INT8) for view in views))


@CASES.case(POSTPONE, "makes_more_float_bytes")
@CASES.case(POSTPONE, "feeds_more_than_quantizes")
def postpone_before_overlapping_slices() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    parts = [hand.op("aten.slice_copy.Tensor", d, 0, start, start + 3) for start in (0, 1)]
    return hand.done(hand.op(Q, parts[0], *INT8), parts[1])


@CASES.case(POSTPONE, "leaves_no_axis_below")
def postpone_channels_merged_by_a_view() -> GraphModule:
    hand = Hand()
    d = hand.op(DQC, hand.input(2, 4, dtype=torch.int8), *hand.channels(4), 1, -128, 127, torch.int8)
    return hand.done(hand.op("aten.view_copy.default", d, [4, 2]))


@CASES.case(POSTPONE, "cannot_run")
def postpone_before_a_view_of_other_strides() -> GraphModule:
    hand = Hand("aten")
    part = hand.op("aten.slice.Tensor", hand.input(4, 6, dtype=torch.int8), 1, 0, 4)
    d = hand.op(DQ, part, *INT8)
    return hand.done(hand.op("aten.view.default", d, [16]))


@CASES.case(POSTPONE, "is_changed_between")
def postpone_past_a_change() -> GraphModule:
    hand = Hand("aten")
    x = hand.input(4, dtype=torch.int8)
    d = hand.op(DQ, x, *INT8)
    changed = hand.op("aten.neg_.default", x)
    return hand.done(hand.op("aten.view.default", d, [2, 2]), changed)


# Branch


@CASES.case(BRANCH, "is_no_value", focus="constant")
def branch_below_a_constant() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    module = hand.done(hand.op(Q, v, *INT8))
    module.register_buffer("constant", torch.ones(4))
    (placeholder,) = module.graph.find_nodes(op="placeholder")
    with module.graph.inserting_after(placeholder):
        constant = module.graph.get_attr("constant")
    constant.meta["val"] = placeholder.meta["val"]
    placeholder.replace_all_uses_with(constant)
    return module


@CASES.case(BRANCH, "only_moves_data", focus="view")
def branch_below_a_view() -> GraphModule:
    hand = Hand()
    x = hand.input(4)
    v = hand.op("aten.view_copy.default", x, [2, 2])
    q = hand.op(Q, hand.op("aten.permute_copy.default", v, [1, 0]), *INT8)
    # The value above the view has another reader, so that only the view itself could be the place.
    return hand.done(q, hand.op("aten.relu.default", x))


def below(hand: Hand, node: Any) -> Any:
    """Another op below, so that the search comes to what reads it last."""
    return hand.aten("clone.default", node)


@CASES.case(BRANCH, "is_asked_for_a_shape", "ends_elsewhere")
def branch_with_size_query() -> GraphModule:
    hand = Hand("aten")
    x = hand.input(4, 4, dynamic=(0,))
    v = hand.op("aten.unsqueeze.default", x, 0)
    return hand.done(hand.op(Q, v, *INT8), hand.op("aten.sym_size.int", below(hand, v), 1))


@CASES.case(BRANCH, "ends_in_a_computed_scale", "ends_elsewhere", focus="in1")
def branch_with_computed_scale() -> GraphModule:
    hand = Hand()
    x = hand.input(4)
    scale, zero_point = hand.given(torch.tensor([0.1])), hand.given(torch.tensor([0]))
    v = hand.op("aten.view_copy.default", x, [2, 2])
    other = hand.op(QT, below(hand, v), scale, zero_point, -128, 127, torch.int8)
    return hand.done(hand.op(Q, v, *INT8), other)


@CASES.case(BRANCH, "ends_in_a_quantize_per_channel", "ends_elsewhere", focus="in1")
def branch_per_channel() -> GraphModule:
    hand = Hand()
    x, channels = hand.input(4), hand.channels(2)
    v = hand.op("aten.view_copy.default", x, [2, 2])
    other = hand.op(QC, below(hand, v), *channels, 0, -128, 127, torch.int8)
    return hand.done(hand.op(Q, v, *INT8), other)


@CASES.case(BRANCH, "ends_elsewhere", focus="in1")
def branch_with_relu() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    return hand.done(hand.op(Q, v, *INT8), hand.op("aten.relu.default", below(hand, v)))


@CASES.case(BRANCH, "reaches_no_quantize")
def branch_without_quantize() -> GraphModule:
    hand = Hand()
    hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    return hand.done(hand.op("aten.relu.default", hand.input(4)))


@CASES.case(BRANCH, "crosses_nothing", "slices_keep_too_little")
def branch_directly_quantized() -> GraphModule:
    hand = Hand()
    x = hand.input(4)
    return hand.done(hand.op(Q, x, *INT8), hand.op(Q, x, *INT8))


@CASES.case(BRANCH, "crosses_only_slices")
@CASES.case(BRANCH, "slices_keep_too_little")
def branch_with_small_slices() -> GraphModule:
    hand = Hand()
    x = hand.input(9)
    parts = [hand.op("aten.slice_copy.Tensor", x, 0, start, start + 2) for start in (0, 4)]
    return hand.done(*(hand.op(Q, part, *INT8) for part in parts))


@CASES.case(BRANCH, "is_changed_between")
def branch_past_a_change() -> GraphModule:
    hand = Hand("aten")
    x = hand.input(4)
    same = hand.op("aten.alias.default", x)
    v = hand.op("aten.view.default", same, [2, 2])
    changed = hand.op("aten.relu_.default", x)
    return hand.done(hand.op(Q, v, *INT8), changed)
