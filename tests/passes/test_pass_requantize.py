"""AdvanceQuantizeOpAboveDefInBranchPass: which quantize goes above, and what a second rounding costs."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pass_hand import INT8, OTHER, Hand, Q, find, names
from pass_structure import copy_of, run, shared_metadata, wrong_values
from torch.fx import GraphModule

from qdqviz.passes.builtin.advance_branch import AdvanceQuantizeOpAboveDefInBranchPass
from qdqviz.passes.builtin.quantization import parameters_of

LATE_ZERO_POINT = (0.05, 100, -128, 127, torch.int8)
"""Upstream takes the largest zero point, whatever the count."""


def fan(*parameters: tuple, width: int = 12, placeholder: bool = False) -> tuple[GraphModule, tuple]:
    """One value cut into equal slices, each quantized with parameters of its own."""
    hand = Hand()
    x = hand.given(torch.linspace(-1, 1, width))
    y = x if placeholder else hand.op("aten.tanh.default", x)
    step = width // len(parameters)
    parts = [
        hand.op("aten.slice_copy.Tensor", y, 0, index * step, (index + 1) * step)
        for index in range(len(parameters))
    ]
    outputs = [hand.op(Q, part, *own) for part, own in zip(parts, parameters, strict=True)]
    return hand.done(*outputs), tuple(hand.inputs)


def after(module: GraphModule) -> GraphModule:
    result = AdvanceQuantizeOpAboveDefInBranchPass()(copy_of(module)).graph_module
    result.graph.lint()
    assert wrong_values(result) == [] and shared_metadata(result) == []
    return result


def test_the_most_common_parameters_go_above():
    module, _ = fan(LATE_ZERO_POINT, INT8, INT8)
    result = after(module)
    assert parameters_of(find(result, "quantize_per_tensor")) == INT8
    assert names(result) == ["tanh", "quantize", "slice", "slice", "slice", "dequantize", "quantize"]


@pytest.mark.parametrize(("first", "second"), [(INT8, OTHER), (OTHER, INT8), (LATE_ZERO_POINT, INT8)])
def test_between_equally_common_parameters_the_first_in_the_graph_win(first, second):
    module, _ = fan(first, second, first, second)
    assert parameters_of(find(after(module), "quantize_per_tensor")) == first


def test_equal_parameters_need_no_requantize_pair_and_keep_every_bit():
    module, inputs = fan(INT8, INT8, INT8)
    result = after(module)
    assert names(result) == ["tanh", "quantize", "slice", "slice", "slice"]
    assert all(map(torch.equal, run(copy_of(module), inputs), run(result, inputs)))


def test_below_an_input_nothing_is_put_above_the_last_input():
    hand = Hand()
    x, other = hand.input(4), hand.input(4)
    q = hand.op(Q, hand.op("aten.view_copy.default", x, [2, 2]), *INT8)
    result = after(hand.done(q, other))
    assert [node.op for node in result.graph.nodes][:3] == ["placeholder", "placeholder", "call_function"]


def test_a_requantize_keeps_the_trace_of_the_quantize_it_came_from():
    module, _ = fan(INT8, INT8, OTHER)
    for node in module.graph.nodes:
        node.meta["stack_trace"], node.meta["debug_handle"] = f"line of {node.name}", hash(node.name)
    other = find(module, "quantize_per_tensor", 2)
    result = after(module)
    back = find(result, "dequantize")
    assert back.meta["stack_trace"] == other.meta["stack_trace"]
    assert back.meta["debug_handle"] == other.meta["debug_handle"]
    lead = find(result, "quantize_per_tensor")
    assert lead.meta["stack_trace"] == find(module, "quantize_per_tensor").meta["stack_trace"]


@pytest.mark.parametrize(("kept", "fires"), [(3, True), (2, False)])
def test_slices_must_keep_half_of_the_value(kept, fires):
    hand = Hand()
    y = hand.op("aten.tanh.default", hand.input(12))
    parts = [hand.op("aten.slice_copy.Tensor", y, 0, start, start + kept) for start in (0, 6)]
    module = hand.done(*(hand.op(Q, part, *INT8) for part in parts))
    assert AdvanceQuantizeOpAboveDefInBranchPass()(module).modified is fires


scales = st.floats(0.005, 0.05)
points = st.integers(-100, 100)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.lists(st.tuples(scales, points), min_size=2, max_size=4))
def test_a_requantized_value_moves_by_half_a_common_step_and_one_of_its_own(drawn):
    """As long as the value lies within the common quantize's range; beyond it is clamped to that range."""
    parameters = [(scale, point, -128, 127, torch.int8) for scale, point in drawn]
    module, inputs = fan(*parameters, width=12 * len(parameters))
    result = after(module)
    common = parameters_of(find(result, "quantize_per_tensor"))
    real = torch.tanh(inputs[0]).chunk(len(parameters))
    low, high = (common[0] * (limit - common[1]) for limit in (-128, 127))
    pairs = zip(parameters, run(copy_of(module), inputs), run(result, inputs), real, strict=True)
    for (scale, *_), before, now, values in pairs:
        inside = (values >= low) & (values <= high)
        moved = (before.float() - now.float()).abs() * scale
        assert float((moved * inside).max()) <= common[0] / 2 + scale + 1e-5
