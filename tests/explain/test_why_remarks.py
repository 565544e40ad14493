"""What an answer says about the nodes that it names: readers of shapes, kin, dialects, farther attempts."""

from __future__ import annotations

import importlib
import sys

import pytest
import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from why_private_pass import private_module
from why_recording import (
    ATEN,
    DEQUANTIZE,
    EDGE,
    QPARAMS,
    QUANTIZE,
    ask,
    aten_graph,
    edge_graph,
    recorded,
    seen,
    texts,
)

from qdqviz.explain.why import why

REORDER = "executorch.backends.cadence.aot.reorder_ops"


class OnlyReader(PassBase):
    """Replaces relus whose input nobody else reads."""

    def call(self, module):
        for node in module.graph.nodes:
            if node.target != ATEN.relu.default:
                continue
            if len(node.args[0].users) != 1:
                continue
            node.target = ATEN.tanh.default
        return PassResult(module, True)


def test_a_user_that_only_reads_a_shape_is_told_from_one_that_reads_data():
    def shape_read(g, x):
        g.call_function(ATEN.sym_size.int, (x, 0))
        return g.call_function(ATEN.relu.default, (x,))

    def data_read(g, x):
        return g.call_function(ATEN.relu.default, (x,)), g.call_function(ATEN.neg.default, (x,))

    answer = ask(OnlyReader(), aten_graph(shape_read, x=torch.randn(2, 3)), "relu_default")
    assert [node.name for node in answer.guard.nodes][:2] == ["sym_size_int", "relu_default"]
    assert answer.remarks == ("sym_size_int reads only the shape of x, none of its data",)
    assert f"  {answer.remarks[0]}" in answer.sentences
    assert ask(OnlyReader(), aten_graph(data_read, x=torch.randn(2, 3)), "relu_default").remarks == ()


MOVABLE = """
MOVABLE = {
    torch.ops.aten.clone.default, torch.ops.aten.view.default, torch.ops.aten.permute.default,
    torch.ops.aten.slice.Tensor, torch.ops.aten.select.int, torch.ops.aten.cat.default,
    torch.ops.aten.expand.default, torch.ops.aten.squeeze.dim, torch.ops.aten.unsqueeze.default,
}


class Private(PassBase):
    def call(self, gm):
        for node in gm.graph.nodes:
            if node.target == RELU and all(user.target in MOVABLE for user in node.users):
                replace(node)
"""


@pytest.mark.parametrize(
    ("op", "remarks"),
    [
        (ATEN.contiguous.default, ("MOVABLE holds aten.clone.default, but not aten.contiguous.default",)),
        (ATEN.neg.default, ()),
    ],
)
def test_a_large_list_that_holds_a_kindred_op_is_said_to(tmp_path, monkeypatch, op, remarks):
    monkeypatch.syspath_prepend(str(tmp_path))
    module = private_module(tmp_path, "movable_pass", MOVABLE)
    monkeypatch.delitem(sys.modules, "private_predicates")

    def build(g, x):
        relu = g.call_function(ATEN.relu.default, (x,))
        return g.call_function(op, (relu,))

    answer = ask(module.Private(), aten_graph(build, x=torch.randn(2, 3)), "relu_default")
    assert texts(answer)[-1] == "user.target in MOVABLE"
    assert answer.remarks == remarks


def test_a_pass_for_edge_ops_is_told_from_one_that_knows_the_op_in_no_form():
    pass_ = importlib.import_module(REORDER).PostponeDequantizeOpBelowUseChainPass()
    plain = torch.ops.quantized_decomposed

    def build(g, x):
        q = g.call_function(plain.quantize_per_tensor.default, (x, *QPARAMS))
        dq = g.call_function(plain.dequantize_per_tensor.default, (q, *QPARAMS))
        return g.call_function(ATEN.view.default, (dq, [6]))

    trace = recorded(pass_, aten_graph(build, x=torch.randn(2, 3)))
    name = type(pass_).__name__
    answer = why(trace, name, "dequantize_per_tensor_default")
    assert answer.kinship == (
        "dequantize_per_tensor_default calls quantized_decomposed.dequantize_per_tensor.default: "
        "the plain form of edge.quantized_decomposed.dequantize_per_tensor"
    )
    assert why(trace, name).kinship == answer.kinship


def test_a_node_that_got_further_as_an_operand_says_whose():
    def build(b):
        x = b.placeholder("x", torch.zeros(2, 4, dtype=torch.int8))
        y = b.placeholder("y", torch.zeros(2, 4, dtype=torch.int8))
        dx = b.call_operator(DEQUANTIZE, (x, *QPARAMS))
        dy = b.call_operator(DEQUANTIZE, (y, *QPARAMS))
        return b.call_operator(QUANTIZE, (b.call_operator(EDGE.aten.add.Tensor, (dx, dy)), *QPARAMS))

    pass_ = importlib.import_module("executorch.exir.passes.quant_fusion_pass").QuantFusionPass()
    answer = ask(pass_, edge_graph(build), "aten_add_tensor")
    # No pattern ends in an add, but one that ends in a quantize has one in the middle.
    assert (answer.verdict, answer.guard.text) == ("declined", "pn.target == gn.target")
    assert answer.further.through.name == "quantized_decomposed_quantize_per_tensor_default"
    assert answer.further.guard.text == "gn == pn"
    assert {value.text: value.value for value in answer.further.guard.values} == {"gn": "int8", "pn": "uint8"}
    (line,) = [line for line in answer.sentences if "it got further" in line]
    assert line.endswith(
        "`gn == pn` is false at quantized_decomposed_dequantize_per_tensor_default (gn = int8, pn = uint8)"
    )


class LeadingDim(PassBase):
    """Turns a reshape that adds a dimension into an unsqueeze, but for a dimension of 0."""

    def added(self, node):
        before, after = list(node.args[0].meta["val"].shape), list(node.meta["val"].shape)
        for dim in range(len(after)):
            if after[dim] == 1 and after[:dim] + after[dim + 1 :] == before:
                return dim
        return None

    def call(self, module):
        for node in module.graph.nodes:
            if node.target != ATEN.view.default:
                continue
            dim = self.added(node)
            if dim:
                node.target, node.args = ATEN.unsqueeze.default, (node.args[0], dim)
        return PassResult(module, True)


def test_a_zero_that_counts_as_nothing_is_shown():
    def build(g, x):
        return g.call_function(ATEN.view.default, (x, [1, 2, 3])), g.call_function(
            ATEN.view.default, (x, [2, 1, 3])
        )

    module = aten_graph(build, x=torch.randn(2, 3))
    trace = recorded(LeadingDim(), module)
    answer = why(trace, "LeadingDim", "view_default")
    assert (answer.verdict, texts(answer)[0]) == ("declined", "dim")
    assert {value.text: value.value for value in answer.chain[0].values}["dim"] == "0"
    assert "dim = 0" in answer.sentences[0]
    assert why(trace, "LeadingDim", "view_default_1").verdict == "fired"


class WantsDequantize(PassBase):
    """Marks relus that read a dequantize."""

    def call(self, module):
        for node in module.graph.nodes:
            if node.target == ATEN.relu.default:
                producer = node.args[0]
                if producer.target != torch.ops.quantized_decomposed.dequantize_per_tensor.default:
                    continue
                node.target = ATEN.tanh.default
        return PassResult(module, True)


def test_the_producer_that_is_no_dequantize_is_named_with_what_it_calls():
    def build(g, x):
        pad = g.call_function(ATEN.constant_pad_nd.default, (x, [1, 1]))
        return g.call_function(ATEN.relu.default, (pad,))

    answer = ask(WantsDequantize(), aten_graph(build, x=torch.randn(2, 3)), "relu_default")
    assert seen(answer)["producer.target"] == "aten.constant_pad_nd.default"
    assert [node.name for node in answer.guard.nodes] == ["constant_pad_nd_default"]
