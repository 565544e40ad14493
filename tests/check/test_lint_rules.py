"""Each lint rule: what it finds at which rewrite, what a retrace makes good, and how it is turned off."""

from __future__ import annotations

import pytest
import torch
from live_programs import in_place, session_of
from mixed_program import AT, PARAMS, QD, Editor, mixed, unlifted

from qdqviz.check.lint import lint, rule_names
from qdqviz.check.rules.dims import dim_after, dim_before
from qdqviz.errors import UsageError
from qdqviz.ir.node import NodeState, OpInfo, SymDim
from qdqviz.ir.values import ListArg, Ref
from qdqviz.live.session import run
from qdqviz.passes.resolve import resolve


def linted(edit, path, program=None, **settings):
    session = session_of(*(program or unlifted()), [in_place(edit)], path)
    assert session.error is None, session.error
    return lint(session.trace, session.store, **settings).findings


def told(findings):
    return {(each.rule, each.node) for each in findings}


def test_upstreams_reorder_passes_are_told_the_axis_that_they_should_have_written(tmp_path, loaded_sample):
    session = run(loaded_sample("dynamic_linear"), resolve("cadence-reorder"), tmp_path / "t.qdqtrace")
    found = [each for each in lint(session.trace).findings if each.rule == "channel-axis"]
    assert len(found) == 3
    assert {each.found for each in found} == {"axis 0"}
    assert all(each.wanted.startswith("axis 1") for each in found)
    assert {each.name for each in found} == {"PostponeDequantizeOpBelowUseChainPass"}


@pytest.mark.parametrize(
    ("move", "axis"),
    [
        ((AT.permute.default, [1, 0]), 1),
        ((AT.transpose.int, 0, 1), 1),
        ((AT.unsqueeze.default, 0), 1),
        ((AT.unsqueeze.default, -1), 0),
        ((AT.view.default, [6, 2, 3]), 0),
        ((AT.view.default, [2, 3, 6]), None),
        ((AT.clone.default,), 0),
    ],
)
def test_the_axis_is_followed_through_data_movement(move, axis, tmp_path):
    target, *rest = move

    def move_below(wrong):
        def edit(module):
            editor = Editor(module)
            old = editor.find(QD.dequantize_per_channel.default)
            integers, scales, zero_points, _, *limits = old.args
            permute = next(iter(old.users))
            moved = editor.call(old, target, integers, *rest)
            new = editor.call(moved, old.target, moved, scales, zero_points, wrong, *limits)
            back = editor.call(new, AT.view.default, new, [6, 6])
            permute.replace_input_with(old, back)
            editor.erase(old)

        return edit

    for given in (0, 1):
        found = {each.rule: each for each in linted(move_below(given), tmp_path)}
        if axis is None or given == axis:
            assert "channel-axis" not in found or "elements" in found["channel-axis"].found
        else:
            assert found["channel-axis"].wanted.startswith(f"axis {axis}")


def test_as_many_scales_as_the_axis_has_elements_are_wanted(tmp_path):
    def edit(module):
        editor = Editor(module)
        old = editor.find(QD.dequantize_per_channel.default)
        integers, *rest = old.args
        wide = editor.call(old, AT.view.default, integers, [3, 12])
        new = editor.call(wide, AT.view.default, wide, [3, 2, 6])
        with editor.graph.inserting_after(new):
            made = editor.graph.call_function(old.target, (new, *rest))
        made.meta = dict(old.meta)
        back = editor.call(made, AT.clone.default, made)
        old.replace_all_uses_with(back, delete_user_cb=lambda user: user is not back)
        editor.erase(old)

    (found,) = [each for each in linted(edit, tmp_path) if each.rule == "channel-axis"]
    assert found.found == "axis 0 has 3 elements, and there are 6 scales"
    assert found.wanted == "axis 2"


def test_a_use_before_definition_is_found_unless_the_pass_repairs_it(tmp_path):
    def break_order(module):
        gelu = Editor(module).find(AT.gelu.default)
        next(iter(gelu.users)).append(gelu)

    def break_and_repair(module):
        gelu = Editor(module).find(AT.gelu.default)
        user = next(iter(gelu.users))
        user.append(gelu)
        user.prepend(gelu)

    (found,) = [each for each in linted(break_order, tmp_path) if each.rule == "use-before-definition"]
    assert found.found == "uses gelu, which is computed later"
    assert "use-before-definition" not in {each.rule for each in linted(break_and_repair, tmp_path)}


def test_shared_metadata_is_told_with_the_other_node(tmp_path):
    def share(module):
        editor = Editor(module)
        editor.find(AT.relu.default).meta = editor.find(AT.sub.Tensor).meta

    found = [each for each in linted(share, tmp_path) if each.rule == "shared-meta"]
    assert [(each.node, each.found) for each in found] == [
        ("relu", "its metadata is the same dictionary as that of sub")
    ]


@pytest.mark.parametrize("key", ["debug_handle", "stack_trace", "nn_module_stack", "quantization_tag"])
def test_lost_metadata_is_told_for_kept_and_for_replaced_nodes(key, tmp_path):
    module, inputs = unlifted()
    for number, node in enumerate(module.graph.nodes):
        if node.op == "call_function":
            node.meta.update({"debug_handle": number, "quantization_tag": "t", "stack_trace": "File x"})
            node.meta.setdefault("nn_module_stack", {"m": ("m", torch.nn.Module)})

    def lose_in_place(module):
        del Editor(module).find(AT.relu.default).meta[key]

    def lose_in_replacing(module):
        editor = Editor(module)
        old = editor.find(AT.relu.default)
        new = editor.call(old, AT.clamp_min.default, old.args[0], 0.0)
        del new.meta[key]
        editor.replace(old, new)

    rule = f"lost-{key.replace('_', '-')}"
    assert (rule, "relu") in told(linted(lose_in_place, tmp_path, (module, inputs)))
    assert (rule, "clamp_min_default") in told(linted(lose_in_replacing, tmp_path, (module, inputs)))


def test_a_handle_that_told_nodes_apart_must_not_be_copied(tmp_path):
    module, inputs = unlifted()
    for number, node in enumerate(module.graph.nodes):
        node.meta["debug_handle"] = number

    def insert(module):
        editor = Editor(module)
        old = editor.find(AT.relu.default)
        new = editor.call(old, AT.clone.default, old)
        old.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)

    found = [
        each for each in linted(insert, tmp_path, (module, inputs)) if each.rule == "copied-debug-handle"
    ]
    assert [each.node for each in found] == ["clone_default"]
    assert "which relu has as well" in found[0].found


def test_a_stale_val_is_told_with_what_the_op_computes_and_followed_to_users(tmp_path):
    def stale(module):
        editor = Editor(module)
        old = editor.find(AT.unsqueeze.default)
        old.args = (old.args[0], 1)

    found = {each.node: each for each in linted(stale, tmp_path) if each.rule == "stale-val"}
    assert set(found) == {"unsqueeze", "add_5"}
    assert found["unsqueeze"].found == "val says float32 [1, 6, 4]"
    assert found["unsqueeze"].wanted == "float32 [6, 1, 4]"


def test_a_new_node_without_val_is_told(tmp_path):
    def bare(module):
        editor = Editor(module)
        old = editor.find(AT.relu.default)
        new = editor.call(old, AT.clamp_min.default, old.args[0], 0.0)
        del new.meta["val"]
        editor.replace(old, new)

    assert ("lost-val", "clamp_min_default") in told(linted(bare, tmp_path))


def test_a_retrace_refreshes_values_in_time(tmp_path, loaded_sample):
    """Upstream's passes leave `val` stale while they run, and retrace at their end."""
    session = run(loaded_sample("attention_chain"), resolve("cadence-reorder"), tmp_path / "t.qdqtrace")
    assert not {"stale-val", "lost-val"} & {each.rule for each in lint(session.trace, session.store).findings}


def test_quantization_around_an_annotated_op_has_to_be_tagged(tmp_path):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    values = []
    for _ in range(2):
        steps = graph.call_function(QD.quantize_per_tensor.default, (x, *PARAMS))
        values.append(graph.call_function(QD.dequantize_per_tensor.default, (steps, *PARAMS)))
    cat = graph.call_function(AT.cat.default, (values, 1))
    cat.meta.update(quantization_tag="t", stack_trace="here")
    graph.output(cat)
    values[0].meta.update(quantization_tag="t", stack_trace="here")
    program = torch.fx.GraphModule(torch.nn.Module(), graph), (torch.ones(2, 2),)
    found = [
        each for each in linted(lambda module: None, tmp_path, program) if each.rule == "bare-quantization"
    ]
    assert {(each.node, each.found, each.step) for each in found} == {
        (values[1].name, "no quantization_tag", None),
        (values[1].name, "no stack_trace", None),
    }


def test_quantization_that_two_ops_share_belongs_to_neither(tmp_path):
    graph = torch.fx.Graph()
    steps = graph.call_function(QD.quantize_per_tensor.default, (graph.placeholder("x"), *PARAMS))
    shared = graph.call_function(QD.dequantize_per_tensor.default, (steps, *PARAMS))
    relu, tanh = (graph.call_function(op, (shared,)) for op in (AT.relu.default, AT.tanh.default))
    twice = [graph.call_function(QD.quantize_per_tensor.default, (tanh, *PARAMS)) for _ in range(2)]
    for tag, op in enumerate((relu, tanh)):
        op.meta.update(quantization_tag=str(tag), stack_trace="here")
    graph.output((relu, *twice))
    program = torch.fx.GraphModule(torch.nn.Module(), graph), (torch.ones(2, 2),)
    assert linted(lambda module: None, tmp_path, program) == ()


def test_rules_can_be_turned_off_by_name(tmp_path):
    def share(module):
        editor = Editor(module)
        editor.find(AT.relu.default).meta = editor.find(AT.sub.Tensor).meta

    session = session_of(*unlifted(), [in_place(share)], tmp_path)
    assert "shared-meta" in {each.rule for each in lint(session.trace).findings}
    assert "shared-meta" not in {each.rule for each in lint(session.trace, off=["shared-meta"]).findings}
    with pytest.raises(UsageError, match="no lint rule is named 'nonsense'"):
        lint(session.trace, off=["nonsense"])
    assert len(set(rule_names())) == len(rule_names())


def test_a_trace_alone_is_linted_without_torch_and_says_what_is_skipped(tmp_path):
    import subprocess
    import sys

    session = session_of(*mixed(), [in_place(lambda module: None)], tmp_path)
    path = session.trace.path
    session.trace.close()
    script = (
        "import sys; from qdqviz.check.lint import lint; from qdqviz.trace.reader import Trace;"
        f"report = lint(Trace({str(path)!r})); assert 'torch' not in sys.modules; print(*report.skipped)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["stale-val", "lost-val"]


@pytest.mark.parametrize(
    ("op", "args", "before", "after"),
    [
        ("aten.permute.default", (ListArg((2, 0, 1)),), (2, 3, 4), (4, 2, 3)),
        ("aten.transpose_copy.int", (0, -1), (2, 3, 4), (4, 3, 2)),
        ("aten.squeeze.dims", (ListArg((1,)),), (2, 1, 3), (2, 3)),
        ("aten.unsqueeze.default", (1,), (2, 3), (2, 1, 3)),
        ("aten.view.default", (ListArg((6, 4)),), (2, 3, 4), (6, 4)),
        ("aten.view.default", (ListArg((2, 2, 6)),), (2, 12), (2, 2, 6)),
        ("aten.expand.default", (ListArg((5, 2, 3)),), (2, 3), (5, 2, 3)),
        ("aten.slice.Tensor", (1, 0, 2), (4, 5), (4, 2)),
        ("aten.select.int", (0, 1), (4, 5), (5,)),
        ("aten.t.default", (), (2, 3), (3, 2)),
    ],
)
def test_a_followed_dimension_holds_the_same_indices(op, args, before, after):
    """Against torch: a tensor that varies along one dimension only varies along the followed one only."""
    name = op.split(".")[1].removesuffix("_copy")
    node = NodeState(0, b"", "n", "call_function", op, (Ref(1), *args))
    plain = [list(arg.items) if isinstance(arg, ListArg) else arg for arg in args]
    for dim, size in enumerate(before):
        shape = [1] * len(before)
        shape[dim] = size
        ramp = torch.arange(size, dtype=torch.float32).view(shape).expand(before).contiguous()
        moved = getattr(getattr(torch.ops.aten, name), op.split(".")[2])(ramp, *plain)
        found = dim_after(node, before, after, dim, {})
        whole = [at for at in range(moved.dim()) if moved.shape[at] == size]
        carriers = [at for at in whole if torch.equal(moved, ramp_along(at, moved.shape))]
        if size > 1:
            assert found == next(iter(carriers), None)
        if found is not None:
            assert dim_before(node, before, after, found, {}) == dim


def ramp_along(dim, shape):
    ramp = torch.arange(shape[dim], dtype=torch.float32)
    return ramp.view([-1 if at == dim else 1 for at in range(len(shape))]).expand(shape)


def test_symbolic_sizes_are_followed_by_their_expression():
    node = NodeState(0, b"", "n", "call_function", "aten.view.default", (Ref(1), ListArg((-1, 6))))
    batch = SymDim("s0", 4)
    assert dim_after(node, (batch, 6), (batch, 2, 3), 0, {}) == 0
    assert dim_after(node, (batch, 6), (batch, 2, 3), 1, {}) is None
    info = OpInfo("aten.permute.default", ("self", "dims"))
    permute = NodeState(0, b"", "n", "call_function", "aten.permute.default", (Ref(1), ListArg((1, 0))))
    assert dim_after(permute, (batch, 6), (6, batch), 0, {info.target: info}) == 1
