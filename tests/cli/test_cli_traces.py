"""Commands that read a trace: what they print, and what they say about a file that is none."""

from __future__ import annotations

import json
import re
import sqlite3

import jsonschema
import pytest
from written_trace import KEYS, X, node

from qdqviz.cli.registry import COMMANDS
from qdqviz.ir.change import Insert
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.ir.values import Ref
from qdqviz.schemas import load_schema
from qdqviz.trace.model import Subject, TraceInfo
from qdqviz.trace.writer import TraceWriter

SENTENCE = "Moved q_7 above view_2; view_2 now moves 4,096 B instead of 16,384 B."


def valid(text: str, name: str):
    data = json.loads(text)
    jsonschema.validate(data, load_schema(name), cls=jsonschema.Draft202012Validator)
    return data


def test_steps_tells_every_rewrite_in_a_line(qdqviz, trace):
    done = qdqviz("steps", trace)
    heading, line = done.out.splitlines()
    assert done.code == 0 and done.err == ""
    assert heading.split() == ["step", "pass", "what", "it", "did"]
    assert line.split(maxsplit=2) == ["1", "AdvanceQuantize", SENTENCE]


def test_steps_as_json_follow_their_schema(qdqviz, trace):
    (step,) = valid(qdqviz("steps", trace, "--json").out, "steps")
    told = {key: step[key] for key in ("step", "pass", "focus", "graph", "title", "changes", "sentence")}
    assert told == {
        "step": 1,
        "pass": "AdvanceQuantize",
        "focus": "q_7",
        "graph": "forward",
        "title": "q_7 above view_2",
        "changes": 4,
        "sentence": SENTENCE,
    }


def test_show_tells_changes_live_ranges_and_both_pictures(qdqviz, trace):
    done = qdqviz("show", trace, 1)
    assert done.code == 0
    assert SENTENCE in done.out
    assert "  create q_9: quantize s=0.1 z=0, int8 4096" in done.out
    assert "  rewire relu: argument 0 view_2, was q_7" in done.out
    assert "  erase q_7: quantize s=0.1 z=0, int8 64×64" in done.out
    before, after = done.out.split("\nbefore\n")[1].split("\nafter\n")
    assert "q_7" in before and "q_9" not in before
    assert "q_9" in after and "╭" in after


def test_show_tells_where_a_node_that_only_moves_stood_and_stands(qdqviz, moving_trace):
    done = qdqviz("show", moving_trace, 1)
    assert "  move q_7: later; 4th, after relu, was 3rd, after view_2" in done.out
    before, after = done.out.split("\nbefore\n")[1].split("\nafter\n")
    assert "runs 3rd, after view_2" in before and "→" not in before
    assert "runs 3rd, after view_2" in after and "→ 4th, after relu" in after


def test_show_as_json_follows_its_schema_and_counts_bytes(qdqviz, trace):
    shown = valid(qdqviz("show", trace, 1, "--json").out, "show")
    assert [change["kind"] for change in shown["changes"]] == ["create", "rewire", "rewire", "erase"]
    # alive in two positions each; before: x and view_2 of 16384 B, and q_7; after: x, q_9, view_2 of 4096 B
    assert shown["live"]["before"]["byte_steps"] == 2 * (16384 + 16384 + 4096)
    assert shown["live"]["after"]["byte_steps"] == 2 * (16384 + 4096 + 4096)
    assert shown["live"]["difference"]["peak_bytes"] == (16384 + 4096) - (16384 + 16384)


def test_live_prints_lanes_and_its_json_follows_its_schema(qdqviz, trace):
    assert "q_9" in qdqviz("live", trace, 1).out
    (whole,) = valid(qdqviz("live", trace, "--json", "--values", "qdq").out, "live")
    assert whole["step"] is None
    assert [each["node"] for each in whole["before"]["ranges"]] == ["q_7"]
    assert [each["node"] for each in whole["after"]["ranges"]] == ["q_9"]


def test_live_says_which_values_there_are_others_of(qdqviz, tmp_path):
    writer = TraceWriter(tmp_path / "t.qdqtrace", TraceInfo("handmade", "2026-01-01T00:00:00+00:00"))
    relu = node(3, KEYS[4], "relu", "call_function", "aten.relu.default", Ref(0), spec=X.spec)
    output = node(4, KEYS[5], "output", "output", "output", Ref(3))
    state = GraphState().apply_all(Insert(ROOT, each) for each in (X, relu, output))
    writer.add_subject(Subject(0, "forward", "edge"), state)
    writer.close()
    assert "--values all shows all" in qdqviz("live", tmp_path / "t.qdqtrace").err
    done = qdqviz("live", tmp_path / "t.qdqtrace", "--values", "all")
    assert (done.code, done.err) == (0, "") and "relu" in done.out


STARTS = [("svg", b"<svg"), ("dot", b"digraph"), ("txt", b"AdvanceQ"), ("png", b"\x89PNG")]


@pytest.mark.parametrize(("ending", "start"), STARTS)
def test_draw_writes_the_format_that_the_ending_says(qdqviz, trace, tmp_path, ending, start):
    file = tmp_path / f"step.{ending}"
    done = qdqviz("draw", trace, 1, "-o", file)
    assert (done.code, done.out, done.err) == (0, "", f"wrote {file}\n")
    assert start in file.read_bytes()[:200]


def test_draw_writes_to_standard_output_one_view_at_a_time(qdqviz, trace):
    before = qdqviz("draw", trace, 1, "-o", "-", "--view", "before").out
    after = qdqviz("draw", trace, 1, "-o", "-", "--view", "after").out
    assert "q_7" in before and "q_9" not in before.partition("\n")[2]
    assert "q_9" in after


@pytest.mark.parametrize("walk", ["AdvanceQuantize", "1-1"])
def test_draw_walks_over_a_pass_or_a_range_in_one_animated_svg(qdqviz, trace, walk):
    done = qdqviz("draw", trace, "--walk", walk, "-o", "-", "--format", "svg")
    assert done.code == 0 and "animation" in done.out
    assert "step 1: Moved q_7 above view_2" in done.out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--walk", "AdvanceQuantise"], "did you mean AdvanceQuantize?"),
        (["--walk", "Sink"], "rewrote nothing"),
        (["--walk", "1-7"], "no step 7"),
        (["--walk", "2-1"], "backwards"),
        (["1", "--walk", "1-1"], "either STEP or --walk"),
        ([], "either STEP or --walk"),
    ],
)
def test_a_walk_that_cannot_be_is_one_line(qdqviz, trace, arguments, hint):
    assert hint in one_line(qdqviz("draw", trace, *arguments, "-o", "-", "--format", "svg"), 2)


def test_a_step_may_come_before_or_after_options(qdqviz, trace):
    first = qdqviz("live", trace, "1", "--values", "qdq").out
    assert (
        first
        == qdqviz("live", trace, "--values", "qdq", "1").out
        == qdqviz("live", "--values=qdq", trace, "1").out
    )


def test_open_without_a_terminal_prints_the_steps(qdqviz, trace):
    assert qdqviz("open", trace).out == qdqviz("steps", trace).out


def test_text_from_graphs_never_steers_the_terminal(qdqviz, handmade, tmp_path):
    hostile = handmade(tmp_path / "h.qdqtrace", relu="a\x1b[31m\nb\u202e")
    for command in (["steps"], ["show", 1], ["live"], ["draw", 1, "-o", "-"]):
        done = qdqviz(command[0], hostile, *command[1:])
        assert done.code == 0
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", done.out + done.err)


def test_global_options_are_taken_before_and_after_the_command(qdqviz, trace, tmp_path):
    assert qdqviz("--quiet", "draw", trace, 1, "-o", tmp_path / "a.txt").err == ""
    assert qdqviz("draw", trace, 1, "-o", tmp_path / "a.txt", "--quiet").err == ""
    for arguments in (["--theme", "nope", "show", trace, 1], ["show", trace, 1, "--theme", "nope"]):
        done = qdqviz(*arguments)
        assert done.code == 2 and "nope" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["steps", "--them", "dark", "t"], "unrecognized arguments: --them t (did you mean --theme?); see"),
        (["check", "a", "-p", "P", "--faill-on", "fails"], "did you mean --fail-on?"),
        (["show", "t", "1", "--radiuss=3"], "did you mean --radius?"),
        (["show", "t", "1", "--qqqq"], "unrecognized arguments: --qqqq; see"),
        (["show", "t", "1", "2"], "unrecognized arguments: 2; see"),
    ],
)
def test_an_option_that_is_not_known_is_told_with_the_one_that_may_be_meant(qdqviz, words, said):
    assert said in one_line(qdqviz(*words), 2)


WORDS = {
    "diff": ["a", "--old", "P", "--new", "P"],
    "draw": ["a", "1", "-o", "-"],
    "export": ["a", "-o", "a.pte"],
    "golden": ["check", "a"],
    "record": ["a.py"],
    "show": ["a", "1"],
    "completion": ["bash"],
}
"""Arguments that a command's parser takes, where they are not TARGET and passes."""


@pytest.mark.parametrize("name", [*COMMANDS])
def test_no_command_accepts_a_wrong_theme_in_silence(qdqviz, tmp_path, name):
    theme = tmp_path / "mine.toml"
    theme.write_text('[ui]\nbakground = "#000"')
    bare = {"demo", "samples", "passes", "doctor"}
    words = WORDS.get(name, [] if name in bare else ["a", "-p", "P"])
    said = one_line(qdqviz(name, "--theme", theme, *words), 2)
    assert f"the theme {theme}: unknown key ui.bakground" in said


def one_line(outcome, code: int) -> str:
    """The single line that says what is wrong."""
    assert outcome.code == code, outcome
    assert outcome.out == ""
    (line,) = outcome.err.splitlines()
    assert line.startswith("qdqviz: error: ")
    return line


def test_a_missing_file_is_named_in_one_line(qdqviz, tmp_path):
    assert "no such file" in one_line(qdqviz("steps", tmp_path / "no.qdqtrace"), 1)


@pytest.mark.parametrize("content", [b"", b"hello, I am a text", b"\x7fELF" + b"\x00" * 300])
def test_a_file_of_another_kind_is_refused(qdqviz, tmp_path, content):
    (tmp_path / "odd.qdqtrace").write_bytes(content)
    one_line(qdqviz("steps", tmp_path / "odd.qdqtrace"), 1)
    (tmp_path / "odd.bin").write_bytes(content)
    assert "no qdqviz trace" in one_line(qdqviz("steps", tmp_path / "odd.bin"), 2)


def test_a_folder_is_refused(qdqviz, tmp_path):
    one_line(qdqviz("steps", tmp_path), 2)
    folder = tmp_path / "folder.qdqtrace"
    folder.mkdir()
    one_line(qdqviz("steps", folder), 1)


def test_a_database_of_another_program_is_refused(qdqviz, tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t(x)")
    assert "another program" in one_line(qdqviz("steps", tmp_path / "other.db"), 1)


def test_a_truncated_trace_is_refused(qdqviz, trace):
    whole = trace.read_bytes()
    trace.write_bytes(whole[: len(whole) // 2])
    assert "truncated" in one_line(qdqviz("steps", trace), 1)


def test_a_trace_of_a_newer_version_is_refused(qdqviz, trace):
    with sqlite3.connect(trace) as db:
        db.execute("PRAGMA user_version=999")
    assert "newer" in one_line(qdqviz("steps", trace), 1)


DAMAGED = (
    *("info.value", "subjects.data", "states.data"),
    *("runs.data", "runs.attempts", "groups.head", "groups.data"),
)
READERS = (
    *(["steps"], ["show", 1], ["nodes"], ["live"], ["lint"]),
    *(["draw", 1, "-o", "-"], ["why", "--pass", "Sink"]),
)


@pytest.mark.parametrize("place", DAMAGED)
@pytest.mark.parametrize("content", ["", "{", "[1]", '{"x": 1}', b"\xff\x00", b"x\x9cnothing"])
def test_whatever_is_damaged_in_a_trace_no_command_says_more_than_one_line(qdqviz, trace, place, content):
    table, column = place.split(".")
    with sqlite3.connect(trace) as db:
        db.execute(f"UPDATE {table} SET {column}=?", (content,))
    said = [qdqviz(command, trace, *words) for command, *words in READERS]
    for done in said:
        assert "--debug" not in done.err
        assert done.code == 0 or (done.code, len(done.err.splitlines())) == (1, 1)
    if content and place in ("states.data", "groups.data", "groups.head", "subjects.data", "runs.data"):
        assert "damaged" in " ".join(done.err for done in said)


def test_a_damaged_trace_is_refused(qdqviz, trace):
    with sqlite3.connect(trace) as db:
        db.execute("UPDATE groups SET data=x'00'")
    assert "damaged" in one_line(qdqviz("show", trace, 1), 1)
    assert "damaged" in one_line(qdqviz("steps", trace, "--json"), 1)


@pytest.mark.parametrize("step", ["2", "99999999999999999999"])
def test_a_step_that_is_not_there_is_a_usage_error(qdqviz, trace, step):
    assert "no step" in one_line(qdqviz("show", trace, step), 2)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["show", "t.qdqtrace", "first"], "a step is a number"),
        (["show", "t.qdqtrace", "0"], "a step is a number"),
        (["show", "t.qdqtrace"], "STEP"),
        (["stepz", "t.qdqtrace"], "did you mean steps?"),
        (["steps", "t.qdqtrace", "--jsn"], "--jsn"),
        (["draw", "t.qdqtrace", "1", "-o", "a.gif"], ".svg, .png, .dot, .txt"),
        (["draw", "t.qdqtrace", "1", "-o", "-", "--view", "sideways"], "sideways"),
        (["steps", "encoder"], "-p"),
        (["completion", "tcsh"], "bash, zsh, fish"),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(qdqviz, arguments, hint):
    assert hint in one_line(qdqviz(*arguments), 2)


def test_a_trace_with_passes_is_a_contradiction(qdqviz, trace):
    assert "leave out -p" in one_line(qdqviz("steps", trace, "-p", "cadence-reorder"), 2)


def test_a_picture_that_cannot_be_written_is_one_line(qdqviz, trace, tmp_path):
    assert "No such file" in one_line(qdqviz("draw", trace, 1, "-o", tmp_path / "no" / "a.svg"), 1)


def test_debug_shows_the_traceback_as_well(qdqviz, tmp_path):
    done = qdqviz("--debug", "steps", tmp_path / "no.qdqtrace")
    assert "Traceback" in done.err and done.err.splitlines()[-1].startswith("qdqviz: error: no such file")


def test_without_a_command_the_help_is_shown(qdqviz):
    done = qdqviz()
    assert done.code == 2 and "commands:" in done.err


def test_the_version_is_told_before_and_after_a_command(qdqviz):
    assert qdqviz("--version").out == qdqviz("steps", "--version").out == "qdqviz 0.1.0\n"


def test_every_command_says_in_its_help_what_it_does(qdqviz):
    for name in COMMANDS:
        done = qdqviz(name, "--help")
        assert done.code == 0 and "global options" in done.out


def test_a_trace_that_was_cut_off_is_shown_with_a_warning(qdqviz, trace):
    with sqlite3.connect(trace) as db:
        db.execute("UPDATE info SET value='false' WHERE key='complete'")
    done = qdqviz("steps", trace)
    assert done.code == 0 and SENTENCE in done.out and "incomplete" in done.err
