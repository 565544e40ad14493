"""The commands check, bisect, lint, whatif, and export at a step: output, JSON, exit codes."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import jsonschema
import pytest
import torch

from qdqviz.cli.main import run
from qdqviz.schemas import load_schema

TARGET = ("dynamic_linear", "-p", "cadence-reorder")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def qdqviz(capsys):
    def call(*arguments: str) -> Outcome:
        code = run(arguments)
        told = capsys.readouterr()
        return Outcome(code, told.out, told.err)

    return call


def test_check_lists_what_is_not_equal_the_worst_first(qdqviz):
    told = qdqviz("check", *TARGET)
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0].startswith("fails: 6 rewrites: 1 fails (shape_dtype), 2 differs (wrong), 3 equal")
    rows = [line.split()[:2] for line in lines if line.strip()[:1].isdigit()]
    assert rows == [["6", "fails"], ["4", "differs"], ["5", "differs"]]
    assert "axis 0; it should be axis 1" in told.out


def test_check_as_json_follows_its_schema_and_has_the_worst_verdict_on_top(qdqviz):
    told = json.loads(qdqviz("check", *TARGET, "--json", "--sets", "2").out)
    jsonschema.validate(told, load_schema("check"))
    assert told["verdict"] == "fails"
    assert [each["verdict"] for each in told["rewrites"]] == ["fails", "differs", "differs", *["equal"] * 3]
    first = told["rewrites"][1]
    assert first["pass"] == "PostponeDequantizeOpBelowUseChainPass"
    assert first["focus"].startswith("quantized_decomposed_dequantize_per_channel")
    assert first["kind"] == "wrong"
    assert first["max_abs"] > 0
    assert len(told["inputs"]) == 2


@pytest.mark.parametrize(
    ("target", "fail_on", "code"),
    [
        (TARGET, "fails", 1),
        (TARGET, "differs", 1),
        (("dynamic_linear", "-p", "reorder"), "differs", 0),
        (("slices", "-p", "cadence-fuse"), "fails", 0),
        (("slices", "-p", "cadence-fuse"), "differs", 1),
        (("slices", "-p", "cadence-fuse", "--tolerate", "quantization_step"), "differs", 0),
    ],
)
def test_check_fails_where_that_is_demanded(qdqviz, target, fail_on, code):
    assert qdqviz("check", *target, "--fail-on", fail_on).code == code


def test_check_takes_inputs_from_a_file(qdqviz, tmp_path):
    from qdqviz.load.target import load

    torch.save(tuple(load("slices").inputs), tmp_path / "i.pt")
    told = json.loads(
        qdqviz("check", "slices", "-p", "reorder", "--inputs", str(tmp_path / "i.pt"), "--json").out
    )
    assert told["inputs"] == [str(tmp_path / "i.pt")]
    refused = qdqviz("check", "slices", "-p", "reorder", "--inputs", str(tmp_path / "none.pt"))
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)


def test_a_pass_that_raises_is_told_after_what_it_had_rewritten(qdqviz, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import torch\n"
        "def build():\n"
        "    return torch.fx.symbolic_trace(lambda x: x.relu() - 1), (torch.ones(2),)\n"
        "def broken(module):\n"
        "    for node in module.graph.nodes:\n"
        "        if node.op == 'call_method':\n"
        "            node.target = 'neg'\n"
        "    raise ZeroDivisionError('on purpose')\n"
    )
    told = qdqviz("check", f"{tmp_path}/mine.py:build", "-p", f"{tmp_path}/mine.py:broken")
    assert told.code == 1
    assert told.out.startswith("differs: 1 rewrite")
    assert "ZeroDivisionError: on purpose" in told.err


def test_bisect_names_step_pass_and_focus(qdqviz):
    told = qdqviz("bisect", *TARGET)
    assert told.code == 0
    assert told.out.startswith("step 4: PostponeDequantizeOpBelowUseChainPass at dequantize_per_channel ")
    assert f"see it: qdqviz show {TARGET[0]} 4 {TARGET[1]} {TARGET[2]}" in told.err
    found = json.loads(qdqviz("--quiet", "bisect", *TARGET, "--json").out)
    jsonschema.validate(found, load_schema("bisect"))
    assert (found["step"], found["verdict"]) == (4, "differs")


def test_bisect_says_so_where_nothing_breaks(qdqviz):
    assert qdqviz("bisect", "slices", "-p", "SinkOpsCloserToUsePass").out.startswith("no rewrite breaks")


def test_bisect_runs_a_command(qdqviz, tmp_path):
    script = tmp_path / "judge.py"
    script.write_text("import sys; sys.exit('step0' not in sys.argv[1] and 'step1' not in sys.argv[1])\n")
    told = qdqviz("bisect", *TARGET, "--run", f"{sys.executable} {script} {{module}}")
    assert told.out.startswith("step 2: ")
    assert qdqviz("bisect", *TARGET, "--run", "true").code == 2


def test_lint_lists_findings_and_follows_its_schema(qdqviz):
    told = qdqviz("lint", *TARGET, "--off", "lost-debug-handle")
    rows = [line.split()[:2] for line in told.out.splitlines()[1:]]
    assert rows == [[str(step), "channel-axis"] for step in (4, 5, 6)]
    found = json.loads(qdqviz("lint", *TARGET, "--json").out)
    jsonschema.validate(found, load_schema("lint"))
    assert {each["rule"] for each in found["findings"]} == {"channel-axis", "lost-debug-handle"}
    assert found["skipped"] == []


def test_lint_fails_where_that_is_demanded_and_takes_a_trace(qdqviz, tmp_path):
    trace = str(tmp_path / "t.qdqtrace")
    assert qdqviz("run", *TARGET, "-o", trace).code == 0
    assert qdqviz("lint", trace).code == 0
    assert qdqviz("lint", trace, "--fail").code == 1
    assert qdqviz("lint", "dynamic_linear", "-p", "reorder", "--fail").code == 0
    assert json.loads(qdqviz("lint", trace, "--json").out)["skipped"] == ["stale-val", "lost-val"]
    assert qdqviz("lint", trace, "--off", "nonsense").code == 2


def test_export_writes_the_program_at_a_step(qdqviz, tmp_path):
    file = tmp_path / "at.py"
    early, late = (
        qdqviz("export", *TARGET, "--step", step, "-o", str(file)) and file.read_text() for step in "05"
    )
    assert early != late
    assert qdqviz("export", *TARGET, "--step", "99", "-o", str(file)).code == 2
    assert qdqviz("export", *TARGET, "--step", "-1", "-o", str(file)).code == 2


@pytest.mark.parametrize("command", ["check", "bisect", "lint"])
def test_people_read_short_names_and_programs_whole_ones(qdqviz, command):
    told = qdqviz(command, *TARGET, *(["--all"] if command == "check" else []))
    found = qdqviz(command, *TARGET, "--json").out
    for prefix in ("quantized_decomposed_", "aten_"):
        assert prefix not in told.out + told.err
    assert "dequantize_per_channel" in told.out
    assert "quantized_decomposed_dequantize_per_channel_default" in found


def test_whatif_needs_something_to_try(qdqviz):
    told = qdqviz("whatif", *TARGET)
    assert (told.code, "nothing to try" in told.err) == (2, True)
    assert qdqviz("whatif", *TARGET, "--veto", "nonsense").code == 2
    assert qdqviz("whatif", *TARGET, "--force", "P:n").code == 2
    assert qdqviz("whatif", *TARGET, "--with", "none.toml").code == 2


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_no_input_set_at_all_is_a_usage_error(qdqviz, count):
    told = qdqviz("check", *TARGET, "--sets", count)
    assert told.code == 2
    assert "is no number of input sets: give 1 or more" in told.err


def test_a_difference_of_shapes_has_no_figure(qdqviz, tmp_path):
    (tmp_path / "turn.py").write_text(TURN)
    told = qdqviz("check", "slices", "-p", f"{tmp_path / 'turn.py'}:Turn")
    assert told.out.startswith("differs: 1 rewrite: 1 differs (shape_dtype)")
    assert "inf" not in told.out


TURN = """
import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult


class Turn(PassBase):
    def call(self, module):
        output = module.graph.output_node()
        for node in output.all_input_nodes[:1]:
            with module.graph.inserting_before(output):
                turned = module.graph.call_function(torch.ops.aten.unsqueeze.default, (node, 0))
            turned.meta = dict(node.meta)
            output.replace_input_with(node, turned)
        module.recompile()
        return PassResult(module, True)
"""
