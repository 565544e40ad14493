"""The samples: found without torch, the same each time, and showing what their docstrings say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils._pytree import tree_leaves

from qdqviz.errors import TargetError
from qdqviz.load.apply import apply_passes
from qdqviz.load.samples import find_sample, list_samples, sample_module
from qdqviz.passes.importing import import_module

NAMES = ["attention_chain", "avgpool", "convnet", "dynamic_linear", "encoder", "slices", "weight_only"]
CADENCE = "executorch.backends.cadence.aot"
ROOT = Path(__file__).resolve().parents[2]


def pass_of(module, name, *args):
    return getattr(import_module(f"{CADENCE}.{module}"), name)(*args)


def graph_of(program, method="forward"):
    return program.exported_program(method).graph


def op(node):
    """`permute_copy` for the node that calls aten.permute_copy.default; `` for what is no op."""
    return node.target.__name__.split(".")[1] if "." in getattr(node.target, "__name__", "") else ""


def ops(graph, name):
    return [node for node in graph.nodes if op(node) == name]


def run(program, sample, method="forward"):
    return tree_leaves(program.exported_program(method).module(check_guards=False)(*sample.inputs))


def test_the_samples_of_the_issue_are_all_there():
    assert [sample.name for sample in list_samples()] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_says_in_one_line_what_it_is_and_then_what_to_see_and_try(name):
    sample = find_sample(name)
    assert 30 < len(sample.summary) <= 110 and sample.summary.endswith(".")
    assert "What there is to see" in sample.description
    assert "Passes to try" in sample.description


@pytest.mark.parametrize("name", NAMES)
def test_every_pass_that_a_docstring_names_exists_upstream(name):
    modules = [import_module(f"{CADENCE}.{each}") for each in ("reorder_ops", "fuse_ops", "replace_ops")]
    modules.append(import_module("executorch.backends.transforms.fuse_batch_norm_with_conv"))
    named = re.findall(r"\b[A-Z]\w+(?:Pass|Ops)\b", find_sample(name).description)
    named += re.findall(r"\bFuse[A-Z]\w+\b", find_sample(name).description)
    assert named
    for each in named:
        assert any(hasattr(module, each) for module in modules), each


def test_listing_imports_neither_torch_nor_the_samples():
    code = (
        "import sys; from qdqviz.load.samples import list_samples; print(len(list_samples()));"
        "print([m for m in sys.modules if m.split('.')[0] in ('torch', 'executorch', 'sample_models')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["7", "[]"]


def test_an_installed_wheel_finds_them_inside_the_package(tmp_path):
    shutil.copytree(ROOT / "qdqviz" / "load", tmp_path / "qdqviz" / "load")
    for file in ("__init__.py", "errors.py"):
        shutil.copy(ROOT / "qdqviz" / file, tmp_path / "qdqviz" / file)
    shutil.copytree(ROOT / "sample_models", tmp_path / "qdqviz" / "sample_models")
    code = "from qdqviz.load.samples import find_sample; print(find_sample('encoder').path)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()) == tmp_path / "qdqviz" / "sample_models" / "encoder.py"


def test_an_unknown_name_suggests_the_closest():
    with pytest.raises(TargetError, match="did you mean convnet"):
        find_sample("conv_net")


@pytest.mark.parametrize("name", NAMES)
def test_building_twice_gives_the_same_program_and_leaves_the_global_generator_alone(name, loaded_sample):
    first = loaded_sample(name)
    before = torch.random.get_rng_state()
    module = sample_module(name)
    second = module.build()
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(map(torch.equal, module.example_inputs(), first.inputs))
    assert sorted(second.methods) == list(first.methods)
    for method in first.methods:
        one, other = first.program.exported_program(method), second.exported_program(method)
        assert one.graph_module.code == other.graph_module.code
        assert list(one.state_dict) == list(other.state_dict)
        assert all(torch.equal(one.state_dict[key], other.state_dict[key]) for key in one.state_dict)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_runs_on_the_example_inputs(name, loaded_sample, sample_program):
    sample = loaded_sample(name)
    for method in sample.methods:
        outputs = run(sample_program(name), sample, method)
        assert outputs and all(bool(output.isfinite().all()) for output in outputs)


def test_encoder_lowers_square_linears_to_a_channel_axis_in_front_of_a_permute(loaded_sample):
    graph = graph_of(loaded_sample("encoder").program)
    linears = ops(graph, "addmm")
    assert len(linears) == 6 and len(ops(graph, "bmm")) == 2
    for linear in linears:
        permute = linear.args[2]
        weight = permute.args[0]
        assert (op(permute), permute.args[1]) == ("permute_copy", [1, 0])
        assert (op(weight), weight.args[3]) == ("dequantize_per_channel", 0)
        rows, columns = weight.meta["val"].shape
        assert rows == columns


def test_encoder_goes_silently_wrong_when_dequantizes_are_postponed(loaded_sample, sample_program):
    postponed = apply_passes(
        sample_program("encoder"), [pass_of("reorder_ops", "PostponeDequantizeOpBelowUseChainPass")]
    )
    wanted, found = (
        run(each, loaded_sample("encoder"))[0] for each in (sample_program("encoder"), postponed)
    )
    assert wanted.shape == found.shape and float((wanted - found).abs().max()) > 0.01


def test_convnet_has_a_float_batch_norm_a_depthwise_convolution_and_no_channel_axis(loaded_sample):
    graph = graph_of(loaded_sample("convnet").program)
    (norm,) = ops(graph, "_native_batch_norm_legit_no_training")
    assert op(norm.args[0]) == "convolution" and norm.args[0].args[0].op == "placeholder"
    depthwise = [node for node in ops(graph, "convolution") if node.args[8] > 1]
    assert (
        [node.args[8] for node in depthwise]
        == [node.args[1].meta["val"].shape[0] for node in depthwise]
        == [8]
    )
    assert len(ops(graph, "max_pool2d_with_indices")) == 2 and len(ops(graph, "addmm")) == 1
    assert not [node for node in graph.nodes if "per_channel" in op(node)]


def test_convnet_batch_norm_is_left_by_cadence_and_folded_by_the_pass_that_the_docstring_names(
    sample_program,
):
    left = apply_passes(sample_program("convnet"), [pass_of("fuse_ops", "FuseBatchNormWithConv")])
    program = sample_program("convnet")
    transforms = import_module("executorch.backends.transforms.fuse_batch_norm_with_conv")
    folded = apply_passes(program, [transforms.FuseBatchNormWithConvPass(program.exported_program())])
    norms = [len(ops(graph_of(each), "_native_batch_norm_legit_no_training")) for each in (left, folded)]
    assert norms == [1, 0]


def test_slices_are_quantized_each_with_parameters_of_its_own(loaded_sample):
    slices = ops(graph_of(loaded_sample("slices").program), "slice_copy")
    assert len({node.args[0] for node in slices}) == 1 and len(slices) == 4
    parameters = {next(iter(node.users)).args[1:] for node in slices}
    assert len(parameters) == 4


def test_slices_get_one_quantize_in_front_by_the_branch_pass_and_none_by_the_chain_pass(sample_program):
    chain, branch = (
        graph_of(apply_passes(sample_program("slices"), [pass_of("reorder_ops", name)]))
        for name in ("AdvanceQuantizeOpAboveDefChainPass", "AdvanceQuantizeOpAboveDefInBranchPass")
    )
    assert {op(node.args[0]) for node in ops(chain, "slice_copy")} == {"sigmoid"}
    assert {op(node.args[0]) for node in ops(branch, "slice_copy")} == {"quantize_per_tensor"}


def test_weight_only_keeps_linears_and_quantizes_no_activation(loaded_sample, sample_program):
    graph = graph_of(loaded_sample("weight_only").program)
    assert [op(node.args[1]) for node in ops(graph, "linear")] == ["dequantize_per_channel"] * 3
    assert not ops(graph, "addmm") and not ops(graph, "quantize_per_tensor")
    left = apply_passes(
        sample_program("weight_only"), [pass_of("reorder_ops", "PostponeDequantizeOpBelowUseChainPass")]
    )
    assert str(graph_of(left)) == str(graph)
    sunk = apply_passes(sample_program("weight_only"), [pass_of("reorder_ops", "SinkOpsCloserToUsePass")])
    assert all(op(node.prev) == "dequantize_per_channel" for node in ops(graph_of(sunk), "linear"))


def test_dynamic_linear_shares_one_measured_chain_between_two_linears(loaded_sample):
    graph = graph_of(loaded_sample("dynamic_linear").program)
    assert len(ops(graph, "choose_qparams")) == 2 and len(ops(graph, "addmm")) == 3
    for node in ops(graph, "quantize_per_tensor"):
        assert [scale.args[1] for scale in node.args[1:3]] == [0, 1]
    readers = sorted(len(node.users) for node in ops(graph, "dequantize_per_tensor"))
    assert readers == [1, 2]


def test_dynamic_linear_breaks_in_the_two_ways_that_the_docstring_says(loaded_sample, sample_program):
    postponed = apply_passes(
        sample_program("dynamic_linear"), [pass_of("reorder_ops", "PostponeDequantizeOpBelowUseChainPass")]
    )
    graph = graph_of(postponed)
    assert {op(node.args[0]) for node in ops(graph, "dequantize_per_channel")} == {"permute_copy"}
    assert {op(node.args[0]) for node in ops(graph, "dequantize_per_tensor")} == {"quantize_per_tensor"}
    with pytest.raises(RuntimeError, match="size of tensor"):
        run(postponed, loaded_sample("dynamic_linear"))
    with pytest.raises(Exception, match="FuseQuantDequantToRequantizePass"):
        apply_passes(
            sample_program("dynamic_linear"), [pass_of("fuse_ops", "FuseQuantDequantToRequantizePass")]
        )


def test_avgpool_differs_between_its_methods_in_what_surrounds_the_pool(loaded_sample):
    program = loaded_sample("avgpool").program
    around = {}
    for method in ("forward", "float_pool"):
        (pool,) = ops(graph_of(program, method), "_adaptive_avg_pool2d")
        (reader,) = pool.users
        around[method] = (op(pool.args[0]), op(reader), pool.args[0].args[1:] == reader.args[1:])
    assert around == {
        "forward": ("dequantize_per_tensor", "quantize_per_tensor", True),
        "float_pool": ("dequantize_per_tensor", "view_copy", False),
    }


def test_attention_chain_has_long_float_chains_of_movement_that_the_passes_turn_to_int8(sample_program):
    moves = {"view_copy", "permute_copy", "expand_copy"}

    def float_moves(graph):
        return [node for node in graph.nodes if op(node) in moves and node.meta["val"].dtype == torch.float32]

    names = ("PostponeDequantizeOpBelowUseChainPass", "AdvanceQuantizeOpAboveDefChainPass")
    before = graph_of(sample_program("attention_chain"))
    after = apply_passes(sample_program("attention_chain"), [pass_of("reorder_ops", name) for name in names])
    assert len(float_moves(before)) == 35
    assert len(float_moves(graph_of(after))) == 0
    (clone,) = ops(graph_of(after), "_clone_dim_order")
    assert op(clone.args[0]) == "dequantize_per_tensor"


def test_attention_chain_views_are_fused_only_once_the_dequantizes_have_moved(sample_program):
    fuse = pass_of("fuse_ops", "FuseCascadedViewOps")
    reorder = [
        pass_of("reorder_ops", name)
        for name in ("PostponeDequantizeOpBelowUseChainPass", "AdvanceQuantizeOpAboveDefChainPass")
    ]
    program = sample_program("attention_chain")
    views = len(ops(graph_of(program), "view_copy"))
    assert len(ops(graph_of(apply_passes(program, [fuse])), "view_copy")) == views
    moved = apply_passes(sample_program("attention_chain"), [*reorder, fuse])
    assert len(ops(graph_of(moved), "view_copy")) < views
