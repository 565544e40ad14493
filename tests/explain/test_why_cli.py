"""`qdqviz why`: a trace or a target, people or JSON, and one clear line for what cannot be answered."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import torch
import why_passes as passes
from why_recording import ATEN, aten_graph, recorded

from qdqviz.cli.main import run
from qdqviz.schemas import load_schema


@pytest.fixture(scope="module")
def traces() -> dict[str, Path]:
    def build(g, x):
        relu = g.call_function(ATEN.relu.default, (x,))
        neg = g.call_function(ATEN.neg.default, (relu,))
        sigmoid = g.call_function(ATEN.sigmoid.default, (relu,))
        total = g.call_function(ATEN.add.Tensor, (neg, sigmoid))
        return g.call_function(ATEN.relu.default, (total,))

    def trace(*which):
        made = recorded(list(which), aten_graph(build, x=torch.randn(2, 3)), raising=(ValueError,))
        return made.path

    return {
        "one": trace(passes.ReluToTanh()),
        "two": trace(passes.ReluToTanh(), passes.FoldsNegIntoAdd()),
        "twice": trace(passes.ReluToTanh(), passes.ReluToTanh()),
        "early": trace(passes.OnlyWithTanh()),
        "filtered": trace(passes.FiltersAll()),
        "idle": trace(passes.LooksOnly()),
        "raises": trace(passes.Raises()),
        "nested": trace(passes.Outer()),
        "managed": trace(passes.Managed()),
    }


@pytest.fixture
def call(capsys):
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(each) for each in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_the_answer_for_people_names_guard_values_and_place(call, traces):
    code, out, _ = call("why", traces["one"], "--pass", "ReluToTanh", "--node", "relu_default")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("ReluToTanh looked at relu and left it alone: `len(node.users) == 1`")
    assert "why_passes.py" in lines[1] and lines[1].endswith("in ReluToTanh.call")
    assert "      node.users = [neg, sigmoid]" in lines


def test_the_only_pass_need_not_be_named(call, traces):
    assert (
        call("why", traces["one"], "--node", "relu_default_1")[1].strip().endswith("fired on relu_1: step 1.")
    )
    code, _, err = call("why", traces["two"], "--node", "relu_default")
    assert (code, err.count("\n")) == (2, 1)
    assert "say which pass with --pass: ReluToTanh, FoldsNegIntoAdd" in err


@pytest.mark.parametrize("which", ["nested", "managed"])
def test_passes_that_the_pass_itself_ran_are_no_other_choice(call, traces, which):
    code, out, _ = call("why", traces[which], "--node", "relu_default")
    assert code == 0
    assert out.startswith(f"ReluToTanh, run by {which.replace('nested', 'outer').capitalize()}, looked at")


QUESTIONS = [
    ("one", "ReluToTanh", "relu_default", "declined", None),
    ("one", "ReluToTanh", "relu_default_1", "fired", None),
    ("one", "ReluToTanh", None, "fired", None),
    ("two", "FoldsNegIntoAdd", "sigmoid_default", "never", "looked_for_other"),
    ("two", "FoldsNegIntoAdd", "neg_default", "fired", None),
    ("twice", "ReluToTanh#2", "relu_default", "declined", None),
    ("early", "OnlyWithTanh", "relu_default", "never", "left_early"),
    ("early", "OnlyWithTanh", None, "never", "left_early"),
    ("filtered", "FiltersAll", None, "never", "filtered"),
    ("idle", "LooksOnly", None, "declined", None),
    ("idle", "LooksOnly", "relu_default", "declined", None),
    ("raises", "Raises", "sigmoid_default", "raised", None),
    ("raises", "Raises", "add_tensor", "never", "pass_raised"),
    ("nested", "Outer", "relu_default", "declined", None),
]


@pytest.mark.parametrize(("trace", "pass_", "node", "verdict", "reason"), QUESTIONS)
def test_json_says_the_verdict_and_keeps_to_its_schema(call, traces, trace, pass_, node, verdict, reason):
    asked = ["--node", node] if node else []
    code, out, _ = call("why", traces[trace], "--pass", pass_, *asked, "--json")
    data = json.loads(out)
    schema = load_schema("why")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(data)
    assert code == 0
    assert (data["verdict"], data["reason"], data["pass"]) == (verdict, reason, pass_)
    if data["chain"]:
        assert data["guard"] == data["chain"][-1]
        assert data["values"] == data["guard"]["values"]
        line = Path(data["guard"]["file"]).read_text().splitlines()[data["guard"]["line"] - 1]
        assert line[data["guard"]["column"] :].startswith(data["guard"]["text"].split("\n")[0][:20])


@pytest.mark.parametrize(("trace", "filtered"), [("filtered", True), ("twice", False)])
def test_json_tells_nodes_that_were_filtered_out_from_those_that_were_declined(call, traces, trace, filtered):
    pass_ = {"filtered": "FiltersAll", "twice": "ReluToTanh#2"}[trace]
    _, out, _ = call("why", traces[trace], "--pass", pass_, "--json")
    misses = json.loads(out)["near_misses"]
    assert misses and all(miss["filtered"] is filtered for miss in misses)


@pytest.mark.parametrize(
    ("pass_", "node", "message"),
    [
        ("Relu", "relu_default", "did you mean ReluToTanh?"),
        ("ReluToTanh", "rel", "did you mean relu_default"),
        ("ReluToTanh", "nothing_like_it", "no node nothing_like_it before ReluToTanh"),
        ("ReluToTanh", "relu_default@7", "no step 7"),
    ],
)
def test_what_cannot_be_answered_is_one_line_and_exit_code_2(call, traces, pass_, node, message):
    code, out, err = call("why", traces["one"], "--pass", pass_, "--node", node)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize("name", ["relu_default@0", "relu_default@1", "/relu_default"])
def test_a_node_goes_by_its_name_at_a_step_and_by_its_path(call, traces, name):
    code, out, _ = call("why", traces["one"], "--pass", "ReluToTanh", "--node", name)
    assert code == 0
    assert out.startswith("ReluToTanh looked at relu and left it alone")


def test_a_repeated_pass_is_refused_with_the_choices(call, traces):
    code, _, err = call("why", traces["twice"], "--pass", "ReluToTanh")
    assert code == 2
    assert "ReluToTanh#1 or ReluToTanh#2" in err


def test_a_target_with_passes_is_recorded_and_answered(call, tmp_path):
    model = tmp_path / "model.py"
    model.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import torch, why_passes\n"
        "from why_recording import ATEN, aten_graph\n"
        "def build():\n"
        "    return aten_graph(lambda g, x: g.call_function(ATEN.sigmoid.default, (x,)), x=torch.randn(2))\n"
        "ReluToTanh, Raises = why_passes.ReluToTanh, why_passes.Raises\n"
    )
    code, out, _ = call(
        "--quiet", "why", f"{model}:build", "-p", f"{model}:ReluToTanh", "--node", "sigmoid_default"
    )
    assert code == 0
    assert out.startswith("ReluToTanh looked at sigmoid and left it alone")
    # A pass that raises is answered as well, and the exit code says that it did.
    code, out, err = call(
        "--quiet", "why", f"{model}:build", "-p", f"{model}:Raises", "--node", "sigmoid_default"
    )
    assert code == 1
    assert "raised ValueError on sigmoid" in out
    assert "no sigmoid, please" in err


def test_text_from_a_graph_cannot_steer_the_terminal(call, traces, monkeypatch):
    from qdqviz.explain import answer, why_text

    hostile = answer.NodeLink(1, "relu\x1b[31m")
    monkeypatch.setattr(why_text, "_lines", lambda _: iter([f"left {hostile.name} alone"]))
    _, out, _ = call("why", traces["one"], "--node", "relu_default")
    assert "\x1b" not in out and "␛" in out
