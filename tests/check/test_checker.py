"""What a check says about whole sessions."""

from __future__ import annotations

import pytest
import torch
from live_programs import branches, in_place, session_of, stateful
from mixed_program import AT, QD, Editor, mixed, unlifted

from qdqviz.check.checker import check
from qdqviz.check.lint import lint
from qdqviz.errors import NotCheckableError, UsageError
from qdqviz.live.session import run
from qdqviz.passes.resolve import resolve

SAMPLES = ["attention_chain", "avgpool", "convnet", "dynamic_linear", "encoder", "slices", "weight_only"]


def bad(report):
    return {each.step: each.judgement for each in report.in_order if each.judgement.verdict != "equal"}


@pytest.fixture(scope="module")
def encoder(loaded_sample):
    return loaded_sample("encoder")


# -- samples -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [each for each in SAMPLES if each not in ("encoder", "slices")])
def test_no_built_in_pass_is_blamed_on_a_sample_for_values_or_metadata(name, tmp_path, loaded_sample):
    session = run(loaded_sample(name), resolve("default"), tmp_path / "t.qdqtrace")
    report = check(session, sets=2)
    assert len(report.rewrites) == session.trace.steps > 0
    assert (report.verdict, bad(report)) == ("equal", {})
    assert {each.since_start.verdict for each in report.passes} == {"equal"}
    assert lint(session.trace, session.store).findings == ()


def test_no_built_in_pass_is_blamed_on_the_encoder(encoder, tmp_path):
    session = run(encoder, resolve("default"), tmp_path / "t.qdqtrace")
    assert check(session).verdict == "equal"
    assert lint(session.trace, session.store).findings == ()


def test_on_slices_only_the_pass_that_quantizes_more_coarsely_is_blamed(tmp_path, loaded_sample):
    """Where branches disagree, that pass quantizes once, coarsely, and requantizes."""
    session = run(loaded_sample("slices"), resolve("default"), tmp_path / "t.qdqtrace")
    report = check(session)
    blamed = {each.name for each in report.rewrites if each.judgement.verdict != "equal"}
    assert blamed == {"AdvanceQuantizeOpAboveDefInBranchPass"}
    assert lint(session.trace, session.store).findings == ()


def test_upstreams_postpone_pass_is_blamed_for_each_weight_whose_axis_it_leaves(encoder, tmp_path):
    session = run(encoder, resolve("cadence-reorder"), tmp_path / "t.qdqtrace")
    report = check(session)
    moved = {
        header.step
        for header in session.trace.headers
        if "per_channel" in header.name and session.trace.runs[header.run].name.startswith("Postpone")
    }
    assert len(moved) == 6
    assert set(bad(report)) == moved
    for judgement in bad(report).values():
        assert (judgement.verdict, judgement.kind) == ("differs", "wrong")
        assert judgement.steps > 1
        assert "axis 0; it should be axis 1" in judgement.detail
    assert [each.judgement.verdict for each in report.rewrites[:7]] == ["differs"] * 6 + ["equal"]


def test_where_shapes_clash_the_same_rewrite_fails(tmp_path, loaded_sample):
    report = check(run(loaded_sample("dynamic_linear"), resolve("cadence-reorder"), tmp_path / "t.qdqtrace"))
    found = bad(report)
    assert [each.verdict for each in found.values()] == ["differs", "differs", "fails"]
    assert found[max(found)].kind == "shape_dtype"
    assert "must match the size" in found[max(found)].detail
    assert report.verdict == "fails"


# -- each by itself ----------------------------------------------------------------------------------


def double(index: int):
    """A pass that makes one add of three times too large, and so three wrong rewrites of one kind."""

    def scale(module):
        editor = Editor(module)
        old = editor.find(AT.add.Tensor, index)
        made = editor.call(old, AT.add.Tensor, *old.args, **{**old.kwargs, "alpha": 3})
        editor.replace(old, made)

    scale.__name__ = f"scale_{index}"
    return in_place(scale)


def chain():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    value = x
    for _ in range(4):
        value = graph.call_function(AT.relu.default, (graph.call_function(AT.add.Tensor, (value, x)),))
    graph.output(value)
    return fake_values(torch.fx.GraphModule(torch.nn.Module(), graph), torch.randn(8))


def fake_values(module, *inputs):
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.passes.fake_tensor_prop import FakeTensorProp

    FakeTensorProp(module, FakeTensorMode()).propagate(*inputs)
    return module


def test_a_rewrite_after_a_wrong_one_is_judged_by_what_it_does_itself(tmp_path):
    def harmless(module):
        editor = Editor(module)
        for _ in range(4):
            old = editor.find(AT.relu.default, -1)
            editor.replace(old, editor.call(old, AT.clamp_min.default, old.args[0], 0.0))

    passes = [double(1), in_place(harmless), double(3)]
    report = check(session_of(chain(), (torch.randn(8),), passes, tmp_path))
    blamed = [each.name for each in report.in_order if each.judgement.verdict != "equal"]
    assert blamed == ["scale_1", "scale_3"]


def test_moving_what_was_wrong_before_is_not_wrong(tmp_path):
    """The second pass moves the node that the first made wrong, and keeps its wrong value: that is right."""

    def lose_zero_point(module):
        editor = Editor(module)
        old = editor.find(QD.dequantize_per_tensor.default)
        source, scale, _, *rest = old.args
        editor.replace(old, editor.call(old, old.target, source, scale, 0, *rest))

    def move_below(module):
        editor = Editor(module)
        old = editor.find(QD.dequantize_per_tensor.default)
        permute = next(iter(old.users))
        source, *rest = old.args
        moved = editor.call(permute, AT.permute.default, source, permute.args[1])
        editor.replace(permute, editor.call(moved, old.target, moved, *rest))
        editor.erase(old)

    def move_further(module):
        editor = Editor(module)
        old = editor.find(QD.dequantize_per_tensor.default)
        unsqueeze = next(iter(old.users))
        source, *rest = old.args
        moved = editor.call(unsqueeze, AT.unsqueeze.default, source, unsqueeze.args[1])
        editor.replace(unsqueeze, editor.call(moved, old.target, moved, *rest))
        editor.erase(old)

    passes = [in_place(each) for each in (lose_zero_point, move_below, move_further)]
    report = check(session_of(*mixed(), passes, tmp_path))
    assert [each.name for each in report.in_order if each.judgement.verdict != "equal"] == ["lose_zero_point"]
    assert [each.judgement.verdict for each in report.passes] == ["differs", "equal", "equal"]
    assert [each.since_start.verdict for each in report.passes] == ["differs"] * 3


def drop_a_rounding(module):
    """Removes the pair of the quantized `moved`, so that its values are no longer rounded."""
    editor = Editor(module)
    pair_end = editor.find(QD.dequantize_per_tensor.default)
    editor.replace(pair_end, pair_end.args[0].args[0])


def average_a_sum(module):
    editor = Editor(module)
    old = editor.find(AT.sum.dim_IntList)
    editor.replace(old, editor.call(old, AT.mean.dim, *old.args))


def test_outputs_that_differ_are_as_bad_as_the_rewrite_behind_them(tmp_path):
    """An output of real numbers has no step: a dropped rounding comes out as any number, and is no fault."""
    passes = [in_place(drop_a_rounding), in_place(average_a_sum)]
    report = check(session_of(*mixed(), passes, tmp_path))
    assert [each.kind for each in bad(report).values()] == ["quantization_step", "wrong"]
    assert [each.judgement.kind for each in report.passes] == ["quantization_step", "wrong"]
    assert [each.since_start.kind for each in report.passes] == ["quantization_step", "wrong"]
    swapped = check(session_of(*mixed(), passes[::-1], tmp_path))
    assert [each.judgement.kind for each in swapped.passes] == ["wrong", "quantization_step"]
    assert [each.since_start.kind for each in swapped.passes] == ["wrong", "wrong"]


def test_a_rewrite_that_another_of_its_pass_makes_good_is_equal(tmp_path):
    """Scaling a weight by 2 and its product by a half: neither is right alone."""

    def halve_and_double(module):
        editor = Editor(module)
        for node in [editor.find(AT.sub.Tensor), editor.find(AT.cat.default)]:
            if node.target is AT.sub.Tensor:
                made = editor.call(node, AT.mul.Tensor, node, 2.0)
                for user in [each for each in node.users if each is not made]:
                    user.replace_input_with(node, made)
            else:
                made = node.args[0][0]
                halved = editor.call(made, AT.mul.Tensor, made, 0.5)
                for user in [each for each in made.users if each is not halved]:
                    user.replace_input_with(made, halved)

    report = check(session_of(*mixed(), [in_place(halve_and_double)], tmp_path))
    assert report.verdict == "equal", report.rewrites[0]
    assert len(report.rewrites) == 2
    assert any("make it good" in each.judgement.detail for each in report.rewrites)


def test_what_lies_between_two_ends_of_a_rewrite_may_change(tmp_path):
    """Removing the permutes around an elementwise op leaves that op as it is, with transposed values."""
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    there = graph.call_function(AT.permute.default, (x, [1, 0]))
    middle = graph.call_function(AT.tanh.default, (graph.call_function(AT.relu.default, (there,)),))
    graph.output(
        graph.call_function(AT.neg.default, (graph.call_function(AT.permute.default, (middle, [1, 0])),))
    )
    module = torch.fx.GraphModule(torch.nn.Module(), graph)

    def remove_pair(module):
        for node in module.graph.find_nodes(op="call_function", target=AT.permute.default)[:1]:
            last = list(module.graph.find_nodes(op="call_function", target=AT.permute.default))[-1]
            node.replace_all_uses_with(node.args[0])
            last.replace_all_uses_with(last.args[0])
            module.graph.erase_node(node)
            module.graph.erase_node(last)

    def remove_one(module):
        node = list(module.graph.find_nodes(op="call_function", target=AT.permute.default))[-1]
        node.replace_all_uses_with(node.args[0])
        module.graph.erase_node(node)

    inputs = (torch.randn(3, 3),)
    assert check(session_of(module, inputs, [in_place(remove_pair)], tmp_path)).verdict == "equal"
    assert check(session_of(module, inputs, [in_place(remove_one)], tmp_path)).verdict == "differs"


def test_what_lies_between_may_not_give_an_output_another_value(tmp_path):
    """A quantize goes above a view that an output reads by another way: that output becomes int8 too."""
    graph = torch.fx.Graph()
    view = graph.call_function(AT.view.default, (graph.placeholder("x"), [2, 2]))
    quantized = graph.call_function(QD.quantize_per_tensor.default, (view, 0.1, 0, -128, 127, torch.int8))
    graph.output((quantized, graph.call_function(AT.relu.default, (view,))))
    module = fake_values(torch.fx.GraphModule(torch.nn.Module(), graph), torch.randn(4))

    def advance(module):
        for quantize in module.graph.find_nodes(op="call_function", target=QD.quantize_per_tensor.default):
            view, *parameters = quantize.args
            above = Editor(module).call(view.args[0], quantize.target, view.args[0], *parameters)
            quantize.replace_all_uses_with(view)
            view.args = (above, view.args[1])
            module.graph.erase_node(quantize)

    report = check(session_of(module, (torch.randn(4),), [in_place(advance)], tmp_path))
    (found,) = report.rewrites
    assert (found.judgement.verdict, found.judgement.kind) == ("differs", "shape_dtype")
    assert found.judgement.where == "output 1"


# -- what graphs hold --------------------------------------------------------------------------------


def test_a_rewrite_inside_a_branch_is_judged_also_where_the_branch_is_not_taken(tmp_path):
    program, inputs = branches()

    def negate(module):
        for inner in [each for each in module.children() if isinstance(each, torch.fx.GraphModule)]:
            permute = next(n for n in inner.graph.nodes if "permute" in str(n.target))
            with inner.graph.inserting_after(permute):
                made = inner.graph.call_function(torch.ops.aten.neg.default, (permute,))
            permute.replace_all_uses_with(made, delete_user_cb=lambda user, made=made: user is not made)
            inner.recompile()

    report = check(session_of(program, inputs, [in_place(negate)], tmp_path))
    assert len(report.rewrites) == 2
    assert {(each.path != "", each.judgement.verdict) for each in report.rewrites} == {(True, "differs")}


def test_a_mutated_buffer_counts_as_an_output(tmp_path):
    program, inputs = stateful()

    def count_twice(module):
        outputs = module.graph.output_node().args[0]
        with module.graph.inserting_after(outputs[0]):
            made = module.graph.call_function(outputs[0].target, (outputs[0], 1))
        module.graph.output_node().args = ((made, *outputs[1:]),)
        made.meta = dict(outputs[0].meta)

    report = check(session_of(program, inputs, [in_place(count_twice)], tmp_path))
    (found,) = bad(report).values()
    assert found.where.startswith("the new value of the buffer calls")
    assert found.max_abs == 1.0


def test_a_graph_that_writes_in_place_is_run_whole(tmp_path):
    def adds(x, y):
        seen = x.relu()
        x.add_(y)
        return seen + x

    module = torch.fx.symbolic_trace(adds)

    def skip_write(module):
        node = next(node for node in module.graph.nodes if node.target == "add_")
        node.replace_all_uses_with(node.args[0])
        module.graph.erase_node(node)

    def reorder(module):
        relu = next(node for node in module.graph.nodes if node.target == "relu")
        next(node for node in module.graph.nodes if node.target == "add_").append(relu)

    def harmless(module):
        node = next(node for node in module.graph.nodes if node.target == "relu")
        node.target = "clamp_min"
        node.args = (*node.args, 0.0)

    inputs = (torch.randn(5), torch.randn(5))
    for edit, verdict in ((skip_write, "differs"), (reorder, "differs"), (harmless, "equal")):
        report = check(session_of(module, inputs, [in_place(edit)], tmp_path))
        assert report.verdict == verdict, edit.__name__


def test_an_op_without_an_implementation_is_not_checkable_and_named(tmp_path):
    torch.library.define("qdqviz_test::nowhere", "(Tensor x) -> Tensor")
    op = torch.ops.qdqviz_test.nowhere.default
    module = torch.fx.symbolic_trace(lambda x: x.relu().neg())

    def use_it(module):
        node = next(node for node in module.graph.nodes if node.target == "relu")
        with module.graph.inserting_after(node):
            made = module.graph.call_function(op, node.args)
        node.replace_all_uses_with(made)
        module.graph.erase_node(node)

    report = check(session_of(module, (torch.ones(2),), [in_place(use_it)], tmp_path))
    (found,) = bad(report).values()
    assert report.verdict == found.verdict == "not_checkable"
    assert "qdqviz_test.nowhere.default" in found.detail
    assert "has no implementation for the CPU; --import the module" in found.detail


def test_cadence_ops_run_by_their_reference_implementations(tmp_path, loaded_sample):
    passes = "executorch.backends.cadence.aot.replace_ops:ReplacePT2QuantWithCadenceQuantPass"
    report = check(run(loaded_sample("slices"), resolve(passes), tmp_path / "t.qdqtrace"))
    assert report.rewrites
    assert report.verdict == "equal", report.rewrites[0]


def test_a_pass_that_raises_leaves_its_rewrites_to_be_judged(tmp_path):
    def break_then_raise(module):
        editor = Editor(module)
        old = editor.find(AT.sub.Tensor)
        editor.replace(old, editor.call(old, AT.sub.Tensor, *reversed(old.args)))
        raise ZeroDivisionError

    session = session_of(*unlifted(), [in_place(break_then_raise)], tmp_path)
    assert session.error is not None
    assert check(session).verdict == "differs"


def test_nothing_rewritten_is_equal(tmp_path):
    report = check(session_of(*mixed(), [in_place(lambda module: None)], tmp_path))
    assert (report.verdict, report.rewrites, report.passes) == ("equal", (), ())


# -- inputs and memory -------------------------------------------------------------------------------


def clamp_at_two(module):
    node = next(node for node in module.graph.nodes if node.target == "relu")
    node.target, node.args = torch.clamp, (node.args[0], 0.0, 2.0)
    node.op = "call_function"


def test_a_difference_that_one_input_set_shows_is_a_difference(tmp_path):
    module = torch.fx.symbolic_trace(lambda x: x.relu() + 1)
    session = session_of(module, (torch.full((64,), 0.5),), [in_place(clamp_at_two)], tmp_path)
    torch.save((torch.full((64,), 9.0),), tmp_path / "large.pt")
    assert check(session).verdict == "equal"
    assert check(session, str(tmp_path / "large.pt")).verdict == "differs"


def test_without_inputs_random_ones_are_drawn_from_a_seed(tmp_path):
    program, _ = unlifted()
    session = session_of(program, None, [double(1)], tmp_path)
    first, again = check(session, seed=3), check(session, seed=3)
    assert first.inputs == ("random inputs, seed 3",)
    assert first.rewrites == again.rewrites
    assert check(session, seed=4).rewrites != first.rewrites


def test_a_small_memory_cap_changes_nothing_but_the_time(encoder, tmp_path):
    session = run(encoder, resolve("cadence-reorder"), tmp_path / "t.qdqtrace")
    assert check(session, cap=1).rewrites == check(session).rewrites


def test_inputs_that_do_not_fit_are_refused_in_one_line(tmp_path):
    session = session_of(*mixed(), [double(1)], tmp_path)
    torch.save((torch.ones(1),), tmp_path / "one.pt")
    with pytest.raises(NotCheckableError, match="1 inputs, and the graph takes 2"):
        check(session, str(tmp_path / "one.pt"))
    with pytest.raises(UsageError, match="no file"):
        check(session, str(tmp_path / "none.pt"))


def test_every_finding_is_reported_as_it_comes(tmp_path):
    told = []
    session = session_of(*mixed(), [double(1), double(0)], tmp_path)
    report = check(session, report=told.append)
    assert [type(each).__name__ for each in told if hasattr(each, "since_start")] == ["PassCheck"] * 2
    assert hasattr(told[-1], "since_start")
    assert {each for each in told if hasattr(each, "focus")} == set(report.rewrites)
