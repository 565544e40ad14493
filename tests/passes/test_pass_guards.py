"""Each guard of each built-in pass turns down what it should, is the one that does, and gives its reason."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest
import torch
from pass_hand import DQ, DQC, INT8, OTHER, QC, Hand, Q
from pass_structure import copy_of, same_order
from torch.fx import GraphModule

from qdqviz.passes.names import BUILTIN_MODULES, builtin_path

QT = "quantized_decomposed.quantize_per_tensor.tensor"


@dataclass(frozen=True)
class Case:
    """A graph that one guard, and no other, keeps a pass from rewriting."""

    name: str
    guard: str
    build: Callable[[], GraphModule]
    behind: tuple[str, ...] = ()
    """Guards further on that would turn it down too, with a reason that says less."""


CASES: list[Case] = []


def case(
    name: str, guard: str, *behind: str
) -> Callable[[Callable[[], GraphModule]], Callable[[], GraphModule]]:
    def register(build: Callable[[], GraphModule]) -> Callable[[], GraphModule]:
        CASES.append(Case(name, guard, build, behind))
        return build

    return register


HOIST, SINK, CHAIN, POSTPONE, BRANCH, PERMUTE, PORT, FUSE = BUILTIN_MODULES


# Hoist


@case(HOIST, "is_not_hoistable")
def hoist_relu() -> GraphModule:
    hand = Hand()
    t = hand.op("aten.tanh.default", hand.input(4))
    other = hand.op("aten.sigmoid.default", hand.input(4))
    return hand.done(hand.op("aten.relu.default", t), other)


@case(HOIST, "is_asked_for_its_shape", "has_other_users")
def hoist_below_size_query() -> GraphModule:
    hand = Hand("aten")
    t = hand.op("aten.tanh.default", hand.input(4, 4, dynamic=(0,)))
    size = hand.op("aten.sym_size.int", t, 0)
    other = hand.op("aten.sigmoid.default", hand.input(4))
    return hand.done(hand.op(Q, t, *INT8), other, size)


@case(HOIST, "has_other_users")
def hoist_shared_definition() -> GraphModule:
    hand = Hand()
    t = hand.op("aten.tanh.default", hand.input(4))
    other = hand.op("aten.relu.default", t)
    return hand.done(hand.op(Q, t, *INT8), other)


@case(HOIST, "stands_right_behind")
def hoist_already_there() -> GraphModule:
    hand = Hand()
    first, second = hand.input(4), hand.input(4)
    qs = [hand.op(Q, first, *INT8), hand.op(Q, second, *INT8)]
    return hand.done(*qs)


@case(HOIST, "needs_a_value_from_below")
def hoist_above_its_scale() -> GraphModule:
    hand = Hand()
    t = hand.op("aten.tanh.default", hand.input(4, 4))
    scales, zero_points = hand.channels(4)
    doubled = hand.op("aten.relu.default", scales)
    return hand.done(hand.op(QC, t, doubled, zero_points, 0, -128, 127, torch.int8))


# Sink


@case(SINK, "is_not_sinkable")
def sink_quantize() -> GraphModule:
    hand = Hand()
    q = hand.op(Q, hand.input(4), *INT8)
    other = hand.op("aten.tanh.default", hand.input(4))
    return hand.done(hand.op("aten.view_copy.default", q, [2, 2]), other)


@case(SINK, "has_no_users")
def sink_dead() -> GraphModule:
    hand = Hand()
    hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    return hand.done(hand.op("aten.tanh.default", hand.input(4)))


@case(SINK, "is_asked_for_its_shape", "has_several_users")
def sink_below_size_query() -> GraphModule:
    hand = Hand("aten")
    d = hand.op(DQ, hand.input(4, 4, dtype=torch.int8, dynamic=(0,)), *INT8)
    size = hand.op("aten.sym_size.int", d, 0)
    other = hand.op("aten.tanh.default", hand.input(4))
    return hand.done(hand.op("aten.relu.default", d), other, size)


@case(SINK, "has_several_users")
def sink_shared() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    other = hand.op("aten.tanh.default", hand.input(4))
    return hand.done(hand.op("aten.relu.default", d), hand.op("aten.sigmoid.default", d), other)


@case(SINK, "stands_right_before_its_user")
def sink_already_there() -> GraphModule:
    hand = Hand()
    first = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    second = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    return hand.done(hand.op("aten.add.Tensor", first, second))


# Chain


@case(CHAIN, "is_no_quantize")
def chain_relu() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    return hand.done(hand.op("aten.relu.default", v))


@case(CHAIN, "is_asked_for_its_shape", "has_other_users")
def chain_below_size_query() -> GraphModule:
    hand = Hand("aten")
    v = hand.op("aten.unsqueeze.default", hand.input(4, 4, dynamic=(0,)), 0)
    size = hand.op("aten.sym_size.int", v, 1)
    return hand.done(hand.op(Q, v, *INT8), size)


@case(CHAIN, "has_other_users")
def chain_shared() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    return hand.done(hand.op(Q, v, *INT8), hand.op("aten.relu.default", v))


@case(CHAIN, "cannot_be_split")
def chain_cat_of_integers() -> GraphModule:
    hand = Hand()
    joined = hand.op("aten.cat.default", [hand.input(4), hand.input(4, dtype=torch.int32)])
    return hand.done(hand.op(Q, joined, *INT8))


@case(CHAIN, "joins_along_the_axis")
def chain_cat_of_channels() -> GraphModule:
    hand = Hand()
    joined = hand.op("aten.cat.default", [hand.input(2, 3), hand.input(2, 3)])
    return hand.done(hand.op(QC, joined, *hand.channels(4), 0, -128, 127, torch.int8))


@case(CHAIN, "does_more_than_move_data")
def chain_above_relu() -> GraphModule:
    hand = Hand()
    return hand.done(hand.op(Q, hand.op("aten.relu.default", hand.input(4)), *INT8))


@case(CHAIN, "keeps_only_a_part")
def chain_above_slice() -> GraphModule:
    hand = Hand()
    return hand.done(hand.op(Q, hand.op("aten.slice_copy.Tensor", hand.input(4), 0, 0, 2), *INT8))


@case(CHAIN, "leaves_no_axis_above")
def chain_channels_made_by_a_view() -> GraphModule:
    hand = Hand()
    v = hand.op("aten.view_copy.default", hand.input(8), [2, 4])
    return hand.done(hand.op(QC, v, *hand.channels(4), 1, -128, 127, torch.int8))


# Postpone


@case(POSTPONE, "is_no_dequantize", "cannot_run")
def postpone_relu() -> GraphModule:
    hand = Hand()
    r = hand.op("aten.relu.default", hand.input(4))
    return hand.done(hand.op("aten.view_copy.default", r, [2, 2]))


@case(POSTPONE, "has_no_users")
def postpone_dead() -> GraphModule:
    return sink_dead()


@case(POSTPONE, "is_asked_for_its_shape", "is_no_slice", "makes_more_float_bytes", "cannot_run")
def postpone_below_size_query() -> GraphModule:
    hand = Hand("aten")
    d = hand.op(DQ, hand.input(4, 4, dtype=torch.int8, dynamic=(0,)), *INT8)
    size = hand.op("aten.sym_size.int", d, 0)
    return hand.done(hand.op("aten.unsqueeze.default", d, 0), size)


@case(POSTPONE, "does_more_than_move_data")
def postpone_before_relu() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    return hand.done(hand.op("aten.relu.default", d))


@case(POSTPONE, "is_no_slice")
def postpone_before_two_views() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    views = [hand.op("aten.view_copy.default", d, [2, 2]) for _ in range(2)]
    return hand.done(*(hand.op(Q, view, *INT8) for view in views))


@case(POSTPONE, "makes_more_float_bytes")
@case(POSTPONE, "feeds_more_than_quantizes")
def postpone_before_overlapping_slices() -> GraphModule:
    hand = Hand()
    d = hand.op(DQ, hand.input(4, dtype=torch.int8), *INT8)
    parts = [hand.op("aten.slice_copy.Tensor", d, 0, start, start + 3) for start in (0, 1)]
    return hand.done(hand.op(Q, parts[0], *INT8), parts[1])


@case(POSTPONE, "leaves_no_axis_below")
def postpone_channels_merged_by_a_view() -> GraphModule:
    hand = Hand()
    d = hand.op(DQC, hand.input(2, 4, dtype=torch.int8), *hand.channels(4), 1, -128, 127, torch.int8)
    return hand.done(hand.op("aten.view_copy.default", d, [4, 2]))


@case(POSTPONE, "cannot_run")
def postpone_before_a_view_of_other_strides() -> GraphModule:
    hand = Hand("aten")
    part = hand.op("aten.slice.Tensor", hand.input(4, 6, dtype=torch.int8), 1, 0, 4)
    d = hand.op(DQ, part, *INT8)
    return hand.done(hand.op("aten.view.default", d, [16]))


# Branch


@case(BRANCH, "is_no_value")
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


@case(BRANCH, "only_moves_data")
def branch_below_a_view() -> GraphModule:
    hand = Hand()
    x = hand.input(4)
    v = hand.op("aten.view_copy.default", x, [2, 2])
    q = hand.op(Q, hand.op("aten.permute_copy.default", v, [1, 0]), *INT8)
    # The value above the view has another reader, so that only the view itself could be the place.
    return hand.done(q, hand.op("aten.relu.default", x))


@case(BRANCH, "is_asked_for_a_shape", "ends_elsewhere", "reaches_no_quantize")
def branch_with_size_query() -> GraphModule:
    hand = Hand("aten")
    x = hand.input(4, 4, dynamic=(0,))
    q = hand.op(Q, hand.op("aten.unsqueeze.default", x, 0), *INT8)
    return hand.done(q, hand.op("aten.sym_size.int", x, 0))


@case(BRANCH, "ends_in_a_computed_scale", "ends_elsewhere", "reaches_no_quantize")
def branch_with_computed_scale() -> GraphModule:
    hand = Hand()
    x = hand.input(4)
    scale, zero_point = hand.given(torch.tensor([0.1])), hand.given(torch.tensor([0]))
    first = hand.op(
        QT, hand.op("aten.view_copy.default", x, [2, 2]), scale, zero_point, -128, 127, torch.int8
    )
    return hand.done(first, hand.op(Q, hand.op("aten.view_copy.default", x, [1, 4]), *INT8))


@case(BRANCH, "ends_in_a_quantize_per_channel", "ends_elsewhere", "reaches_no_quantize")
def branch_per_channel() -> GraphModule:
    hand = Hand()
    x = hand.input(4)
    v = hand.op("aten.view_copy.default", x, [2, 2])
    first = hand.op(QC, v, *hand.channels(2), 0, -128, 127, torch.int8)
    return hand.done(first, hand.op(Q, hand.op("aten.view_copy.default", x, [1, 4]), *INT8))


@case(BRANCH, "ends_elsewhere", "reaches_no_quantize")
def branch_with_relu() -> GraphModule:
    hand = Hand()
    x = hand.input(4)
    q = hand.op(Q, hand.op("aten.view_copy.default", x, [2, 2]), *INT8)
    return hand.done(q, hand.op("aten.relu.default", x))


@case(BRANCH, "reaches_no_quantize")
def branch_without_quantize() -> GraphModule:
    hand = Hand()
    hand.op("aten.view_copy.default", hand.input(4), [2, 2])
    return hand.done(hand.op("aten.relu.default", hand.input(4)))


@case(BRANCH, "crosses_nothing", "slices_keep_too_little")
def branch_directly_quantized() -> GraphModule:
    hand = Hand()
    x = hand.input(4)
    return hand.done(hand.op(Q, x, *INT8), hand.op(Q, x, *OTHER))


@case(BRANCH, "slices_keep_too_little")
def branch_with_small_slices() -> GraphModule:
    hand = Hand()
    x = hand.input(9)
    parts = [hand.op("aten.slice_copy.Tensor", x, 0, start, start + 2) for start in (0, 4)]
    return hand.done(*(hand.op(Q, part, *INT8) for part in parts))


# Permute


@case(PERMUTE, "is_no_permute")
def permute_relu() -> GraphModule:
    hand = Hand()
    r = hand.op("aten.transpose_copy.int", hand.input(2, 3), 0, 1)
    return hand.done(hand.op("aten.view_copy.default", r, [3, 1, 2]))


@case(PERMUTE, "has_no_users")
def permute_dead() -> GraphModule:
    hand = Hand()
    hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op("aten.relu.default", hand.input(4)))


@case(PERMUTE, "is_asked_for_its_shape", "has_several_users")
def permute_with_size_query() -> GraphModule:
    hand = Hand("aten")
    p = hand.op("aten.permute.default", hand.input(4, 3, dynamic=(0,)), [1, 0])
    size = hand.op("aten.sym_size.int", p, 1)
    return hand.done(hand.op("aten.view.default", p, [3, 1, -1]), size)


@case(PERMUTE, "has_several_users")
def permute_shared() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op("aten.view_copy.default", p, [3, 1, 2]), hand.op("aten.relu.default", p))


@case(PERMUTE, "is_no_view")
def permute_before_relu() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op("aten.relu.default", p))


@case(PERMUTE, "has_unknown_shapes")
def permute_without_shapes() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    module = hand.done(hand.op("aten.view_copy.default", p, [3, 1, 2]))
    for node in module.graph.nodes:
        node.meta.pop("val", None)
    return module


@case(PERMUTE, "does_more_than_a_one")
def permute_before_a_merging_view() -> GraphModule:
    hand = Hand()
    p = hand.op("aten.permute_copy.default", hand.input(2, 3), [1, 0])
    return hand.done(hand.op("aten.view_copy.default", p, [6]))


@case(PERMUTE, "has_two_symbolic_sizes")
def permute_of_two_symbols() -> GraphModule:
    hand = Hand("aten")
    p = hand.op("aten.permute.default", hand.input(4, 6, dynamic=(0, 1)), [1, 0])
    module = hand.done(hand.op("aten.view.default", p, [-1, 1, 4]))
    view = next(node for node in module.graph.nodes if "view" in node.name)
    view.meta["val"] = next(n for n in module.graph.nodes if "permute" in n.name).meta["val"].unsqueeze(1)
    return module


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


@case(PORT, "is_not_annotated")
def port_without_annotation() -> GraphModule:
    return port_graph(None)


@case(PORT, "belongs_nothing", "knows_already")
def port_shared_dequantize() -> GraphModule:
    return port_graph(wanted, shared=True)


@case(PORT, "knows_already")
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


@case(FUSE, "is_no_linear")
def fuse_matmul() -> GraphModule:
    return linear_graph(weight=torch.ones(4, 4, dtype=torch.int8), op="aten.mm.default")


@case(FUSE, "is_no_dequantized_weight", "is_not_int8")
def fuse_float_weight() -> GraphModule:
    hand = Hand("aten")
    weight = hand.op("aten.relu.default", hand.input(3, 4))
    return hand.done(hand.op("aten.linear.default", hand.input(2, 4), weight))


@case(FUSE, "is_not_int8", "cannot_run")
def fuse_uint8() -> GraphModule:
    return linear_graph(weight=torch.arange(12, dtype=torch.uint8).view(3, 4), dtype=torch.uint8)


@case(FUSE, "is_not_laid_out_by_rows")
def fuse_transposed_weight() -> GraphModule:
    return linear_graph(contiguous=False)


@case(FUSE, "is_not_scaled_by_output_row")
def fuse_other_axis() -> GraphModule:
    return linear_graph(weight=torch.ones(4, 4, dtype=torch.int8), axis=1)


@case(FUSE, "may_have_zero_points")
def fuse_unknown_zero_points() -> GraphModule:
    return linear_graph(zero_points=torch.zeros(3, dtype=torch.int64))


@case(FUSE, "has_another_rank", "cannot_run")
def fuse_three_dimensions() -> GraphModule:
    return linear_graph(activation=torch.linspace(-1, 1, 8).view(1, 2, 4))


@case(FUSE, "has_scales_of_another_dtype")
def fuse_half_activation() -> GraphModule:
    half = torch.linspace(-1, 1, 8).view(2, 4).to(torch.float16)
    return linear_graph(activation=half, out_dtype=torch.float16)


@case(FUSE, "has_rows_the_kernel_misreads")
def fuse_short_bfloat16_rows() -> GraphModule:
    half = torch.linspace(-1, 1, 8).view(2, 4).to(torch.bfloat16)
    scales = torch.logspace(-2, -1, 3).to(torch.bfloat16)
    return linear_graph(activation=half, scales=scales, out_dtype=torch.bfloat16)


@case(FUSE, "cannot_run")
def fuse_double() -> GraphModule:
    double = torch.linspace(-1, 1, 8).view(2, 4).double()
    scales = torch.logspace(-2, -1, 3).double()
    return linear_graph(activation=double, scales=scales, out_dtype=torch.float64)


def pass_module(name: str) -> Any:
    return importlib.import_module(builtin_path(name).partition(":")[0])


def run_pass(name: str, module: GraphModule) -> Any:
    return getattr(pass_module(name), name)()(module)


def state(module: GraphModule) -> list[Any]:
    return [(node.name, str(node.args), sorted(node.meta)) for node in module.graph.nodes]


IDS = [f"{each.name}-{each.guard}" for each in CASES]


@pytest.mark.parametrize("each", CASES, ids=IDS)
def test_a_guard_keeps_the_pass_from_firing_and_alone(each: Case):
    module = each.build()
    before = copy_of(module)
    result = run_pass(each.name, module)
    assert result.modified is False
    assert same_order(before, module) and state(before) == state(module)
    assert True in answers(each)
    assert fires_without(each, each.guard, *each.behind)
    assert not any(fires_without(each, guard) for guard in each.behind)


def answers(each: Case) -> list[bool]:
    """What the guard says while the pass runs."""
    module = pass_module(each.name)
    guard = getattr(module, each.guard)
    said: list[bool] = []

    def listened(*args: Any) -> bool:
        said.append(bool(guard(*args)))
        return said[-1]

    with mock.patch.object(module, each.guard, listened):
        run_pass(each.name, each.build())
    return said


def fires_without(each: Case, *guards: str) -> bool:
    """Whether the pass rewrites, or fails in trying, when these guards let everything pass."""
    with contextlib.ExitStack() as stack:
        for guard in guards:
            stack.enter_context(mock.patch.object(pass_module(each.name), guard, lambda *_args: False))
        try:
            return bool(run_pass(each.name, each.build()).modified)
        except Exception:
            return True


def guards_in(name: str) -> set[str]:
    """The predicates that are tested before a `continue`, read from the pass's source."""
    tree = ast.parse(inspect.getsource(pass_module(name)))
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.If) and _continues(node)]
    return {name for test in tests for name in _called(test)}


def _called(test: ast.expr) -> list[str]:
    if isinstance(test, ast.BoolOp):
        return [name for value in test.values for name in _called(value)]
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Name):
        return []
    if test.func.id == "any" and isinstance(test.args[0], ast.GeneratorExp):
        return _called(test.args[0].elt)
    return [test.func.id]


def _continues(node: ast.If) -> bool:
    return len(node.body) == 1 and isinstance(node.body[0], ast.Continue)


@pytest.mark.parametrize("name", BUILTIN_MODULES)
def test_every_guard_has_a_case(name: str):
    covered = {each.guard for each in CASES if each.name == name}
    assert guards_in(name) - {"crosses_only_slices"} == covered


@pytest.mark.parametrize("name", BUILTIN_MODULES)
def test_every_guard_gives_its_reason_in_one_line(name: str):
    module = pass_module(name)
    for guard in guards_in(name):
        reason = inspect.getdoc(getattr(module, guard)).splitlines()[0]
        assert reason.endswith(".") and len(reason) > 20, guard
        assert not reason.startswith(("Return", "Tell", "Whether", "Check")), guard
