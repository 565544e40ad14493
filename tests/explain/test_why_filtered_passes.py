"""A pass whose comprehensions left it no node says so, and which nodes came nearest to being kept."""

from __future__ import annotations

import pytest
from why_recording import texts

ONE_USER = "n.target == RELU and len(n.users) == 1"


def source(body: str) -> str:
    lines = "\n".join(f"                {line}" for line in body.splitlines())
    return f"""
        class Private(PassBase):
            def call(self, gm):
{lines}
    """


LOOP = "for node in chosen:\n    replace(node)"


@pytest.mark.parametrize(
    "body",
    [
        f"chosen = [n for n in gm.graph.nodes if {ONE_USER}]\n{LOOP}",
        f"chosen = [n for n in gm.graph.nodes if {ONE_USER}]\nif not chosen:\n    return\n{LOOP}",
        f"chosen = {{n: n.users for n in gm.graph.nodes if {ONE_USER}}}\n{LOOP}",
        f"chosen = (n for n in gm.graph.nodes if {ONE_USER})\n{LOOP}",
        f"inputs = [n for n in gm.graph.nodes if n.op == 'placeholder']\n"
        f"chosen = [n for n in gm.graph.nodes if {ONE_USER}]\n{LOOP}",
        f"chosen = [n for n in gm.graph.nodes if {ONE_USER}]\n"
        f"inputs = [n for n in gm.graph.nodes if n.op == 'placeholder']\n{LOOP}",
    ],
)
def test_a_pass_that_filtered_every_node_out_tells_who_came_nearest(answer, body):
    found = answer(source(body), None)
    assert (found.verdict, found.reason, texts(found)) == ("never", "filtered", ["len(n.users) == 1"])
    told = [(miss.guard.text, [node.name for node in miss.nodes]) for miss in found.near_misses]
    assert told[0] == ("len(n.users) == 1", ["relu_default"])
    assert told[1][0] == "n.target == RELU"
    assert len(told[1][1]) == 6
    assert all(miss.filtered for miss in found.near_misses)
    assert found.sentences[0].startswith(
        "Private never looked at any node of graph 1: all were filtered out: "
    )
    assert "  filtered out, those that got furthest first:" in found.sentences


def test_a_node_that_several_comprehensions_dropped_is_told_where_it_got_furthest(answer):
    body = (
        f"chosen = [n for n in gm.graph.nodes if {ONE_USER}]\n"
        f"inputs = [n for n in gm.graph.nodes if n.op == 'placeholder']\n{LOOP}"
    )
    found = answer(source(body))
    assert (found.reason, texts(found)) == ("filtered", ["len(n.users) == 1"])


def test_a_pass_that_left_early_is_not_said_to_have_filtered_what_it_kept(answer):
    body = (
        "chosen = [n for n in gm.graph.nodes if n.target == RELU]\n"
        "if len(chosen) < 2:\n    return\nfor node in chosen:\n    replace(node)"
    )
    found = answer(source(body), None)
    assert (found.reason, texts(found)) == ("left_early", ["len(chosen) < 2"])
    assert found.near_misses == ()


def test_a_question_about_all_nodes_filters_none(answer):
    body = "if not any(n.target == NEG and len(n.users) > 3 for n in gm.graph.nodes):\n    return"
    found = answer(source(body), None)
    assert (found.reason, found.near_misses) == ("left_early", ())


def test_a_pass_that_fired_on_what_it_kept_lists_what_it_dropped(answer):
    body = (
        "chosen = [n for n in gm.graph.nodes if n.op == 'call_function' and n.target == NEG]\n"
        "for node in chosen:\n    node.target = torch.ops.aten.tanh.default"
    )
    found = answer(source(body), None)
    assert found.verdict == "fired"
    assert [miss.guard.text for miss in found.near_misses] == ["n.target == NEG", "n.op == 'call_function'"]
