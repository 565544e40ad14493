"""What `qdqviz why` prints names nodes as pictures do; its JSON, and source text in it, keep whole names."""

from __future__ import annotations

import json

import pytest
import torch
from why_recording import ATEN, aten_graph, recorded

from qdqviz.cli.main import run
from qdqviz.explain.brief import brief_lines
from qdqviz.explain.why import why

SOURCE = """
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    relu_default = node
                    if relu_default.target == RELU and not relu_default.name.endswith("lu_default"):
                        replace(node)
                    elif node.target == RELU and len(node.users) == 1:
                        replace(node)
"""


def test_sentences_have_short_names_and_source_text_and_strings_stay(private_trace):
    trace = private_trace(SOURCE)
    answer = why(trace, "Private", "relu_default")
    told = brief_lines(trace, answer)
    assert told[0].startswith("Private looked at relu and left it alone: `len(node.users) == 1` is false")
    assert any(line.endswith("node.users = [neg, sigmoid]") for line in told)
    tests = [line for line in told if "endswith" in line]
    assert tests and all('`relu_default.name.endswith("lu_default")` is true' in line for line in tests)
    assert any(line.endswith("relu_default.name = 'relu_default'") for line in told)
    assert len(told) == len(answer.sentences)
    assert "looked at relu_default and left it alone" in answer.sentences[0]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("aten_neg_default", "aten_tanh_default"), "[neg, tanh]"),
        (("aten_neg_default", "neg_copy"), "[aten_neg_default, neg_copy]"),
        (("aten_neg_default", "neg"), "[aten_neg_default, neg]"),
    ],
)
def test_nodes_that_would_read_alike_keep_their_whole_names(names, told, capsys):
    from why_passes import ReluToTanh

    def build(graph, x):
        relu = graph.call_function(ATEN.relu.default, (x,))
        users = [graph.call_function(op, (relu,)) for op in (ATEN.neg.default, ATEN.tanh.default)]
        for user, name in zip(users, names, strict=True):
            user.name = name
        return tuple(users)

    path = recorded(ReluToTanh(), aten_graph(build, x=torch.randn(2))).path
    assert run(["why", str(path), "--node", "relu_default"]) == 0
    assert f"node.users = {told}" in capsys.readouterr().out
    assert run(["why", str(path), "--node", "relu_default", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (users,) = [seen for seen in data["values"] if seen["text"] == "node.users"]
    assert users["value"] == f"[{', '.join(names)}]"
    assert [node["name"] for node in users["nodes"]] == list(names)
    assert "looked at relu_default" in data["sentences"][0]
