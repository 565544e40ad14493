"""The helper for a project's own tests: two versions of a pass, or two traces, do the same."""

from __future__ import annotations

import pytest
import torch
from compare_tiny import write_tiny
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from qdqviz.errors import UsageError
from qdqviz.live.session import Plan, run
from qdqviz.testing import assert_same_rewrites


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_tiny(tmp_path_factory.mktemp("tiny"))


class DropRelu(PassBase):
    """What the old version of the tiny pass does, written in another way."""

    def call(self, graph_module):
        relu = torch.ops.aten.relu.default
        for node in list(graph_module.graph.nodes):
            if node.target is relu and node.args[0].target is relu and len(node.users) == 1:
                node.replace_all_uses_with(node.args[0])
                graph_module.graph.erase_node(node)
        return PassResult(graph_module, True)


def program():
    class Model(torch.nn.Module):
        def forward(self, x):
            first = torch.ops.aten.relu.default(x)
            return torch.ops.aten.relu.default(first) + 1

    return torch.fx.symbolic_trace(Model())


def test_two_versions_that_do_the_same_pass(tiny):
    given = program()
    before = str(given.graph)
    assert_same_rewrites(tiny.old, DropRelu, tiny.target)
    assert_same_rewrites([tiny.old], [DropRelu()], given)
    assert str(given.graph) == before  # passes work on copies


def test_a_failure_says_what_differs_and_why(tiny):
    with pytest.raises(AssertionError) as failure:
        assert_same_rewrites(tiny.old, tiny.new, tiny.target)
    told = str(failure.value)
    assert "only new; old declined, `has_other_users(node)` is true" in told
    assert "Others read it, too." in told
    assert "relu_1" in told


def test_a_pass_that_raises_is_a_failure(tiny):
    with pytest.raises(AssertionError, match="half way"):
        assert_same_rewrites(tiny.old, tiny.raising, tiny.target)


def test_two_traces_are_compared_as_objects_and_as_paths(tiny, tmp_path):
    old, new = (
        run(*Plan(tiny.target, (passes,)).prepare(), tmp_path / f"{name}.qdqtrace").trace
        for name, passes in (("old", tiny.old), ("new", tiny.new))
    )
    assert_same_rewrites(old, old.path)
    with pytest.raises(AssertionError, match="only right; left declined"):
        assert_same_rewrites(old, str(new.path))
    with pytest.raises(UsageError, match="is no trace"):
        assert_same_rewrites(DropRelu, new)
