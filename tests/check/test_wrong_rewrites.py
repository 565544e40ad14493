"""Deliberately wrong rewrites, each between harmless ones: found at exactly its step; correct twins never."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from live_programs import in_place, session_of
from mixed_program import AT, COARSE, PARAMS, QD, Editor, mixed, unlifted

from qdqviz.check.checker import check
from qdqviz.check.lint import lint


@dataclass(frozen=True)
class Fault:
    """One rewrite, wrong or right."""

    edit: Callable[[Editor, bool], None]
    """Takes the editor and whether to do it wrong."""
    verdict: str
    kind: str | None
    plain: bool
    """Whether it is tried on a plain GraphModule, since a verifier refuses it."""
    hidden: bool
    """Whether rounding further on hides it from the outputs."""


FAULTS: dict[str, Fault] = {}


def fault(verdict: str = "differs", kind: str | None = "wrong", plain: bool = False, hidden: bool = False):
    def register(edit):
        FAULTS[edit.__name__] = Fault(edit, verdict, kind, plain, hidden)
        return edit

    return register


@fault()
def axis_kept_below_a_permute(e: Editor, wrong: bool) -> None:
    dequantize = e.find(QD.dequantize_per_channel.default)
    permute = next(iter(dequantize.users))
    integers, scales, zero_points, _, *rest = dequantize.args
    moved = e.call(dequantize, AT.permute.default, integers, [1, 0])
    new = e.call(moved, dequantize.target, moved, scales, zero_points, 0 if wrong else 1, *rest)
    e.replace(permute, new)
    e.erase(dequantize)


@fault()
def operands_swapped(e: Editor, wrong: bool) -> None:
    old = e.find(AT.sub.Tensor)
    a, b = old.args
    if wrong:
        e.replace(old, e.call(old, AT.sub.Tensor, b, a))
    else:
        negative = e.call(old, AT.neg.default, b)
        e.replace(old, e.call(negative, AT.add.Tensor, a, negative))


@fault()
def zero_point_lost(e: Editor, wrong: bool) -> None:
    old = e.find(QD.dequantize_per_tensor.default)
    source, scale, zero_point, *rest = old.args
    e.replace(old, e.call(old, old.target, source, scale, 0 if wrong else zero_point, *rest))


@fault()
def slice_off_by_one(e: Editor, wrong: bool) -> None:
    old = e.find(AT.slice.Tensor)
    source = old.args[0]
    start = 3 if wrong else 2
    indices = list(range(start, start + 6))
    e.replace(old, e.call(old, AT.slice.Tensor, source, 1, indices[0], indices[-1] + 1))


@fault()
def bias_dropped(e: Editor, wrong: bool) -> None:
    old = e.find(AT.linear.default)
    x, weight, bias = old.args
    if wrong:
        e.replace(old, e.call(old, AT.linear.default, x, weight))
    else:
        transposed = e.call(old, AT.permute.default, weight, [1, 0])
        e.replace(old, e.call(transposed, AT.addmm.default, bias, x, transposed))


@fault("fails", "shape_dtype")
def reduced_in_another_dtype(e: Editor, wrong: bool) -> None:
    old = e.find(AT.mean.dim)
    e.replace(old, e.call(old, AT.mean.dim, *old.args, dtype=torch.float64 if wrong else torch.float32))


@fault(kind="quantization_step")
def rounded_in_another_order(e: Editor, wrong: bool) -> None:
    """quantize(clamp(x)) as truncation instead of rounding half to even."""
    old = e.find(QD.quantize_per_tensor.default, 1)
    x, scale, zero_point, low, high, dtype = old.args
    divided = e.call(old, AT.mul.Tensor, x, 1.0 / scale)
    rounded = e.call(divided, AT.floor.default if wrong else AT.round.default, divided)
    shifted = e.call(rounded, AT.add.Tensor, rounded, zero_point)
    clamped = e.call(shifted, AT.clamp.default, shifted, low, high)
    e.replace(old, e.call(clamped, AT._to_copy.default, clamped, dtype=dtype))


@fault()
def mutated_buffer_skipped(e: Editor, wrong: bool) -> None:
    values = list(e.output().args[0])
    old = values[0]
    buffer = old.args[0]
    values[0] = buffer if wrong else e.call(old, AT.add.Tensor, buffer, 1.0)
    e.output().args = (tuple(values),)


@fault(kind="shape_dtype", plain=True)
def output_dead(e: Editor, wrong: bool) -> None:
    values = list(e.output().args[0])
    dropped = values[2]
    values[2] = None if wrong else e.call(dropped, AT.clone.default, dropped)
    e.output().args = (tuple(values),)


@fault()
def outputs_swapped(e: Editor, wrong: bool) -> None:
    values = list(e.output().args[0])
    clones = [e.call(each, AT.clone.default, each) for each in (values[1], values[3])]
    values[1], values[3] = clones
    if wrong:
        values[4] = e.call(values[4], AT.neg.default, values[4])
    e.output().args = (tuple(values),)


@fault()
def scale_of_another_node(e: Editor, wrong: bool) -> None:
    old = e.find(QD.dequantize_per_tensor.default, 1)
    source, scale, *rest = old.args
    e.replace(old, e.call(old, old.target, source, PARAMS[0] if wrong else scale, *rest))


@fault()
def dims_permuted_otherwise(e: Editor, wrong: bool) -> None:
    old = e.find(AT.unsqueeze.default)
    source = old.args[0]
    made = e.call(old, AT.view.default, source.args[0] if wrong else source, [1, 6, 4])
    e.replace(old, made)


@fault()
def cat_in_another_order(e: Editor, wrong: bool) -> None:
    old = e.find(AT.cat.default)
    tensors, dim = old.args
    e.replace(old, e.call(old, AT.cat.default, list(reversed(tensors)) if wrong else list(tensors), dim - 2))


@fault()
def relu_dropped(e: Editor, wrong: bool) -> None:
    old = e.find(AT.relu.default)
    source = old.args[0]
    e.replace(old, source if wrong else e.call(old, AT.clamp_min.default, source, 0.0))


@fault()
def alpha_lost(e: Editor, wrong: bool) -> None:
    halved = e.find(AT.mul.Tensor)
    add = next(iter(halved.users))
    x, _ = add.args
    options = {} if wrong else {"alpha": 0.5}
    e.replace(add, e.call(add, AT.add.Tensor, x, halved.args[0], **options))
    e.erase(halved)


@fault()
def softmax_over_another_dim(e: Editor, wrong: bool) -> None:
    old = next(n for n in e.graph.nodes if "softmax" in str(n.target))
    e.replace(old, e.call(old, AT._softmax.default, old.args[0], 0 if wrong else -1, False))


@fault(kind="saturates")
def clamp_narrowed(e: Editor, wrong: bool) -> None:
    old = e.find(QD.quantize_per_tensor.default)
    x, scale, zero_point, low, high, dtype = old.args
    made = e.call(
        old, QD.quantize_per_tensor.default, x, scale, zero_point, low, 20 if wrong else high, dtype
    )
    e.replace(old, made)


@fault()
def weight_not_transposed(e: Editor, wrong: bool) -> None:
    old = e.find(AT.linear.default)
    x, weight, bias = old.args
    right = e.call(old, AT.permute.default, weight, [1, 0])
    made = e.call(right, AT.mm.default, x, weight if wrong else right)
    e.replace(old, e.call(made, AT.add.Tensor, made, bias))


@fault(kind="shape_dtype")
def dimension_not_kept(e: Editor, wrong: bool) -> None:
    old = e.find(AT.sum.dim_IntList)
    e.replace(old, e.call(old, AT.sum.dim_IntList, old.args[0], [1], wrong))


@fault(plain=True)
def constant_scaled_along_the_wrong_axis(e: Editor, wrong: bool) -> None:
    old = e.find(AT.linear.default)
    x, weight, bias = old.args
    factors = torch.linspace(1.0, 2.0, 6)
    e.module.register_buffer("factors", factors)
    with e.graph.inserting_before(old):
        fetched = e.graph.get_attr("factors")
    fetched.meta["val"] = old.meta["val"].fake_mode.from_tensor(factors)
    scaled = e.call(fetched, AT.mul.Tensor, weight, fetched)
    old.prepend(scaled)
    divided = e.call(old, AT.div.Tensor, x, fetched)
    e.replace(old, e.call(divided, AT.linear.default, x if wrong else divided, scaled, bias))


@fault(plain=True)
def constant_folded_wrongly(e: Editor, wrong: bool) -> None:
    old = e.find(AT.linear.default)
    x, weight, bias = old.args
    e.module.register_buffer("twice", torch.full((6, 6), 2.0 if not wrong else 2.5))
    with e.graph.inserting_before(old):
        fetched = e.graph.get_attr("twice")
    fetched.meta["val"] = old.meta["val"].fake_mode.from_tensor(e.module.twice)
    doubled = e.call(fetched, AT.mul.Tensor, weight, fetched)
    old.prepend(doubled)
    halved = e.call(old, AT.mul.Tensor, x, 0.5)
    e.replace(old, e.call(halved, AT.linear.default, halved, doubled, bias))


@fault(hidden=True)
def gelu_approximated(e: Editor, wrong: bool) -> None:
    old = e.find(AT.gelu.default)
    options = {"approximate": "tanh" if wrong else "none"}
    e.replace(old, e.call(old, AT.gelu.default, old.args[0], **options))


@fault(kind="shape_dtype")
def dimension_added_in_another_place(e: Editor, wrong: bool) -> None:
    old = e.find(AT.unsqueeze.default)
    e.replace(old, e.call(old, AT.unsqueeze.default, old.args[0], 1 if wrong else -3))


@fault(kind="quantization_step")
def requantization_removed(e: Editor, wrong: bool) -> None:
    """Dropping a quantize and dequantize drops their rounding."""
    quantize, dequantize = (
        e.find(QD.quantize_per_tensor.default, 1),
        e.find(QD.dequantize_per_tensor.default, 1),
    )
    if wrong:
        dequantize.replace_all_uses_with(quantize.args[0])
        e.erase(dequantize, quantize)
    else:
        again = e.call(dequantize, QD.quantize_per_tensor.default, dequantize, *COARSE)
        made = e.call(again, QD.dequantize_per_tensor.default, again, *COARSE)
        dequantize.replace_all_uses_with(made, delete_user_cb=lambda user: user not in (again,))


@fault()
def condition_inverted(e: Editor, wrong: bool) -> None:
    old = e.find(AT.where.self)
    condition, a, b = old.args
    inverted = e.call(old, AT.logical_not.default, condition)
    e.replace(old, e.call(inverted, AT.where.self, inverted, a if wrong else b, b if wrong else a))


@fault("fails", None, plain=True)
def used_before_it_is_computed(e: Editor, wrong: bool) -> None:
    gelu = e.find(AT.gelu.default)
    user = next(iter(gelu.users))
    if wrong:
        user.append(gelu)
    else:
        user.prepend(gelu)


@fault("fails", "shape_dtype")
def selected_out_of_range(e: Editor, wrong: bool) -> None:
    old = e.find(AT.unsqueeze.default)
    made = e.call(old, AT.unsqueeze.default, old.args[0], 0)
    e.replace(old, made)
    if wrong:
        made.args = (made.args[0], 4)


@fault("fails", "shape_dtype")
def dequantize_without_quantize(e: Editor, wrong: bool) -> None:
    quantize = e.find(QD.quantize_per_tensor.default)
    dequantize = next(iter(quantize.users))
    again = e.call(quantize, AT.clone.default, quantize)
    dequantize.replace_input_with(quantize, quantize.args[0] if wrong else again)


@fault()
def divided_by_the_wrong_term(e: Editor, wrong: bool) -> None:
    old = e.find(AT.div.Tensor)
    a, b = old.args
    inverse = e.call(old, AT.reciprocal.default, b)
    e.replace(old, e.call(inverse, AT.mul.Tensor, a, b if wrong else inverse))


@fault()
def distributed_over_one_term_only(e: Editor, wrong: bool) -> None:
    """sum(3 x) = 3 sum(x)."""
    old = e.find(AT.sum.dim_IntList)
    scaled = old.args[0]
    total = e.call(old, AT.sum.dim_IntList, scaled.args[0], [1])
    e.replace(old, total if wrong else e.call(total, AT.mul.Tensor, total, scaled.args[1]))


def harmless_before(module: torch.fx.GraphModule) -> None:
    editor = Editor(module)
    old = next(iter(editor.graph.find_nodes(op="call_function", target=AT.gt.Tensor)))
    editor.replace(old, editor.call(old, AT.lt.Tensor, old.args[1], old.args[0]))


def harmless_after(module: torch.fx.GraphModule) -> None:
    editor = Editor(module)
    old = editor.find(AT.clamp.default, -1)
    low = editor.call(old, AT.clamp_min.default, old.args[0], old.args[1])
    editor.replace(old, editor.call(low, AT.clamp_max.default, low, old.args[2]))


@pytest.fixture(scope="module")
def program():
    return {False: mixed(), True: unlifted()}


def checked(program, edit: Callable[[Editor, bool], None], wrong: bool, path, plain: bool = False):
    def suspect(module):
        edit(Editor(module), wrong)

    passes = [in_place(harmless_before), in_place(suspect), in_place(harmless_after)]
    session = session_of(*program[plain], passes, path)
    assert session.error is None, repr(session.error.__cause__ or session.error)
    return session, check(session, sets=2)


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_rewrite_is_found_at_its_step_and_nowhere_else(name, program, tmp_path):
    expected = FAULTS[name]
    _, report = checked(program, expected.edit, True, tmp_path, expected.plain)
    bad = [each for each in report.rewrites if each.judgement.verdict != "equal"]
    assert {each.name for each in bad} == {"suspect"}, bad
    assert len(bad) == 1
    found = bad[0].judgement
    assert (found.verdict, found.kind) == (expected.verdict, expected.kind), found
    assert report.verdict == expected.verdict
    assert report.rewrites[0] is bad[0]
    assert found.detail
    confirmed = {each.name: each.judgement.verdict for each in report.passes}
    assert (confirmed["suspect"] == "equal") is expected.hidden
    assert confirmed["harmless_before"] == "equal"


@pytest.mark.parametrize("name", FAULTS)
def test_the_correct_twin_of_a_wrong_rewrite_is_equal(name, program, tmp_path):
    _, report = checked(program, FAULTS[name].edit, False, tmp_path, FAULTS[name].plain)
    assert report.verdict == "equal", report.rewrites[0]
    assert "suspect" in {each.name for each in report.rewrites}
    assert {each.judgement.verdict for each in report.passes} == {"equal"}


def test_there_are_at_least_twenty_five_of_them():
    assert len(FAULTS) >= 25


# -- wrong in metadata only --------------------------------------------------------------------------


def stale_value(e: Editor, wrong: bool) -> None:
    old = e.find(AT.mean.dim)
    made = e.call(old, AT.mean.dim, *old.args)
    if wrong:
        made.meta["val"] = old.args[0].meta["val"]
    e.replace(old, made)


def shared_dictionary(e: Editor, wrong: bool) -> None:
    old = e.find(AT.relu.default)
    source = old.args[0]
    made = e.call(old, AT.clamp_min.default, source, 0.0)
    e.replace(old, made)
    made.meta = source.meta if wrong else dict(made.meta)


def stack_trace_lost(e: Editor, wrong: bool) -> None:
    old = e.find(AT.relu.default)
    made = e.call(old, AT.clamp_min.default, old.args[0], 0.0)
    if wrong:
        del made.meta["stack_trace"]
    e.replace(old, made)


@pytest.mark.parametrize(
    ("edit", "rule"),
    [(stale_value, "stale-val"), (shared_dictionary, "shared-meta"), (stack_trace_lost, "lost-stack-trace")],
)
def test_a_rewrite_wrong_in_metadata_only_is_found_by_its_rule_and_its_twin_is_not(
    edit, rule, program, tmp_path
):
    for wrong in (True, False):
        session, report = checked(program, edit, wrong, tmp_path)
        assert report.verdict == "equal"
        found = {(each.rule, each.name) for each in lint(session.trace, session.store).findings}
        assert ((rule, "suspect") in found) is wrong, found
