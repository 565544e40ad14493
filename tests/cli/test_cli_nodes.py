"""`qdqviz nodes`: which nodes there are at a step, in which order, under which names."""

from __future__ import annotations

import json

import jsonschema
import pytest
from written_trace import KEYS, QUANT, REAL, VIEW, X, node

from qdqviz.ir.change import Insert
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.ir.values import Ref
from qdqviz.schemas import load_schema
from qdqviz.trace.model import PassRun, Subject, TraceInfo
from qdqviz.trace.writer import TraceWriter

FIRST = ["x", "view_2", "q_7", "relu", "output"]
LAST = ["x", "q_9", "view_2", "relu", "output"]


def listed(done, name="name"):
    """A column of the table."""
    assert done.code == 0, done.err
    heading, *rows = done.out.splitlines()
    start = heading.index(name)
    return [row[start:].split("  ")[0] for row in rows]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["0"], FIRST),
        (["1"], LAST),
        ([], LAST),
        (["--pass", "AdvanceQuantize"], FIRST),
        (["--pass", "Sink"], LAST),
    ],
)
def test_nodes_are_listed_in_execution_order_at_a_step_or_before_a_pass(qdqviz, trace, words, names):
    done = qdqviz("nodes", trace, *words)
    assert listed(done) == names
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == ["1", "2", "3", "4", "5"]


def test_nodes_as_json_follow_their_schema_and_know_their_neighbours(qdqviz, trace):
    found = json.loads(qdqviz("nodes", trace, 1, "--json").out)
    jsonschema.validate(found, load_schema("nodes"), cls=jsonschema.Draft202012Validator)
    told = {each["name"]: (each["position"], each["inputs"], each["users"]) for each in found}
    assert told["q_9"] == (2, ["x"], ["view_2"])
    assert told["view_2"] == (3, ["q_9"], ["relu"])
    (moved,) = (each for each in found if each["name"] == "q_9")
    assert (moved["role"], moved["label"], moved["makes"]) == ("quantize", "quantize s=0.1 z=0", "int8 4096")


def test_whole_names_and_short_ones_stand_side_by_side(qdqviz, handmade, tmp_path):
    done = qdqviz("nodes", handmade(tmp_path / "t.qdqtrace", relu="aten_relu_default"), 1)
    assert listed(done)[3] == "aten_relu_default"
    assert listed(done, "short") == ["", "", "", "relu", ""]


def test_every_graph_of_every_program_is_listed(qdqviz, tmp_path):
    writer = TraceWriter(tmp_path / "t.qdqtrace", TraceInfo("handmade", "2026-01-01T00:00:00+00:00"))
    inner = node(7, KEYS[0], "inner", "call_function", "aten.neg.default", Ref(0), spec=REAL)
    first = GraphState().apply_all([Insert(ROOT, X), Insert(ROOT, VIEW), Insert("true_graph_0", inner)])
    writer.add_subject(Subject(0, "forward", "edge"), first)
    writer.add_subject(Subject(1, "prefill", "edge"), GraphState().apply_all([Insert(ROOT, X)]))
    writer.put_run(PassRun(0, 0, "Idle", "handmade:Idle", None))
    writer.close()
    blocks = qdqviz("nodes", tmp_path / "t.qdqtrace").out.split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == ["forward", "forward/true_graph_0", "prefill"]
    assert "inner" in blocks[1] and "inner" not in blocks[0] + blocks[2]
    found = json.loads(qdqviz("nodes", tmp_path / "t.qdqtrace", "--json").out)
    assert [(each["program"], each["path"], each["name"]) for each in found] == [
        ("forward", "", "x"),
        ("forward", "", "view_2"),
        ("forward", "true_graph_0", "inner"),
        ("prefill", "", "x"),
    ]


@pytest.mark.parametrize("name", ["two\nlines", "esc\x1b[31m", "[bold]x[/]", "宽字符", "right\u202eleft"])
def test_names_from_graphs_never_break_a_line_or_steer_the_terminal(qdqviz, handmade, tmp_path, name):
    done = qdqviz("nodes", handmade(tmp_path / "t.qdqtrace", relu=name), 1)
    assert len(done.out.splitlines()) == 6
    assert "\x1b" not in done.out and "\u202e" not in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["2"], "no step 2"),
        (["-1"], "a number from 0 on"),
        (["q_7"], "a number from 0 on"),
        (["--pass", "Advance"], "did you mean AdvanceQuantize?"),
        (["1", "--pass", "Sink"], "either STEP or --pass"),
    ],
)
def test_a_wrong_step_or_pass_is_told_in_one_line(qdqviz, trace, words, said):
    done = qdqviz("nodes", trace, *words)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert said in done.err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["why", "{trace}", "--pass", "S"], ["Sink"]),
        (["nodes", "{trace}", "--pass", ""], ["AdvanceQuantize", "Sink"]),
        (["draw", "{trace}", "--walk", "Adv"], ["AdvanceQuantize"]),
        (["why", "{trace}", "--node", "q_"], [QUANT.name, "q_9"]),
        (["nod"], ["nodes"]),
    ],
)
def test_passes_and_nodes_of_a_trace_complete(qdqviz, trace, words, found):
    done = qdqviz("complete-words", "--", *(word.format(trace=trace) for word in words))
    assert done.out.splitlines() == found


def test_a_broken_trace_completes_to_nothing(qdqviz, tmp_path):
    broken = tmp_path / "t.qdqtrace"
    broken.write_bytes(b"nonsense")
    done = qdqviz("complete-words", "--", "why", str(broken), "--node", "")
    assert (done.code, done.out, done.err) == (1, "", "")
