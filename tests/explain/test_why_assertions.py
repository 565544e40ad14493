"""Assertions for a pass's own tests, whose failure message is the explanation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
import why_passes as passes
from why_recording import ATEN, aten_graph

from qdqviz.errors import UsageError
from qdqviz.testing import assert_declines, assert_fires


def graph() -> torch.fx.GraphModule:
    def build(g, x):
        relu = g.call_function(ATEN.relu.default, (x,))
        neg = g.call_function(ATEN.neg.default, (relu,))
        total = g.call_function(ATEN.add.Tensor, (neg, relu))
        return g.call_function(ATEN.relu.default, (total,))

    return aten_graph(build, x=torch.randn(2, 3))


def test_a_node_that_fires_passes_and_leaves_the_program_as_it_was():
    module = graph()
    before = [node.name for node in module.graph.nodes]
    answer = assert_fires(passes.ReluToTanh(), module, node="relu_default_1")
    assert answer.rewrites == (1,)
    assert [node.name for node in module.graph.nodes] == before


def test_the_failure_message_is_the_explanation():
    with pytest.raises(AssertionError) as caught:
        assert_fires(passes.ReluToTanh(), graph(), node="relu_default")
    message = str(caught.value)
    assert "ReluToTanh looked at relu_default and left it alone" in message
    assert "`len(node.users) == 1` is false" in message
    assert "node.users = [neg_default, add_tensor]" in message


def test_without_a_node_the_message_lists_the_near_misses():
    with pytest.raises(AssertionError, match=r"OnlyWithTanh never looked at any node .*: it left early"):
        assert_fires(passes.OnlyWithTanh(), graph())
    with pytest.raises(AssertionError, match=r"turned down 6 nodes(.|\n)*near misses"):
        assert_fires(passes.StopsAtSigmoid(), graph_without_lone_relu())


def test_what_fired_and_changed_nothing_did_not_fire():
    with pytest.raises(AssertionError, match="what it did changed nothing"):
        assert_fires(passes.SetsSameArgs(), graph(), node="relu_default")


def test_an_exception_in_the_pass_is_the_explanation():
    module = aten_graph(lambda g, x: g.call_function(ATEN.sigmoid.default, (x,)), x=torch.randn(2))
    with pytest.raises(
        AssertionError, match=r"raised ValueError on sigmoid_default(.|\n)*no sigmoid, please"
    ):
        assert_fires(passes.Raises(), module, node="sigmoid_default")


def test_an_unknown_node_is_a_usage_error_with_the_closest_names():
    with pytest.raises(UsageError, match="did you mean relu_default"):
        assert_fires(passes.ReluToTanh(), graph(), node="relu_defalt")


def test_a_decline_can_be_pinned_to_its_guard():
    answer = assert_declines(passes.ReluToTanh(), graph(), "relu_default", guard="len(node.users)")
    assert answer.verdict == "declined"
    with pytest.raises(AssertionError, match=r"expected the guard node\.meta"):
        assert_declines(passes.ReluToTanh(), graph(), "relu_default", guard="node.meta")
    with pytest.raises(AssertionError, match="fired on relu_default_1"):
        assert_declines(passes.ReluToTanh(), graph(), "relu_default_1")


def test_importing_the_package_imports_no_torch():
    code = "import sys, qdqviz.testing; assert 'torch' not in sys.modules; qdqviz.testing.assert_fires"
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def graph_without_lone_relu() -> torch.fx.GraphModule:
    def build(g, x):
        relu = g.call_function(ATEN.relu.default, (x,))
        neg = g.call_function(ATEN.neg.default, (relu,))
        tanh = g.call_function(ATEN.tanh.default, (relu,))
        return g.call_function(ATEN.add.Tensor, (neg, tanh))

    return aten_graph(build, x=torch.randn(2, 3))
