"""Cases for the guards of the passes that do not reorder q/dq: permutes, metadata, fusion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from pass_case import Cases
from pass_hand import DQ, DQC, INT8, Hand, Q, literal
from torch.fx import GraphModule

CASES = Cases()
PERMUTE = "PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView"
PORT = "PortNodeMetaForQDQ"
FUSE = "FuseDequantLinearPass"


# Permute


@CASES.case(PERMUTE, "is_no_permute", focus="transpose")
def permute_relu() -> GraphModule:
    hand = Hand()
    r = hand.op("aten.transpose_copy.int", hand.input(2, 3), 0, 1)
    return hand.done(hand.op("aten.view_copy.default", r, [3, 1, 2]))


@CASES.case(PERMUTE, "has_no_users")
def permute_dead() -> GraphModule:
    hand = Hand()
    hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op("aten.relu.default", hand.input(4)))


@CASES.case(PERMUTE, "is_asked_for_its_shape", "has_several_users")
def permute_with_size_query() -> GraphModule:
    hand = Hand("aten")
    p = hand.op("aten.permute.default", hand.input(4, 3, dynamic=(0,)), [1, 0])
    size = hand.op("aten.sym_size.int", p, 1)
    return hand.done(hand.op("aten.view.default", p, [3, 1, -1]), size)


@CASES.case(PERMUTE, "has_several_users")
def permute_shared() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op("aten.view_copy.default", p, [3, 1, 2]), hand.op("aten.relu.default", p))


@CASES.case(PERMUTE, "is_no_view")
def permute_before_relu() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op("aten.relu.default", p))


@CASES.case(PERMUTE, "has_unknown_shapes")
def permute_without_shapes() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    module = hand.done(hand.op("aten.view_copy.default", p, [3, 1, 2]))
    for node in module.graph.nodes:
        node.meta.pop("val", None)
    return module


@CASES.case(PERMUTE, "does_more_than_a_one")
def permute_before_a_merging_view() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op("aten.view_copy.default", p, [6]))


@CASES.case(PERMUTE, "has_two_symbolic_sizes")
def permute_of_two_symbols() -> GraphModule:
    hand = Hand("aten")
    p = hand.op("aten.permute.default", hand.input(4, 6, dynamic=(0, 1)), [1, 0])
    module = hand.done(hand.op("aten.view.default", p, [-1, 1, 4]))
    view = next(node for node in module.graph.nodes if "view" in node.name)
    view.meta["val"] = next(n for n in module.graph.nodes if "permute" in n.name).meta["val"].unsqueeze(1)
    return module


@CASES.case(PERMUTE, "is_changed_between")
def permute_past_a_change() -> GraphModule:
    hand = Hand("aten")
    x = hand.input(2, 3)
    p = hand.op("aten.permute.default", x, [1, 0])
    changed = hand.op("aten.relu_.default", x)
    return hand.done(hand.op("aten.view_copy.default", p, [3, 1, 2]), changed)


# Port


def annotated(**kwargs: Any) -> Any:
    from torchao.quantization.pt2e.quantizer import QuantizationAnnotation

    return QuantizationAnnotation(_annotated=True, **kwargs)


def port_graph(
    annotation: Callable[[Any], Any] | None, shared: bool = False, known: bool = False
) -> GraphModule:
    hand = Hand("aten")
    x = hand.input(4)
    d = hand.op(DQ, hand.op(Q, x, *INT8), *INT8)
    outputs = [hand.op("aten.relu.default", d)]
    if shared:
        outputs.append(hand.op("aten.tanh.default", d))
    module = hand.done(*outputs)
    nodes = {node.name: node for node in module.graph.nodes}
    relu = next(node for name, node in nodes.items() if "relu" in name)
    relu.meta["quantization_tag"] = "here"
    if annotation is not None:
        relu.meta["quantization_annotation"] = annotation(nodes["in1"])
    if known:
        next(node for name, node in nodes.items() if "dequantize" in name).meta["quantization_tag"] = "here"
    return module


def wanted(producer: Any) -> Any:
    return annotated(input_qspec_map={producer: object()})


@CASES.case(PORT, "is_not_annotated", focus="relu")
def port_without_annotation() -> GraphModule:
    return port_graph(None)


@CASES.case(PORT, "belongs_nothing", "knows_already")
def port_shared_dequantize() -> GraphModule:
    return port_graph(wanted, shared=True)


@CASES.case(PORT, "knows_already")
def port_again() -> GraphModule:
    return port_graph(wanted, known=True)


# Fuse


def linear_graph(
    weight: torch.Tensor | None = None,
    axis: int = 0,
    activation: torch.Tensor | None = None,
    scales: torch.Tensor | None = None,
    zero_points: torch.Tensor | None = None,
    op: str = "aten.linear.default",
    contiguous: bool = True,
    dtype: torch.dtype = torch.int8,
    **kwargs: Any,
) -> GraphModule:
    hand = Hand("aten")
    data = torch.arange(-6, 6).view(3, 4).to(dtype) if weight is None else weight
    x = hand.given(torch.linspace(-1, 1, 8).view(2, 4) if activation is None else activation)
    w = hand.given(data if contiguous else data.t().contiguous().t())
    sizes = data.shape[axis]
    s = hand.given(torch.logspace(-2, -1, sizes) if scales is None else scales)
    z = None if zero_points is None else hand.given(zero_points)
    limits = torch.iinfo(dtype)
    d = hand.op(DQC, w, s, z, axis, limits.min, limits.max, dtype, **kwargs)
    return hand.done(hand.op(op, x, d))


@CASES.case(FUSE, "is_no_linear", focus="mm")
def fuse_matmul() -> GraphModule:
    return linear_graph(weight=torch.ones(4, 4, dtype=torch.int8), op="aten.mm.default")


@CASES.case(FUSE, "is_no_dequantized_weight", "is_not_int8")
def fuse_float_weight() -> GraphModule:
    hand = Hand("aten")
    weight = hand.op("aten.relu.default", hand.input(3, 4))
    return hand.done(hand.op("aten.linear.default", hand.input(2, 4), weight))


@CASES.case(FUSE, "reads_no_node")
def fuse_a_literal() -> GraphModule:
    scales = torch.logspace(-2, -1, 3)
    weight = torch.arange(-6, 6, dtype=torch.int8).view(3, 4)
    x = torch.linspace(-1, 1, 8).view(2, 4)
    return literal(
        lambda _: [
            (DQC, weight, scales, None, 0, -128, 127, torch.int8),
            ("aten.linear.default", x, ...),
        ]
    )


@CASES.case(FUSE, "is_not_int8", "cannot_run")
def fuse_uint8() -> GraphModule:
    return linear_graph(weight=torch.arange(12, dtype=torch.uint8).view(3, 4), dtype=torch.uint8)


@CASES.case(FUSE, "is_not_laid_out_by_rows")
def fuse_transposed_weight() -> GraphModule:
    return linear_graph(contiguous=False)


@CASES.case(FUSE, "is_not_scaled_by_output_row")
def fuse_other_axis() -> GraphModule:
    return linear_graph(weight=torch.ones(4, 4, dtype=torch.int8), axis=1)


@CASES.case(FUSE, "may_have_zero_points")
def fuse_unknown_zero_points() -> GraphModule:
    return linear_graph(zero_points=torch.arange(3))


@CASES.case(FUSE, "has_another_rank", "cannot_run")
def fuse_three_dimensions() -> GraphModule:
    return linear_graph(activation=torch.linspace(-1, 1, 8).view(1, 2, 4))


@CASES.case(FUSE, "has_scales_of_another_dtype")
def fuse_half_activation() -> GraphModule:
    half = torch.linspace(-1, 1, 8).view(2, 4).to(torch.float16)
    return linear_graph(activation=half, out_dtype=torch.float16)


@CASES.case(FUSE, "has_rows_the_kernel_misreads")
def fuse_short_bfloat16_rows() -> GraphModule:
    half = torch.linspace(-1, 1, 8).view(2, 4).to(torch.bfloat16)
    scales = torch.logspace(-2, -1, 3).to(torch.bfloat16)
    return linear_graph(activation=half, scales=scales, out_dtype=torch.bfloat16)


@CASES.case(FUSE, "cannot_run")
def fuse_double() -> GraphModule:
    double = torch.linspace(-1, 1, 8).view(2, 4).double()
    scales = torch.logspace(-2, -1, 3).double()
    return linear_graph(activation=double, scales=scales, out_dtype=torch.float64)


@CASES.case(FUSE, "is_changed_between")
def fuse_past_a_change() -> GraphModule:
    hand = Hand("aten")
    x, weight = hand.input(2, 4), hand.input(3, 4, dtype=torch.int8)
    scales, _ = hand.channels(3)
    d = hand.op(DQC, weight, scales, None, 0, -128, 127, torch.int8)
    changed = hand.op("aten.neg_.default", weight)
    return hand.done(hand.op("aten.linear.default", x, d), changed)
