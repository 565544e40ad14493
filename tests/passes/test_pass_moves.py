"""What each reordering pass does, on graphs worked by hand, and what becomes of metadata and keywords."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pass_hand import DQ, DQC, INT8, QC, Hand, Q, find, names
from pass_structure import copy_of, equal_bits, run, shared_metadata, wrong_values
from torch.fx import GraphModule

from qdqviz.passes.builtin.advance_chain import AdvanceQuantizeOpAboveDefChainPass
from qdqviz.passes.builtin.hoist import HoistOpsCloserToDefPass
from qdqviz.passes.builtin.ops import argument, op_name
from qdqviz.passes.builtin.placement import in_place_ops
from qdqviz.passes.builtin.postpone_dequantize import PostponeDequantizeOpBelowUseChainPass
from qdqviz.passes.builtin.postpone_permute import PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView
from qdqviz.passes.builtin.sink import SinkOpsCloserToUsePass

CHANNEL_RANGE = (-128, 127, torch.int8)


def applied(each: Any, hand: Hand, *outputs: Any) -> GraphModule:
    """Runs a pass on a finished graph and checks all that must hold of any result."""
    module = hand.done(*outputs)
    for number, node in enumerate(module.graph.nodes):
        if node.op == "call_function":
            node.meta.update(debug_handle=number, stack_trace=f"line {number}", nn_module_stack={"m": number})
    before = run(copy_of(module), tuple(hand.inputs))
    result = each()(module)
    assert result.modified and result.graph_module is module
    module.graph.lint()
    assert wrong_values(module) == [] and shared_metadata(module) == []
    assert equal_bits(before, run(module, tuple(hand.inputs)))
    for node in module.graph.nodes:
        if node.op == "call_function":
            assert {"debug_handle", "stack_trace", "nn_module_stack"} <= set(node.meta), node
    return module


@pytest.fixture(params=["edge", "aten"])
def hand(request) -> Hand:
    return Hand(request.param)


def test_hoist_puts_a_quantize_behind_its_input_and_a_slice_before_it(hand):
    t = hand.op("aten.tanh.default", hand.input(4, 3))
    other = hand.op("aten.relu.default", hand.input(2))
    part = hand.aten("slice_copy.Tensor", t, 0, 0, 2)
    third = hand.op("aten.sigmoid.default", hand.input(2))
    q = hand.op(Q, part, *INT8)
    module = applied(HoistOpsCloserToDefPass, hand, q, other, third)
    assert names(module) == ["tanh", "slice", "quantize", "relu", "sigmoid"]


def test_hoist_puts_nothing_above_the_last_input(hand):
    x = hand.input(4)
    hand.op("aten.relu.default", hand.input(2))
    other = hand.op("aten.relu.default", hand.input(2))
    module = applied(HoistOpsCloserToDefPass, hand, other, hand.op(Q, x, *INT8))
    assert [node.op for node in module.graph.nodes][:3] == ["placeholder"] * 3
    assert names(module)[0] == "quantize"


def test_hoist_copies_the_scale_and_zero_point_that_stand_below():
    hand = Hand("aten")
    t = hand.op("aten.tanh.default", hand.input(2, 3))
    other = hand.op("aten.relu.default", hand.input(2))
    scales, zero_points = hand.channels(3)
    module = hand.done(hand.op(QC, t, scales, zero_points, 1, *CHANNEL_RANGE), other)
    *data, scale_values, zero_values = hand.inputs
    module.register_buffer("scales", scale_values)
    module.register_buffer("zero_points", zero_values)
    placeholders = module.graph.find_nodes(op="placeholder")
    quantize = find(module, "quantize_per_channel")
    for placeholder, name in zip(placeholders[2:], ("scales", "zero_points"), strict=True):
        with module.graph.inserting_before(quantize):
            constant = module.graph.get_attr(name)
        constant.meta["val"] = placeholder.meta["val"]
        placeholder.replace_all_uses_with(constant)
        module.graph.erase_node(placeholder)
    with module.graph.inserting_after(quantize):
        kept = module.graph.call_function(torch.ops.aten.relu.default, (quantize.args[1],))
    module.graph.output_node().args = ([*module.graph.output_node().args[0], kept],)
    before = run(copy_of(module), tuple(data))
    assert HoistOpsCloserToDefPass()(module).modified
    module.graph.lint()
    constants = {node.name: node.target for node in module.graph.nodes if node.op == "get_attr"}
    order = [
        constants.get(node.name) or op_name(node).split(".")[1] for node in list(module.graph.nodes)[2:-1]
    ]
    # The zero point had one reader and moved as a whole; the scale has another one, and stays for it.
    assert order == ["tanh", "scales", "zero_points", "quantize_per_channel", "relu", "scales", "relu"]
    assert shared_metadata(module) == []
    assert equal_bits(before, run(module, tuple(data)))


def test_sink_puts_a_dequantize_before_its_user(hand):
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    other = hand.op("aten.tanh.default", hand.input(4))
    module = applied(SinkOpsCloserToUsePass, hand, hand.op("aten.add.Tensor", other, d))
    assert names(module) == ["tanh", "dequantize", "add"]


def test_advance_goes_up_a_whole_chain_and_leaves_a_real_slice_alone(hand):
    part = hand.aten("slice_copy.Tensor", hand.input(4, 6), 0, 1, 3)
    view = hand.aten("view_copy.default", part, [2, 3, 2])
    permuted = hand.aten("permute_copy.default", view, [2, 0, 1])
    module = applied(AdvanceQuantizeOpAboveDefChainPass, hand, hand.op(Q, permuted, *INT8))
    assert names(module) == ["slice", "quantize", "view", "permute"]


def test_advance_crosses_a_slice_that_keeps_everything(hand):
    whole = hand.aten("slice_copy.Tensor", hand.input(4, 6), 0, 0, 9)
    module = applied(AdvanceQuantizeOpAboveDefChainPass, hand, hand.op(Q, whole, *INT8))
    assert names(module) == ["quantize", "slice"]


def test_advance_per_channel_takes_the_axis_along(hand):
    permuted = hand.aten("permute_copy.default", hand.input(2, 3, 4), [2, 0, 1])
    q = hand.op(QC, permuted, *hand.channels(3), 2, *CHANNEL_RANGE)
    module = applied(AdvanceQuantizeOpAboveDefChainPass, hand, q)
    assert names(module) == ["quantize_per_channel", "permute"]
    assert argument(find(module, "quantize_per_channel"), "axis") == 1


def test_advance_quantizes_what_is_joined_each_on_its_own(hand):
    first, second = (
        hand.op("aten.tanh.default", hand.input(2, 3)),
        hand.aten("permute_copy.default", hand.input(3, 2), [1, 0]),
    )
    joined = hand.op("aten.cat.default", [first, second], dim=1)
    module = applied(AdvanceQuantizeOpAboveDefChainPass, hand, hand.op(Q, joined, *INT8))
    assert names(module) == ["tanh", "quantize", "quantize", "permute", "cat"]


def test_postpone_goes_down_a_whole_chain_and_keeps_out_dtype(hand):
    d = hand.op(DQ, hand.input(2, 3, dtype=torch.int8), *INT8, out_dtype=torch.float16)
    view = hand.aten("view_copy.default", d, [3, 2])
    permuted = hand.aten("permute_copy.default", view, [1, 0])
    module = applied(PostponeDequantizeOpBelowUseChainPass, hand, hand.op("aten.relu.default", permuted))
    assert names(module) == ["view", "permute", "dequantize", "relu"]
    assert find(module, "dequantize").kwargs == {"out_dtype": torch.float16}


def test_postpone_copies_a_dequantize_below_slices_that_are_not_larger(hand):
    d = hand.op(DQ, hand.input(4, 3, dtype=torch.int8), *INT8)
    parts = [hand.aten("slice_copy.Tensor", d, 0, start, start + 2) for start in (0, 2)]
    module = applied(
        PostponeDequantizeOpBelowUseChainPass, hand, *(hand.op("aten.relu.default", part) for part in parts)
    )
    assert names(module).count("dequantize") == 2
    assert names(module)[:2] in (["slice", "dequantize"], ["slice", "slice"])


def test_postpone_below_larger_slices_needs_a_quantize_behind_every_one(hand):
    d = hand.op(DQ, hand.input(4, 3, dtype=torch.int8), *INT8)
    parts = [hand.aten("slice_copy.Tensor", d, 0, start, start + 3) for start in (0, 1)]
    module = applied(
        PostponeDequantizeOpBelowUseChainPass, hand, *(hand.op(Q, part, *INT8) for part in parts)
    )
    assert names(module).count("dequantize") == 2


AXES = [
    ("permute_copy.default", ([2, 0, 1],), 1, 2),
    ("transpose_copy.int", (0, 1), 1, 0),
    ("view_copy.default", ([2, 3, 2, 2],), 1, 1),
    ("unsqueeze_copy.default", (0,), 1, 2),
    ("expand_copy.default", ([5, 2, 3, 4],), 1, 2),
    ("select_copy.int", (0, 1), 1, 0),
    ("slice_copy.Tensor", (0, 0, 1), 1, 1),
    ("slice_copy.Tensor", (-2, 1, 3), -2, 1),
]


@pytest.mark.parametrize(("op", "args", "axis", "expected"), AXES, ids=[op for op, *_ in AXES])
def test_postpone_per_channel_takes_the_axis_along(hand, op, args, axis, expected):
    d = hand.op(DQC, hand.input(2, 3, 4, dtype=torch.int8), *hand.channels(3), axis, *CHANNEL_RANGE)
    module = applied(PostponeDequantizeOpBelowUseChainPass, hand, hand.aten(op, d, *args))
    assert argument(find(module, "dequantize_per_channel"), "axis") == expected
    sliced = op.startswith("slice") and expected == 1 and args[0] == -2
    assert names(module).count("slice") == (3 if sliced else int(op.startswith("slice")))


def test_postpone_per_channel_survives_a_squeeze_of_another_dimension(hand):
    d = hand.op(DQC, hand.input(1, 3, 4, dtype=torch.int8), *hand.channels(3), 1, *CHANNEL_RANGE)
    module = applied(PostponeDequantizeOpBelowUseChainPass, hand, hand.aten("squeeze_copy.dims", d, [0]))
    assert argument(find(module, "dequantize_per_channel"), "axis") == 0


def test_postpone_slices_scales_and_zero_points_with_the_channels(hand):
    d = hand.op(DQC, hand.input(6, 2, dtype=torch.int8), *hand.channels(6), 0, *CHANNEL_RANGE)
    parts = [hand.aten("slice_copy.Tensor", d, 0, start, 6, 2) for start in (0, 1)]
    module = applied(PostponeDequantizeOpBelowUseChainPass, hand, *parts)
    assert names(module).count("slice") == 6 and names(module).count("dequantize_per_channel") == 2
    for index in range(2):
        scales = argument(find(module, "dequantize_per_channel", index), "scales")
        assert scales.meta["val"].shape == (3,)


@pytest.mark.parametrize(
    ("op", "args"),
    [("select_copy.int", (1, 0)), ("view_copy.default", ([6, 4],)), ("expand_copy.default", ([2, 3, 4],))],
)
def test_postpone_per_channel_declines_where_no_axis_is_left(hand, op, args):
    shape = (2, 1, 4) if op.startswith("expand") else (2, 3, 4)
    d = hand.op(DQC, hand.input(*shape, dtype=torch.int8), *hand.channels(shape[1]), 1, *CHANNEL_RANGE)
    module = hand.done(hand.aten(op, d, *args))
    assert not PostponeDequantizeOpBelowUseChainPass()(module).modified


def test_postpone_without_zero_points_is_possible(hand):
    scales, _ = hand.channels(3)
    d = hand.op(DQC, hand.input(2, 3, dtype=torch.int8), scales, None, 1, *CHANNEL_RANGE)
    module = hand.done(hand.aten("slice_copy.Tensor", d, 1, 0, 2))
    before = run(copy_of(module), tuple(hand.inputs))
    assert PostponeDequantizeOpBelowUseChainPass()(module).modified
    assert argument(find(module, "dequantize_per_channel"), "zero_points") is None
    assert equal_bits(before, run(module, tuple(hand.inputs)))


@pytest.mark.parametrize(
    ("shape", "view_shape", "new_shape", "new_dims"),
    [
        ((2, 3), [3, 1, 2], [2, 1, 3], [2, 1, 0]),  # adds a 1, as unsqueeze does
        ((2, 1, 3), [3, 2], [2, 3], [1, 0]),  # drops one, as squeeze does
    ],
)
def test_permute_goes_below_a_view_that_adds_or_drops_a_one(hand, shape, view_shape, new_shape, new_dims):
    order = [1, 0] if len(shape) == 2 else [2, 1, 0]
    p = hand.aten("permute_copy.default", hand.input(*shape), order)
    view = hand.aten("view_copy.default" if hand.root is not torch.ops else "view.default", p, view_shape)
    module = applied(PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView, hand, view)
    assert names(module) == ["view", "permute"]
    assert list(argument(find(module, "view"), "size")) == new_shape
    assert list(argument(find(module, "permute"), "dims")) == new_dims


def test_permute_drops_a_view_that_changes_nothing(hand):
    p = hand.aten("permute_copy.default", hand.input(2, 2), [1, 0])
    module = applied(
        PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView, hand, hand.aten("view_copy.default", p, [2, 2])
    )
    assert names(module) == ["permute"]


def test_permute_goes_below_any_number_of_views_in_one_run(hand):
    value = hand.aten("permute_copy.default", hand.input(2, 3), [1, 0])
    for size in range(7):
        value = hand.aten("view_copy.default", value, [*([1] * (size + 1)), 3, 2])
    module = applied(PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView, hand, value)
    assert names(module) == ["view"] * 7 + ["permute"]


def test_permute_leaves_no_unread_size_behind():
    hand = Hand("aten")
    x = hand.input(4, 3, dynamic=(0,))
    module = hand.done(
        hand.aten("view_copy.default", hand.aten("permute_copy.default", x, [1, 0]), [3, 1, -1])
    )
    placeholder, view = module.graph.find_nodes(op="placeholder")[0], find(module, "view")
    with module.graph.inserting_before(view):
        size = module.graph.call_function(torch.ops.aten.sym_size.int, (placeholder, 0))
    size.meta["val"] = placeholder.meta["val"].shape[0]
    view.args = (view.args[0], [3, 1, size])
    before = run(copy_of(module), tuple(hand.inputs))
    assert PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView()(module).modified
    assert names(module) == ["view", "permute"]
    assert equal_bits(before, run(module, tuple(hand.inputs)))


def test_missing_debug_handles_are_no_error_and_none_is_invented(hand):
    d = hand.op(DQ, hand.input(2, 3, dtype=torch.int8), *INT8)
    module = hand.done(hand.aten("permute_copy.default", d, [1, 0]))
    for node in module.graph.nodes:
        node.meta.pop("debug_handle", None)
    assert PostponeDequantizeOpBelowUseChainPass()(module).modified
    assert not any("debug_handle" in node.meta for node in module.graph.nodes)


def test_the_specs_of_executorch_follow_the_values():
    from executorch.exir.passes.spec_prop_pass import SpecPropPass

    hand = Hand()
    d = hand.op(DQ, hand.input(2, 3, dtype=torch.int8), *INT8)
    p = hand.op("aten.permute_copy.default", d, [1, 0])
    module = SpecPropPass()(hand.done(hand.op("aten.relu.default", p))).graph_module
    assert PostponeDequantizeOpBelowUseChainPass()(module).modified
    for node in module.graph.nodes:
        if node.op == "call_function":
            spec = node.meta["spec"]
            assert (spec.dtype, list(spec.shape)) == (node.meta["val"].dtype, list(node.meta["val"].shape))


def test_ops_that_work_in_place_are_found_whatever_their_kind():
    hand = Hand("aten")
    x = hand.op("aten.tanh.default", hand.input(4))
    module = hand.done(hand.op("aten.relu_.default", x), hand.op("aten.relu.default", x))
    with module.graph.inserting_after(find(module, "tanh")):
        method = module.graph.call_method("add_", (find(module, "tanh"), 1))
        module.graph.call_method("__len__", (method,))
    assert {node.name for node in in_place_ops(module.graph)} == {method.name, find(module, "relu_").name}
