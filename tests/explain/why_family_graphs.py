"""Small graphs for passes of other families, each with one node that its pass leaves alone."""

from __future__ import annotations

import operator
from typing import Any

import torch
from why_recording import ATEN, DEQUANTIZE, EDGE, QPARAMS, QUANTIZE, aten_graph, edge_graph

QD = torch.ops.quantized_decomposed


def view_at_dim_0() -> Any:
    """A view that adds a leading unit dimension, one that keeps the rank, one written with -1."""

    def build(b):
        x = b.placeholder("x", torch.randn(3, 4))
        lead = b.call_operator(EDGE.aten.view_copy.default, (x, [1, 3, 4]))
        same = b.call_operator(EDGE.aten.view_copy.default, (x, [4, 3]))
        open_ = b.call_operator(EDGE.aten.view_copy.default, (x, [3, 1, -1]))
        return lead, same, open_

    return edge_graph(build)


def view_chain() -> Any:
    """A view with two readers, and one whose only reader multiplies."""

    def build(b):
        x = b.placeholder("x", torch.randn(2, 12))
        shared = b.call_operator(EDGE.aten.view_copy.default, (x, [4, 6]))
        left = b.call_operator(EDGE.aten.relu.default, (shared,))
        lone = b.call_operator(EDGE.aten.view_copy.default, (x, [6, 4]))
        right = b.call_operator(EDGE.aten.mul.Tensor, (lone, lone))
        return left, shared, right

    return edge_graph(build)


def conv_with_two_readers() -> Any:
    """conv -> batch norm, and the conv is read once more."""

    def build(g, x, w, weight, bias, mean, var):
        conv = g.call_function(ATEN.conv2d.default, (x, w))
        norm = g.call_function(
            ATEN.batch_norm.default, (conv, weight, bias, mean, var, False, 0.1, 1e-5, True)
        )
        return g.call_function(ATEN.add.Tensor, (norm, conv))

    vectors = {name: torch.rand(4) for name in ("weight", "bias", "mean", "var")}
    return aten_graph(build, x=torch.randn(1, 3, 8, 8), w=torch.randn(4, 3, 3, 3), **vectors)


def conv_then_relu() -> Any:
    """An aten conv without groups, then relu."""

    def build(g, x, w):
        conv = g.call_function(ATEN.conv2d.default, (x, w, None, [1, 1], [0, 0], [1, 1], 1))
        return g.call_function(ATEN.relu.default, (conv,))

    return aten_graph(build, x=torch.randn(1, 4, 8, 8), w=torch.randn(4, 4, 3, 3))


def add_then_relu() -> Any:
    """An add followed by a relu, a hardtanh after a shared conv."""

    def build(b):
        x = b.placeholder("x", torch.randn(1, 3, 8, 8))
        w = b.placeholder("w", torch.randn(3, 3, 3, 3))
        total = b.call_operator(EDGE.aten.add.Tensor, (x, x))
        relu = b.call_operator(EDGE.aten.relu.default, (total,))
        conv = b.call_operator(
            EDGE.aten.convolution.default, (x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
        )
        clamp = b.call_operator(EDGE.aten.hardtanh.default, (conv, -1.0, 1.0))
        return relu, clamp, conv

    return edge_graph(build)


def mixed_dtypes() -> Any:
    """An add of equal dtypes, and a sigmoid."""

    def build(b):
        x = b.placeholder("x", torch.randn(2, 4))
        y = b.placeholder("y", torch.randn(2, 4))
        total = b.call_operator(EDGE.aten.add.Tensor, (x, y))
        return b.call_operator(EDGE.aten.sigmoid.default, (total,))

    return edge_graph(build)


def rank_4_relu() -> Any:
    """A relu on a tensor whose second dimension is no unit."""

    def build(b):
        x = b.placeholder("x", torch.randn(1, 2, 4, 4))
        return b.call_operator(EDGE.aten.relu.default, (x,))

    return edge_graph(build)


def int8_add() -> Any:
    """dq, dq -> add -> q in int8."""

    def build(b):
        x = b.placeholder("x", torch.zeros(2, 4, dtype=torch.int8))
        y = b.placeholder("y", torch.zeros(2, 4, dtype=torch.int8))
        dx = b.call_operator(DEQUANTIZE, (x, *QPARAMS))
        dy = b.call_operator(DEQUANTIZE, (y, *QPARAMS))
        return b.call_operator(QUANTIZE, (b.call_operator(EDGE.aten.add.Tensor, (dx, dy)), *QPARAMS))

    return edge_graph(build)


def dynamic_chain() -> Any:
    """One dynamic quantize chain with a single reader."""

    def build(g, x, w):
        qparams = g.call_function(QD.choose_qparams.tensor, (x, -128, 127, 1e-5, torch.int8))
        scale = g.call_function(operator.getitem, (qparams, 0))
        zero = g.call_function(operator.getitem, (qparams, 1))
        q = g.call_function(QD.quantize_per_tensor.tensor, (x, scale, zero, -128, 127, torch.int8))
        dq = g.call_function(QD.dequantize_per_tensor.tensor, (q, scale, zero, -128, 127, torch.int8))
        return g.call_function(ATEN.linear.default, (dq, w))

    return aten_graph(build, x=torch.randn(2, 8), w=torch.randn(4, 8))


def division() -> Any:
    """A division of two inputs, and one by a number."""

    def build(g, x, y):
        half = g.call_function(ATEN.div.Tensor, (x, y))
        return g.call_function(ATEN.mul.Tensor, (half, x))

    return aten_graph(build, x=torch.randn(2, 3), y=torch.rand(2, 3) + 1)


def transposed() -> Any:
    """A permute, and a matrix product."""

    def build(g, x, y):
        t = g.call_function(ATEN.permute.default, (x, [1, 0]))
        return g.call_function(ATEN.mm.default, (t, y))

    return aten_graph(build, x=torch.randn(3, 2), y=torch.randn(3, 4))


def dq_then_relu() -> Any:
    """A dequantize that no quantize follows."""

    def build(g, x):
        dq = g.call_function(QD.dequantize_per_tensor.default, (x, *QPARAMS))
        return g.call_function(ATEN.relu.default, (dq,))

    return aten_graph(build, x=torch.zeros(2, 4, dtype=torch.int8))
