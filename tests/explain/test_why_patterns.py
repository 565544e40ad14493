"""Passes that search for patterns: which of the pattern's nodes failed against which of the graph's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx import subgraph_rewriter
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from why_recording import ATEN, aten_graph, recorded, seen

from qdqviz.explain.why import why


def pattern(x):
    return ATEN.relu.default(ATEN.sum.dim_IntList(x, [0], True))


def replacement(x):
    return ATEN.clamp.default(ATEN.sum.dim_IntList(x, [0], True), 0)


class Rewrites(PassBase):
    """Through torch.fx.subgraph_rewriter."""

    def call(self, module):
        return PassResult(module, bool(subgraph_rewriter.replace_pattern(module, pattern, replacement)))


def is_large(match, original, pattern_graph):
    """It is large enough."""
    return all(node.meta["val"].numel() > 3 for node in match.nodes_map.values() if "val" in node.meta)


class RewritesWithFilter(PassBase):
    """Through torch.fx.subgraph_rewriter, with a filter of its own."""

    def call(self, module):
        found = subgraph_rewriter.replace_pattern_with_filters(
            module, pattern, replacement, match_filters=[is_large]
        )
        return PassResult(module, bool(found))


class Matches(PassBase):
    """Through a SubgraphMatcher, and only where there is one match in all."""

    def call(self, module):
        matcher = SubgraphMatcher(torch.fx.symbolic_trace(pattern).graph)
        for match in matcher.match(module.graph):
            (relu,) = match.returning_nodes
            if len(relu.users) > 1:
                continue
            relu.replace_all_uses_with(match.placeholder_nodes[0])
        return PassResult(module, False)


def graph() -> torch.fx.GraphModule:
    """relu(sum) five times, and never quite the pattern: `sum(x, [0], True)`, then relu."""

    def build(g, x):
        relu_of_input = g.call_function(ATEN.relu.default, (x,))
        other_dim = g.call_function(ATEN.sum.dim_IntList, (relu_of_input, [1], True))
        other_dim_relu = g.call_function(ATEN.relu.default, (other_dim,))
        shared = g.call_function(ATEN.sum.dim_IntList, (other_dim_relu, [0], True))
        shared_relu = g.call_function(ATEN.relu.default, (shared,))
        reader = g.call_function(ATEN.neg.default, (shared,))
        total = g.call_function(ATEN.add.Tensor, (shared_relu, reader))
        fits = g.call_function(ATEN.sum.dim_IntList, (total, [0], True))
        fits_relu = g.call_function(ATEN.relu.default, (fits,))
        return g.call_function(ATEN.add.Tensor, (fits_relu, fits_relu)), g.call_function(
            ATEN.neg.default, (fits_relu,)
        )

    return aten_graph(build, x=torch.randn(5, 3))


RELU_OF_INPUT, OTHER_DIM, SHARED, FITS = "relu_default", "relu_default_1", "relu_default_2", "relu_default_3"


@pytest.fixture(scope="module")
def ask():
    """ask(pass class, node) -> the answer; each pass is recorded once."""
    traces: dict[type, Any] = {}

    def ask(pass_: type, node: str | None = None):
        if pass_ not in traces:
            traces[pass_] = recorded(pass_(), graph())
        return why(traces[pass_], pass_.__name__, node)

    return ask


BOTH = pytest.mark.parametrize("pass_", [Rewrites, Matches])


@BOTH
def test_another_op_than_the_patterns_shows_both_targets(ask, pass_):
    answer = ask(pass_, "neg_default")
    assert (answer.verdict, answer.guard.text) == ("declined", "pn.target == gn.target")
    assert seen(answer) == {"pn.target": "aten.relu.default", "gn.target": "aten.neg.default"}


@BOTH
def test_an_input_that_does_not_match_names_both_nodes_and_both_targets(ask, pass_):
    answer = ask(pass_, RELU_OF_INPUT)
    assert answer.verdict == "declined"
    # The pattern's sum met the graph's placeholder.
    assert answer.guard.text == "pn.op == gn.op"
    assert seen(answer) == {
        "pn.op": "'call_function'",
        "gn.op": "'placeholder'",
        "pn": "sum_dim_int_list of another graph",
        "gn": "x",
    }
    assert [node.name for node in answer.guard.nodes] == ["x"]


@BOTH
def test_another_argument_than_the_patterns_shows_both_values_and_at_which_node(ask, pass_):
    answer = ask(pass_, OTHER_DIM)
    assert (answer.verdict, answer.guard.text) == ("declined", "gn == pn")
    assert seen(answer) == {"gn": "1", "pn": "0"}
    assert [node.name for node in answer.guard.about] == ["sum_dim_int_list"]
    assert "`gn == pn` is false at sum_dim_int_list (gn = 1, pn = 0)." in answer.sentences[0]
    # Which node of the pattern that was is on the way there.
    pairs = [{value.text: value.value for value in guard.values} for guard in answer.chain]
    assert ("sum_dim_int_list of another graph", "sum_dim_int_list") in [
        (pair.get("a1"), pair.get("a2")) for pair in pairs
    ]


@BOTH
def test_a_match_with_another_reader_inside_is_dropped_because_of_that_reader(ask, pass_):
    answer = ask(pass_, SHARED)
    assert answer.verdict == "declined"
    assert [guard.text for guard in answer.chain] == [
        "self._is_contained(match.nodes_map)",
        "user not in lookup",
    ]
    assert answer.guard.nodes[0].name == "neg_default"


def test_a_match_that_was_made_fired(ask):
    assert ask(Rewrites, FITS).verdict == "fired"


def test_a_filter_that_drops_a_match_is_gone_into(ask):
    answer = ask(RewritesWithFilter, FITS)
    assert answer.verdict == "declined"
    assert answer.chain[-1].text == 'node.meta["val"].numel() > 3'
    assert answer.chain[-1].function == "is_large"
    assert seen(answer)['node.meta["val"].numel()'] == "1"


def test_what_the_pass_asks_of_a_match_is_told_of_its_node(ask):
    answer = ask(Matches, FITS)
    assert [guard.text for guard in answer.chain] == ["len(relu.users) > 1"]
    assert seen(answer) == {"len(relu.users)": "2"}


def test_near_misses_tell_how_far_each_match_got(ask):
    misses = {miss.guard.text: [node.name for node in miss.nodes] for miss in ask(Matches).near_misses}
    assert misses["gn == pn"] == [OTHER_DIM]
    assert misses["user not in lookup"] == [SHARED]
    assert misses["len(relu.users) > 1"] == [FITS]
    assert "neg_default" in misses["pn.target == gn.target"]
