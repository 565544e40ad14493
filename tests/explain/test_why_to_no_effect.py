"""A pass that looked at nodes and did nothing that changed anything is not said never to have looked."""

from __future__ import annotations

import pytest
from why_recording import texts

IDLE = {
    "test_true": ("if node.target == RELU:\n    pass", ["node.target == RELU"]),
    "counted": ("if node.target == RELU:\n    count += 1", ["node.target == RELU"]),
    "asked_nothing": ("count += 1", []),
}


def source(body: str, after: str = "") -> str:
    lines = "\n".join(f"                    {line}" for line in body.splitlines())
    rest = "\n".join(f"                {line}" for line in after.splitlines())
    return f"""
        class Private(PassBase):
            def call(self, gm):
                count = 0
                for node in gm.graph.nodes:
{lines}
{rest}
    """


@pytest.mark.parametrize("kind", IDLE)
def test_the_tests_that_came_out_true_are_told(answer, kind):
    body, asked = IDLE[kind]
    found = answer(source(body))
    assert (found.verdict, found.reason, found.chain, found.idle) == ("declined", None, (), 1)
    assert [guard.text for guard in found.passed] == asked
    assert found.sentences[0].startswith("Private looked at relu_default and left it alone; ")
    assert found.sentences[0].endswith("nothing that it did changed anything.")
    assert [text for text in asked if not any(f"`{text}` is true" in line for line in found.sentences)] == []


@pytest.mark.parametrize("body", ["if node.name:\n    pass", "count += 1"])
def test_a_pass_as_a_whole_tells_how_many_nodes_it_looked_at(private_trace, body):
    from qdqviz.explain.why import why

    trace = private_trace(source(body))
    found = why(trace, "Private")
    assert (found.verdict, found.near_misses) == ("declined", ())
    assert found.idle == trace.runs[0].declined == len(list(trace.first(0).root))
    assert f"rewrote nothing: it looked at {found.idle} nodes of graph 1; " in found.sentences[0]


@pytest.mark.parametrize("node", ["relu_default", None])
def test_where_the_pass_left_after_such_a_loop_that_test_is_to_blame(answer, node):
    found = answer(source("count += 1", "if count < 1000:\n    return\nreplace(node)"), node)
    assert (found.verdict, texts(found)) == ("declined", ["count < 1000"])
    assert "`count < 1000` is true" in found.sentences[0]
