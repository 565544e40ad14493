"""Commands that load a program and run passes on it, in this process."""

from __future__ import annotations

import json
import textwrap

import jsonschema
import pytest

from qdqviz.cli.main import run
from qdqviz.schemas import load_schema
from qdqviz.trace.reader import Trace

pytest.importorskip("torch")

TARGET = """
    import torch

    def build():
        class Model(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x + 1.0) * 2.0
        return torch.fx.symbolic_trace(Model())
"""

EXPORTED = """
    import torch

    def build():
        return torch.export.export(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()), (torch.ones(2),))
"""

PASSES = """
    import torch
    from torch.fx.passes.infra.pass_base import PassBase, PassResult

    class Renegade(PassBase):
        '''Turns relu into tanh, then raises.'''
        error = RuntimeError("half way\\nthrough")

        def call(self, graph_module):
            for node in graph_module.graph.nodes:
                if node.target is torch.relu:
                    node.target = torch.tanh
                if node.op == "output":
                    raise self.error
            return PassResult(graph_module, True)

    class Interrupted(Renegade):
        error = KeyboardInterrupt()

    class Leaving(Renegade):
        error = SystemExit(0)

    class Disorder(PassBase):
        '''Uses a value above its definition.'''

        def call(self, graph_module):
            nodes = list(graph_module.graph.nodes)
            nodes[1].prepend(nodes[-2])
            return PassResult(graph_module, True)

    class Well(PassBase):
        def call(self, graph_module):
            print("a pass may print")
            for node in graph_module.graph.nodes:
                if node.target is torch.relu:
                    node.target = torch.tanh
            graph_module.recompile()
            return PassResult(graph_module, True)
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with a target and passes, as the current one."""
    (tmp_path / "model.py").write_text(textwrap.dedent(TARGET))
    (tmp_path / "mypasses.py").write_text(textwrap.dedent(PASSES))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def error_line(outcome, code: int) -> str:
    assert outcome.code == code, outcome
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("qdqviz: error: ")]
    return line


def test_run_writes_a_trace_and_says_what_each_pass_did(qdqviz, files):
    done = qdqviz("run", "model.py:build", "-p", "mypasses.py:Well")
    assert done.code == 0
    assert done.out.splitlines()[1].split()[:2] == ["Well", "1"]
    assert done.err == "a pass may print\nrecorded 1 rewrite in build.qdqtrace\n"
    assert "Turned relu from relu into tanh." in qdqviz("steps", "build.qdqtrace").out


def test_run_as_json_follows_its_schema(qdqviz, files):
    done = qdqviz("run", "model.py:build", "-p", "mypasses.py:Well", "-o", "t.qdqtrace", "--json")
    told = json.loads(done.out)
    jsonschema.validate(told, load_schema("run"))
    assert (told["trace"], told["steps"], told["error"]) == ("t.qdqtrace", 1, None)


def test_a_pass_that_raises_leaves_its_partial_trace_and_one_line(qdqviz, files):
    done = qdqviz("run", "model.py:build", "-p", "mypasses.py:Renegade,mypasses.py:Well", "-o", "t.qdqtrace")
    line = error_line(done, 1)
    assert "Renegade raised RuntimeError: half way" in line
    assert "at mypasses.py:14" in line
    assert "the 1 rewrite until then is in t.qdqtrace" in line
    trace = Trace("t.qdqtrace")
    assert trace.steps == 1 and trace.complete
    assert [item.label for item in trace.runs if item.error] == ["Renegade"]
    steps = qdqviz("steps", "t.qdqtrace").out.splitlines()
    assert "Turned relu from relu into tanh." in steps[1]
    assert steps[2].startswith("Renegade raised RuntimeError: half way at mypasses.py:14; `qdqviz why")


def test_a_pass_that_ends_the_process_has_raised_like_any_other(qdqviz, files):
    done = qdqviz("run", "model.py:build", "-p", "mypasses.py:Leaving", "-o", "t.qdqtrace")
    assert "Leaving raised SystemExit at mypasses.py:14; the 1 rewrite" in error_line(done, 1)
    assert Trace("t.qdqtrace").complete


def test_where_the_check_after_a_pass_raises_the_pass_is_named(qdqviz, files):
    (files / "exported.py").write_text(textwrap.dedent(EXPORTED))
    done = qdqviz("run", "exported.py:build", "-p", "mypasses.py:Disorder", "-o", "t.qdqtrace")
    assert ", after Disorder, raised " in error_line(done, 1)
    assert ", after Disorder, raised " in qdqviz("steps", "t.qdqtrace").out.splitlines()[-1]


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        ("mypasses.py", "mypasses.py names no pass: write mypasses.py:NAME (Renegade, Interrupted, "),
        ("./mypasses.py", "./mypasses.py names no pass: write ./mypasses.py:NAME (Renegade, "),
        ("absent.py", "absent.py names no pass: write absent.py:NAME"),
        ("folder/mypasses", "folder/mypasses names no pass: write folder/mypasses:NAME"),
        ("mypasses.py:Wel", "mypasses.py has no pass named Wel: did you mean Well?"),
        ("mypasses.py:zzz", "mypasses.py has no pass named zzz"),
    ],
)
def test_a_pass_that_is_named_wrongly_is_a_usage_error_that_says_how(passes, message, qdqviz, files):
    assert message in error_line(qdqviz("run", "model.py:build", "-p", passes), 2)


def test_a_trace_goes_into_no_folder_that_is_not_there(qdqviz, files):
    done = qdqviz("run", "model.py:build", "-p", "mypasses.py:Well", "-o", "absent/t.qdqtrace")
    assert "there is no folder absent" in error_line(done, 2)
    assert not (files / "absent").exists()


def test_a_trace_without_rewrites_has_no_step_to_show(qdqviz, files):
    (files / "idle.py").write_text("def idle(graph_module):\n    return None\n")
    assert qdqviz("run", "model.py:build", "-p", "idle.py:idle", "-o", "t.qdqtrace").code == 0
    assert "no step 1 in t.qdqtrace: it has no rewrites" in error_line(qdqviz("show", "t.qdqtrace", "1"), 2)
    assert "a step is a number from 1 on, not '-1'" in error_line(qdqviz("show", "t.qdqtrace", "-1"), 2)


def test_ctrl_c_keeps_the_trace_and_says_where_it_is(qdqviz, files):
    done = qdqviz("run", "model.py:build", "-p", "mypasses.py:Interrupted", "-o", "t.qdqtrace")
    assert "interrupted; the 1 rewrite until then is in t.qdqtrace" in error_line(done, 130)
    assert Trace("t.qdqtrace").steps == 1


def test_the_trace_can_go_to_standard_output(files, capsysbinary):
    assert run(["run", "model.py:build", "-p", "mypasses.py:Well", "-o", "-"]) == 0
    (files / "copy.qdqtrace").write_bytes(capsysbinary.readouterr().out)
    assert Trace("copy.qdqtrace").steps == 1


def test_a_target_with_passes_stands_for_a_trace(qdqviz, files):
    options = ["model.py:build", "-p", "mypasses.py:Well"]
    for command in (["steps", *options], ["open", *options], ["live", *options], ["show", *options, "1"]):
        done = qdqviz(*command)
        assert done.code == 0 and done.out
    assert not list(files.glob("*.qdqtrace"))


def test_a_run_never_replaces_a_file_that_is_no_trace(qdqviz, files):
    done = qdqviz("run", "model.py:build", "-p", "mypasses.py:Well", "-o", "model.py")
    assert "is no trace" in error_line(done, 2)
    assert "symbolic_trace" in (files / "model.py").read_text()


@pytest.mark.parametrize(
    ("target", "said"),
    [("text.qdqtrace", "text.qdqtrace is a trace, not a program"), ("text.txt", "text.txt is no target")],
)
def test_a_target_that_is_none_is_named_before_the_trace_that_would_get_its_name(target, said, qdqviz, files):
    for name in ("text.qdqtrace", "text.txt"):
        (files / name).write_text("no trace and no program\n")
    assert said in error_line(qdqviz("run", target, "-p", "mypasses.py:Well"), 2)
    assert (files / "text.qdqtrace").read_text() == "no trace and no program\n"


@pytest.mark.parametrize(
    ("target", "passes", "code", "hint"),
    [
        ("encodr", "cadence-reorder", 2, "encoder"),
        ("no.pt2", "cadence-reorder", 2, "no.pt2"),
        ("model.py:bild", "mypasses.py:Well", 2, "build"),
        ("model.py", "mypasses.py:Well", 2, "model.py:NAME"),
        ("nowhere.py:build", "mypasses.py:Well", 2, "nowhere.py"),
        ("model.py:build", "HoistOpsCloserToDef", 2, "HoistOpsCloserToDefPass"),
        ("model.py:build", "mypasses.py:Wel", 2, "Wel"),
        ("model.py:build", "nowhere.py:Well", 2, "nowhere.py"),
        ("model.py:build", "nomodule:Well", 1, "nomodule"),
    ],
)
def test_an_unknown_target_or_pass_is_named_in_one_line(qdqviz, files, target, passes, code, hint):
    assert hint in error_line(qdqviz("run", target, "-p", passes), code)
    assert not list(files.glob("*.qdqtrace"))


def test_record_keeps_exit_code_output_and_arguments_of_a_script(qdqviz, files):
    (files / "script.py").write_text(
        "import sys, model, mypasses\n"
        "result = mypasses.Well()(model.build())\n"
        "print(__name__, sys.argv[1:], result.modified)\n"
        "sys.exit(3)\n"
    )
    done = qdqviz("record", "-o", "t.qdqtrace", "script.py", "--debug", "-o", "x")
    assert (done.code, done.out) == (3, "a pass may print\n__main__ ['--debug', '-o', 'x'] True\n")
    assert done.err == "qdqviz: recorded 1 rewrite in t.qdqtrace\n"
    assert [item.label for item in Trace("t.qdqtrace").runs] == ["Well"]


def test_record_runs_a_module_and_names_the_trace_after_it(qdqviz, files):
    (files / "tool.py").write_text("import sys\nprint(__name__, sys.argv)\n")
    done = qdqviz("record", "-m", "tool", "-p", "x")
    assert (done.code, done.out) == (0, f"__main__ ['{files}/tool.py', '-p', 'x']\n")
    assert (files / "tool.qdqtrace").exists()


@pytest.mark.parametrize("arguments", [["record"], ["record", "-m"], ["record", "-o", "a", "no.py"]])
def test_record_without_a_script_is_a_usage_error(qdqviz, files, arguments):
    assert error_line(qdqviz(*arguments), 2)


def test_export_writes_a_program_that_open_can_record_again(qdqviz, files):
    done = qdqviz("export", "slices", "-p", "cadence-reorder", "-o", "m.pt2")
    assert done.code == 0 and "read back equal" in done.err
    again = qdqviz("open", "m.pt2", "-p", "cadence-fuse")
    assert again.code == 0 and "requantize" in again.out


def test_an_export_to_an_unknown_format_is_a_usage_error(qdqviz, files):
    assert ".pt2, .pte" in error_line(qdqviz("export", "slices", "-o", "m.onnx"), 2)


def test_a_pass_for_the_other_dialect_gets_a_warning(qdqviz, files):
    (files / "aten.py").write_text(
        "import torch\n"
        "def build():\n"
        "    class Model(torch.nn.Module):\n"
        "        def forward(self, x):\n"
        "            return x.reshape(4).relu()\n"
        "    return torch.export.export(Model(), (torch.ones(2, 2),))\n"
    )
    command = ["run", "aten.py:build", "-p", "cadence:RemoveNopExpandOpPass", "-o", "t.qdqtrace"]
    done = qdqviz(*command)
    assert done.code == 0 and "qdqviz: warning: RemoveNopExpandOpPass looks for edge ops" in done.err
    assert qdqviz("--quiet", *command).err == ""


def test_lists_of_samples_and_passes_follow_their_schemas(qdqviz):
    for command in (["samples", "--json"], ["passes", "--json", "cadence"]):
        told = json.loads(qdqviz(*command).out)
        jsonschema.validate(told, load_schema(command[0]))
        assert len(told) >= 7


def test_a_search_for_passes_that_finds_nothing_fails_with_a_suggestion(qdqviz):
    done = qdqviz("passes", "HoistOpsCloserToDefPas5")
    assert done.code == 1 and "HoistOpsCloserToDefPass" in done.err


def test_doctor_follows_its_schema_and_writes_no_escapes(qdqviz):
    told = json.loads(qdqviz("doctor", "--json").out)
    jsonschema.validate(told, load_schema("doctor"))
    assert told["engine"]["error"] is None and told["packages"]["torch"]
    assert "\x1b" not in qdqviz("doctor").out


RETURNS = """
    import torch
    from torch.fx.passes.infra.pass_base import PassBase, PassResult

    def rename(graph_module):
        for node in graph_module.graph.nodes:
            if node.target is torch.relu:
                node.target = torch.tanh

    class Nothing(PassBase):
        def call(self, graph_module):
            rename(graph_module)

    class Module(Nothing):
        def call(self, graph_module):
            rename(graph_module)
            return graph_module

    class Denies(Nothing):
        def call(self, graph_module):
            rename(graph_module)
            return PassResult(graph_module, False)

    class Admits(Nothing):
        def call(self, graph_module):
            rename(graph_module)
            return PassResult(graph_module, True)
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Nothing", "it returned no PassResult"),
        ("Module", "it returned no PassResult"),
        ("Denies", "it says that it modified nothing"),
        ("Admits", ""),
        ("rename", ""),
    ],
)
def test_what_a_pass_returns_is_noted_where_it_does_not_fit_what_it_did(files, qdqviz, name, said):
    (files / "returns.py").write_text(textwrap.dedent(RETURNS))
    done = qdqviz("run", "model.py:build", "-p", f"returns.py:{name}")
    assert done.code == 0, done.err
    _, row = done.out.splitlines()
    assert row.split(maxsplit=4)[4:] == ([said] if said else [])
