"""What `why` says of a value, a case, a filter or a name holds for the graph that it speaks of."""

from __future__ import annotations

import json
import sys

import pytest
import torch
import why_passes as passes
from why_private_pass import graph, private_module
from why_recording import DEQUANTIZE, EDGE, QUANTIZE, edge_graph, recorded, seen, texts

from qdqviz.cli.main import run as run_command
from qdqviz.errors import UsageError
from qdqviz.explain.why import why
from qdqviz.tui.model.details.guard_facts import seen_parts

HEAD = """
from torch.fx import Node

SIGMOID = torch.ops.aten.sigmoid.default
ADD = torch.ops.aten.add.Tensor


class Private(PassBase):
    def call(self, gm):
"""


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """trace(body) -> the trace of a pass whose `call` is `body`, on relu, neg, sigmoid, add, add."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def call(body: str):
        lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
        module = private_module(tmp_path, "private_pass", HEAD + lines)
        return recorded(module.Private(), graph())

    yield call
    sys.modules.pop("private_pass", None)
    sys.modules.pop("private_predicates", None)


@pytest.fixture
def answer(trace):
    """answer(body, node) -> why that pass left a node alone."""
    return lambda body, node="relu_default": why(trace(body), "Private", node)


# -- match -------------------------------------------------------------------------------------------


def test_a_case_guard_that_failed_is_the_test_with_its_values(answer):
    found = answer("""
for n in gm.graph.nodes:
    match n.args:
        case (Node(target=t),) if t == SIGMOID:
            replace(n)
        case _:
            pass
""")
    assert texts(found) == ["t == SIGMOID"]
    assert found.guard.outcome is False
    assert seen(found) == {"t": "'x'", "SIGMOID": "aten.sigmoid.default"}


def test_a_case_guard_that_held_and_left_the_loop_is_the_test(answer):
    found = answer("""
for n in gm.graph.nodes:
    match n.op:
        case "call_function" if len(n.users) > 1:
            continue
    if n.target == RELU:
        replace(n)
""")
    assert texts(found) == ["len(n.users) > 1"]
    assert found.guard.outcome is True


def test_of_several_cases_each_guard_that_failed_is_told(answer):
    found = answer("""
for n in gm.graph.nodes:
    match n.args:
        case (Node() as p,) if len(p.users) == 7:
            replace(n)
        case (Node(),) if len(n.users) == 5:
            replace(n)
""")
    told = [(each.text, each.outcome) for each in (*found.guard.siblings, found.guard)]
    assert told == [("len(p.users) == 7", False), ("len(n.users) == 5", False)]


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ("case (int(), 3):\n            replace(n)", "no case of `match n.args` fits"),
        (
            "case (int(), 3):\n            replace(n)\n        case _:\n            pass",
            "no case of `match n.args` fits but `case _`",
        ),
        (
            "case (Node(),):\n            continue\n"
            "    if n.target == ADD:\n        n.args = (n.args[1], n.args[0])",
            "`match n.args` takes `case (Node(),)`",
        ),
    ],
)
def test_what_a_match_looked_at_is_never_called_false(answer, cases, said):
    found = answer(f"for n in gm.graph.nodes:\n    match n.args:\n        {cases}\n")
    assert found.sentences[0] == f"Private looked at relu_default and left it alone: {said} (n.args = (x,))."
    assert found.guard.outcome is None
    assert not any("is false" in line for line in found.sentences)


# -- values ------------------------------------------------------------------------------------------


def quantized_graph():
    """quantize_per_tensor(x, 0.05, 0, -128, 127, int8), and a relu of its dequantized value."""
    qparams = (0.05, 0, -128, 127, torch.int8)

    def build(b):
        quantized = b.call_operator(QUANTIZE, (b.placeholder("x", torch.randn(2, 3)), *qparams))
        return b.call_operator(EDGE.aten.relu.default, (b.call_operator(DEQUANTIZE, (quantized, *qparams)),))

    return edge_graph(build)


@pytest.fixture(scope="module")
def quantized():
    """The trace of a pass that asks for one of a dequantize's six arguments."""
    return recorded(passes.NeedsZeroPoint(), quantized_graph())


def test_nodes_among_other_arguments_are_not_said_to_be_all_of_them(quantized):
    found = why(quantized, "NeedsZeroPoint", "aten_relu_default")
    assert seen(found)["producer.args[2]"] == "0"
    assert seen(found)["nodes in producer.args"] == "[quantized_decomposed_quantize_per_tensor_default]"


def test_the_same_is_said_in_text_in_json_and_in_the_why_pane(quantized, capsys):
    said = "nodes in producer.args", "[quantized_decomposed_quantize_per_tensor_default]"
    found = why(quantized, "NeedsZeroPoint", "aten_relu_default")
    assert any(line.strip() == " = ".join(said) for line in found.sentences)
    told = next(each for each in found.guard.values if each.text == said[0])
    assert "".join(part.text for part in seen_parts(told)) == " = ".join(said)
    arguments = ["why", str(quantized.path), "--pass", "NeedsZeroPoint", "--node", "aten_relu_default"]
    assert run_command([*arguments, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["values"]
    assert said in [(each["text"], each["value"]) for each in values]


def test_nodes_that_are_all_of_a_value_are_the_value(answer):
    found = answer("""
for n in gm.graph.nodes:
    if n.target == RELU and len(n.users) == 1:
        replace(n)
""")
    assert seen(found)["n.users"] == "[neg_default, sigmoid_default]"


# -- exceptions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("handler", ["continue", "pass"])
def test_an_assertion_caught_in_the_same_function_shows_what_it_compared(answer, handler):
    found = answer(f"""
for n in gm.graph.nodes:
    if n.target != RELU:
        continue
    try:
        assert len(n.users) == len(n.args), "shared"
        replace(n)
    except AssertionError:
        {handler}
""")
    assert texts(found) == ["except AssertionError", "len(n.users) == len(n.args)"]
    assert seen(found)["len(n.users)"] == "2"
    assert seen(found)["len(n.args)"] == "1"
    assert "`len(n.users) == len(n.args)` is false" in found.sentences[0]


def test_of_two_assertions_the_one_that_failed_is_told(answer):
    found = answer("""
for n in gm.graph.nodes:
    try:
        assert n.target == RELU
        with torch.no_grad():
            assert len(n.users) == 1
        assert len(n.args) == 9
    except AssertionError:
        continue
    replace(n)
""")
    assert texts(found) == ["except AssertionError", "len(n.users) == 1"]


def test_what_led_to_a_raise_in_the_same_function_is_told(answer):
    found = answer("""
for n in gm.graph.nodes:
    try:
        if len(n.users) > 1:
            raise ValueError("shared")
    except ValueError:
        continue
    if n.target == RELU:
        replace(n)
""")
    assert texts(found) == ["except ValueError", "len(n.users) > 1"]


# -- names and numbers -------------------------------------------------------------------------------

LOOKS = """
for n in gm.graph.nodes:
    if n.target == RELU and len(n.users) == 1:
        replace(n)
"""


def test_an_unknown_node_is_answered_with_names_that_the_pass_looked_at(trace):
    made = trace(LOOKS)
    with pytest.raises(UsageError) as caught:
        why(made, "Private", "nonode")
    message = str(caught.value)
    names = "x, relu_default, neg_default, sigmoid_default, add_tensor, add_tensor_1, … (7 in all)"
    assert message == f"no node nonode before Private; it looked at {names}"
    assert why(made, "Private", "add_tensor_1").verdict == "declined"


def test_where_a_pass_looked_at_no_node_names_of_the_program_are_given(trace):
    with pytest.raises(UsageError, match="the program has x, relu_default, neg_default"):
        why(trace("return None"), "Private", "nonode")


def test_as_many_attempts_are_counted_as_nodes_were_looked_at(trace):
    made = trace(LOOKS)
    run = made.runs[0]
    assert (run.attempts, run.declined) == (7, 7)
    assert "turned down 7 nodes" in why(made, "Private").sentences[0]
