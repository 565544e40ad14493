"""What the design says must be right, each on an upstream pass that shows it."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from why_recording import ATEN, DEQUANTIZE, EDGE, QPARAMS, QUANTIZE, ask, aten_graph, edge_graph, seen, texts

BACKENDS = "executorch.backends"
REORDER = f"{BACKENDS}.cadence.aot.reorder_ops"
FUSE = f"{BACKENDS}.cadence.aot.fuse_ops"
REMOVE = f"{BACKENDS}.cadence.aot.remove_ops"
REPLACE = f"{BACKENDS}.cadence.aot.replace_ops"


def upstream(module: str, name: str, *arguments: Any) -> Any:
    return getattr(importlib.import_module(module), name)(*arguments)


def functions(answer) -> list[str]:
    return [guard.function.rpartition(".")[2] for guard in answer.chain]


# -- where a tested value came from ----------------------------------------------------------------


def test_a_helpers_false_is_gone_into():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 8))
        y = b.placeholder("y", torch.randn(2, 8))
        total = b.call_operator(EDGE.aten.add.Tensor, (x, y))
        return b.call_operator(EDGE.aten.slice_copy.Tensor, (total, 1, 0, 4))

    answer = ask(upstream(REORDER, "PropagateSlice"), edge_graph(build), "aten_slice_copy_tensor")
    assert texts(answer) == [
        "should_swap(parent, node)",
        'lhs.meta["val"].shape == rhs.meta["val"].shape',
    ]
    assert answer.guard.function == "PropagateSlice._should_swap_binary_elementwise"
    assert seen(answer)["lhs"] == "x"


def test_a_helpers_none_bound_to_a_name_is_gone_into():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 3, 4))
        sigmoid = b.call_operator(EDGE.aten.sigmoid.default, (x,))
        permute = b.call_operator(EDGE.aten.relu.default, (sigmoid,))
        return b.call_operator(EDGE.aten.mean.dim, (permute, [1, 2]))

    answer = ask(upstream(REMOVE, "RemovePermuteBeforeMeanPass"), edge_graph(build), "aten_mean_dim")
    assert texts(answer) == ["permute_node is None", "current.target not in self._UNARY_TARGETS"]
    assert answer.chain[0].bound == "self._find_permute_through_unary_chain(node)"
    assert seen(answer)["current.target"] == "edge.aten.sigmoid.default"


def test_a_list_that_a_helper_cleared_leads_to_the_else_that_cleared_it():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        q = b.call_operator(QUANTIZE, (x, *QPARAMS))
        relu = b.call_operator(EDGE.aten.relu.default, (q,))
        return b.call_operator(DEQUANTIZE, (relu, *QPARAMS))

    answer = ask(upstream(FUSE, "FuseQuantDequantToRequantizePass"), edge_graph(build), quantize_node())
    assert texts(answer)[0] == "len(removal_candidates) == 0"
    group = [sibling.text for sibling in answer.chain[1].siblings] + [answer.chain[1].text]
    assert group == [
        "user.target in bypass_ops",
        "self.can_fuse_for_chain(producer, user, consumer_op_packets)",
    ]
    assert answer.chain[1].kind == "elif"
    assert seen(answer)["get_edge_overload_packet(consumer.target)"] == "edge.aten.relu"


def test_a_flag_that_no_round_of_a_loop_set_shows_every_round():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        y = b.placeholder("y", torch.randn(2, 4))
        cat = b.call_operator(EDGE.aten.cat.default, ([x, y], 1))
        return b.call_operator(QUANTIZE, (cat, *QPARAMS))

    answer = ask(upstream(REORDER, "SplitDequantizedCatPass"), edge_graph(build), "aten_cat_default")
    assert texts(answer) == [
        "has_dequant_input",
        "get_overload_packet(inp.target) in _DEQUANT_OVERLOAD_PACKETS",
    ]
    rounds = (*answer.guard.siblings, answer.guard)
    assert [{s.text: s.value for s in guard.values}["inp"] for guard in rounds] == ["x", "y"]


def test_a_get_that_gave_none_shows_what_was_looked_up():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 8))
        soft = b.call_operator(EDGE.aten.gelu.default, (x,))
        return b.call_operator(EDGE.aten.slice_copy.Tensor, (soft, 1, 0, 4))

    answer = ask(upstream(REORDER, "PropagateSlice"), edge_graph(build), "aten_slice_copy_tensor")
    assert texts(answer) == ["entry is None"]
    assert answer.guard.bound == "self._dispatch.get(parent.target)"
    assert seen(answer)["parent.target"] == "edge.aten.gelu.default"


def test_a_memo_entry_leads_to_the_call_that_made_it():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 3, 4))
        permute = b.call_operator(EDGE.aten.permute_copy.default, (x, [0, 2, 1]))
        return b.call_operator(EDGE.aten.view_copy.default, (permute, [2, 12, 1]))

    module = edge_graph(build)
    pass_ = upstream(f"{BACKENDS}.transforms.remove_permutes_around_elementwise_ops", PERMUTES)
    answer = ask(pass_, module, "aten_permute_copy_default")
    # The first call for the view worked it out; the second, which is the blocking one, found the memo.
    assert texts(answer)[:2] == ["self._is_squeeze_unsqueeze_view(users[0])", "self._sq_unsq_cache[node]"]
    assert answer.guard.function.endswith("._check_squeeze_unsqueeze_view")
    assert answer.guard.text == "len(in_shape) == len(out_shape) + 1"
    assert seen(answer)["len(in_shape)"] == "3"


def test_a_name_bound_to_a_sentinel_leads_to_the_return_that_gave_it():
    def build(b):
        x = b.placeholder("x", torch.randn(3, 4, 5))
        permute = b.call_operator(EDGE.aten.permute_copy.default, (x, [1, 2, 0]))
        return b.call_operator(EDGE.aten.view_copy.default, (permute, [2, 2, 5, 3]))

    pass_ = upstream(REORDER, "PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView")
    answer = ask(pass_, edge_graph(build), "aten_permute_copy_default")
    assert texts(answer) == ["index != -1", "list1[i] == 1"]
    assert seen(answer) == {"list1[i]": "2"}


# -- sibling groups --------------------------------------------------------------------------------


def test_all_operands_of_a_false_or_are_to_blame():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        y = b.placeholder("y", torch.randn(2, 4))
        return b.call_operator(EDGE.aten.mul.Tensor, (x, y))

    answer = ask(upstream(REMOVE, "RemoveNopMulOpPass"), edge_graph(build), "aten_mul_tensor")
    group = (*answer.guard.siblings, answer.guard)
    assert [guard.text for guard in group] == [
        "input1.target == exir_ops.edge.aten.full.default",
        "input2.target == exir_ops.edge.aten.full.default",
    ]


def test_only_the_operand_that_decided_a_true_or_is_to_blame():
    def build(b):
        x = b.placeholder("x", torch.randn(4, 3))
        y = b.placeholder("y", torch.randn(3, 5))
        return b.call_operator(EDGE.aten.relu.default, (b.call_operator(EDGE.aten.mm.default, (x, y)),))

    answer = ask(upstream(FUSE, "FuseMMWithAdd"), edge_graph(build), "aten_mm_default")
    assert texts(answer) == ["user.target != exir_ops.edge.aten.add.Tensor"]
    assert answer.guard.siblings == ()


def test_the_item_that_made_any_true_is_to_blame():
    def build(b):
        x = b.placeholder("x", torch.randn(1, 2, 5, 5))
        zero = b.placeholder("zero", torch.tensor(0, dtype=torch.int32))
        args = (x, (3, 3), (1, 2), (0, 0), (1, 1), zero, False)
        return b.call_operator(EDGE.cadence.im2row.default, args)

    answer = ask(upstream(REPLACE, "ReplaceIm2RowWithViewPass"), edge_graph(build), "cadence_im2row_default")
    assert texts(answer) == ["any(d != 1 for d in dilation)", "d != 1"]
    assert (seen(answer), answer.guard.siblings) == ({"d": "2"}, ())


def test_every_round_of_a_loop_that_found_nothing_is_to_blame():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        y = b.placeholder("y", torch.randn(2, 4))
        cat = b.call_operator(EDGE.aten.cat.default, ([x, y], 0))
        return b.call_operator(EDGE.aten.slice_copy.Tensor, (cat, 0, 1, 3))

    answer = ask(upstream(REMOVE, "RemoveCatFromSliceCopyPass"), edge_graph(build), "aten_slice_copy_tensor")
    group = (*answer.guard.siblings, answer.guard)
    assert [guard.text for guard in group] == [
        "end_idx <= offset + cat_input_shape[cat_dim]",
        "offset <= start_idx",
    ]
    assert not any(guard.kind == "for" for guard in group)


def test_a_worklists_while_is_no_reason():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        q = b.call_operator(QUANTIZE, (x, *QPARAMS))
        view = b.call_operator(EDGE.aten.view_copy.default, (q, [4, 2]))
        return b.call_operator(EDGE.aten.view_copy.default, (view, [8]))

    answer = ask(upstream(FUSE, "FuseQuantDequantToRequantizePass"), edge_graph(build), quantize_node())
    assert answer.verdict == "declined"
    every = [guard for link in answer.chain for guard in (link, *link.siblings)]
    assert "users" not in {guard.text for guard in every}
    assert not any(guard.kind == "while" for guard in every)


# -- super() and retraces --------------------------------------------------------------------------


def test_delegation_to_super_ends_the_chain_in_the_passes_own_code():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        return b.call_operator(EDGE.aten.sigmoid.default, (x,))

    pass_ = upstream(f"{BACKENDS}.vulkan._passes.squeeze_unsqueeze_inputs", "SqueezeUnsqueezeInputs")
    answer = ask(pass_, edge_graph(build), "aten_sigmoid_default")
    assert answer.verdict == "declined"
    assert texts(answer) == ["op not in self._squeezable_ops"]
    assert answer.guard.function == "SqueezeUnsqueezeInputs.call_operator"
    assert answer.guard.file.endswith("squeeze_unsqueeze_inputs.py")


def test_a_super_call_that_answers_a_question_is_gone_into():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        q = b.call_operator(QUANTIZE, (x, *QPARAMS))
        return b.call_operator(EDGE.aten.relu.default, (q,))

    answer = ask(upstream(FUSE, "FuseQuantDequantToRequantizePass"), edge_graph(build), quantize_node())
    names = [guard.function for guard in answer.chain]
    assert names[-2:] == [
        "FuseQuantDequantToRequantizePass.can_fuse_for_chain",
        "FuseOpPairsAcrossBranchesPass.can_fuse_for_chain",
    ]


def test_a_pure_retrace_is_no_attempt():
    from executorch.exir.pass_base import ExportPass

    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        return b.call_operator(EDGE.aten.sigmoid.default, (x,))

    answer = ask(ExportPass(), edge_graph(build), "aten_sigmoid_default")
    assert (answer.verdict, answer.reason, answer.attempts) == ("never", "unknown", ())
    assert answer.note == "it asked nothing"


# -- searches and whole-pass exits -----------------------------------------------------------------


def test_find_nodes_for_an_op_of_another_dialect_names_it_and_what_the_graph_has():
    module = aten_graph(
        lambda g, x, y: g.call_function(ATEN.mm.default, (x, y)), x=torch.randn(4, 3), y=torch.randn(3, 5)
    )
    answer = ask(upstream(FUSE, "FuseMMWithAdd"), module, "mm_default")
    assert (answer.verdict, answer.reason) == ("never", "looked_for_other")
    assert answer.wanted == ("edge.aten.mm.default",)
    assert [node.name for node in answer.nearest] == ["mm_default"]
    assert answer.looked_for[0].found == 0


def test_a_scan_of_the_whole_graph_that_ended_the_pass_is_the_reason():
    def build(g, x, w):
        return g.call_function(ATEN.relu.default, (g.call_function(ATEN.conv2d.default, (x, w)),))

    module = aten_graph(build, x=torch.randn(1, 3, 8, 8), w=torch.randn(4, 3, 3, 3))
    pass_ = upstream(
        f"{BACKENDS}.nxp.aten_passes.fuse_batch_norm_with_conv_pass", "FuseBatchNormWithConvPass"
    )
    answer = ask(pass_, module, "conv2d_default")
    assert (answer.verdict, answer.reason) == ("never", "left_early")
    assert texts(answer)[0] == "any(map(_is_batch_norm, graph_module.graph.nodes))"
    asked = {guard.text for guard in (*answer.guard.siblings, answer.guard)}
    assert "node_.target == torch.ops.aten.batch_norm.default" in asked


def test_a_filter_in_front_of_the_loop_is_the_reason():
    def build(g, x):
        return g.call_function(ATEN.relu.default, (x,))

    module = aten_graph(build, x=torch.randn(2, 3))
    path = f"{BACKENDS}.nxp.aten_passes.fold_redundant_qdq_pass"
    path = path if importlib.util.find_spec(path) else f"{BACKENDS}.nxp.edge_passes.fold_redundant_qdq_pass"
    answer = ask(upstream(path, "FoldRedundantDequantizeQuantizePass"), module, "relu_default")
    assert (answer.verdict, answer.reason) == ("never", "filtered")
    assert (answer.guard.text, answer.guard.kind) == ("node.target in _DEQUANT_OPS", "comprehension")


def test_a_pattern_that_does_not_match_shows_pattern_value_and_graph_value():
    def build(b):
        x = b.placeholder("x", torch.zeros(2, 4, dtype=torch.int8))
        y = b.placeholder("y", torch.zeros(2, 4, dtype=torch.int8))
        dx = b.call_operator(DEQUANTIZE, (x, *QPARAMS))
        dy = b.call_operator(DEQUANTIZE, (y, *QPARAMS))
        return b.call_operator(QUANTIZE, (b.call_operator(EDGE.aten.add.Tensor, (dx, dy)), *QPARAMS))

    answer = ask(
        upstream("executorch.exir.passes.quant_fusion_pass", "QuantFusionPass"),
        edge_graph(build),
        quantize_node(),
    )
    assert answer.verdict == "declined"
    assert answer.guard.text == "gn == pn"
    assert seen(answer) == {"gn": "int8", "pn": "uint8"}
    assert functions(answer)[0] == "backtracking"


PERMUTES = "RemovePermutesAroundElementwiseOps"


def quantize_node() -> str:
    return "quantized_decomposed_quantize_per_tensor_default"


def test_a_pass_that_overrides_call_operator_never_sees_a_placeholder():
    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        return b.call_operator(EDGE.aten.sigmoid.default, (x,))

    pass_ = upstream(f"{BACKENDS}.vulkan._passes.squeeze_unsqueeze_inputs", "SqueezeUnsqueezeInputs")
    answer = ask(pass_, edge_graph(build), "x")
    assert (answer.verdict, answer.reason) == ("never", "looked_for_other")
    assert answer.sentences == (
        "SqueezeUnsqueezeInputs never looked at x; "
        "it overrides call_operator, which never sees a placeholder.",
    )
