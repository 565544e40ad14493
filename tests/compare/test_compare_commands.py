"""`qdqviz diff` and `qdqviz golden` as a user and a CI run them, in this process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from compare_tiny import write_tiny

from qdqviz.cli.main import run
from qdqviz.schemas import load_schema

pytestmark = pytest.mark.usefixtures("samples_once")

GOLDENS = Path(__file__).parent / "goldens"
POSTPONE = "PostponeDequantizeOpBelowUseChainPass"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_tiny(tmp_path_factory.mktemp("tiny"))


def diffed(capsys, *words: str) -> dict:
    """Exit code, and the JSON of a diff, which its schema allows."""
    code = run(["--quiet", "diff", *words, "--json"])
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, load_schema("diff"))
    assert told["failed"] == bool(code)
    return {"code": code, **told}


# -- upstream's postpone pass ------------------------------------------------------------------------


def test_upstreams_axis_differences_come_with_their_verdicts(capsys):
    """By hand: the encoder has six linear layers, whose per-channel weight goes through a permute [1, 0]."""
    told = diffed(
        capsys, "encoder", "--old", f"cadence:{POSTPONE}", "--new", POSTPONE, "--fail-on", "numerics"
    )
    (found,) = told["comparisons"]
    assert told["code"] == 0  # what the new side changes is for the better
    differing = [each for each in found["rewrites"] if not each["metadata_only"]]
    assert len(differing) == 6
    for each in differing:
        (axis,) = [one for one in each["differences"] if not one["metadata"]]
        assert (axis["what"], axis["left_value"], axis["right_value"]) == ("axis", "0", "1")
        left, right = each["numerics"]["left"], each["numerics"]["right"]
        assert (left["verdict"], left["kind"]) == ("differs", "wrong")
        assert right["verdict"] == "equal"
    assert (found["left"]["outputs"]["verdict"], found["right"]["outputs"]["verdict"]) == ("differs", "equal")
    back = diffed(
        capsys, "encoder", "--old", POSTPONE, "--new", f"cadence:{POSTPONE}", "--fail-on", "numerics"
    )
    assert back["code"] == 1
    assert back["comparisons"][0]["failures"] == ["numerics"]


def test_the_printed_axis_differences_stand_beside_their_verdicts(capsys):
    assert run(["--quiet", "diff", "encoder", "--old", f"cadence:{POSTPONE}", "--new", POSTPONE]) == 0
    lines = capsys.readouterr().out.splitlines()
    judged = [i for i, line in enumerate(lines) if line.endswith("→ equal)")]
    assert len(judged) == 6
    assert all("(numerics: differs (wrong) by 0.0" in lines[i] for i in judged)
    assert all(lines[i + 1].endswith(": axis 0 → 1") for i in judged)


# -- exit codes --------------------------------------------------------------------------------------


def test_exit_codes_follow_what_was_not_to_be(capsys, tiny):
    def code(new: str, *words: str) -> int:
        found = diffed(capsys, tiny.target, "--old", tiny.old, "--new", new, *words)
        (comparison,) = found["comparisons"]
        assert bool(comparison["failures"]) == bool(found["code"])
        return found["code"]

    assert code(tiny.old, "--fail-on", "rewrites", "--fail-on", "graph", "--fail-on", "numerics") == 0
    assert code(tiny.new) == 0
    assert code(tiny.new, "--fail-on", "rewrites") == 1
    assert code(tiny.new, "--fail-on", "graph") == 1
    assert code(tiny.new, "--fail-on", "numerics") == 0
    assert code(tiny.wrong, "--fail-on", "numerics") == 1
    assert code(tiny.wrong, "--fail-on", "numerics", "--tolerate", "wrong") == 0
    assert code(tiny.wrong) == 0
    assert code(tiny.raising) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["TARGET"], "--old PASSES --new PASSES"),
        (["TARGET", "--old", "OLD", "--new", "NEW", "--json", "--markdown"], "either --json or --markdown"),
        (["TARGET", "--old", "OLD", "--new", "NEW", "--tui"], "--tui needs a terminal"),
        (["TARGET", "BROKEN", "--old", "OLD", "--new", "NEW", "--tui"], "--tui shows one target"),
        (
            ["TARGET", "--old", "OLD", "--new", "NEW", "--no-check", "--fail-on", "numerics"],
            "leave out --no-check",
        ),
        (["TARGET", "-p", "OLD", "-p", "NEW", "-p", "NEW"], "two sides"),
        (["a.qdqtrace"], "takes two"),
        (["a.qdqtrace", "b.qdqtrace", "--check"], "holds no numerics"),
    ],
)
def test_what_cannot_be_compared_is_a_usage_error_in_one_line(words, said, capsys, tiny):
    given = {"TARGET": tiny.target, "BROKEN": tiny.broken, "OLD": tiny.old, "NEW": tiny.new}
    assert run(["--quiet", "diff", *(given.get(word, word) for word in words)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


# -- what is told ------------------------------------------------------------------------------------


def test_what_a_relaxed_guard_lets_through_is_told_with_the_guard_and_the_values(capsys, tiny):
    (found,) = diffed(capsys, tiny.target, "--old", tiny.old, "--new", tiny.new)["comparisons"]
    assert found["counts"] == {"equal": 1, "different": 0, "only_left": 0, "only_right": 1, "metadata": 0}
    (let_through,) = found["rewrites"]
    assert let_through["right"]["focus"] == "relu_1"
    assert let_through["absence"]["guard"]["text"] == "has_other_users(node)"
    assert let_through["absence"]["guard"]["reason"] == "Others read it, too."
    assert let_through["numerics"]["left"] is None
    assert let_through["numerics"]["right"]["verdict"] == "equal"


def test_numerics_are_left_out_on_demand_and_told_as_missing(capsys, tiny):
    words = (tiny.target, "--old", tiny.old, "--new", tiny.new)
    (found,) = diffed(capsys, *words, "--no-check")["comparisons"]
    assert [each["numerics"] for each in found["rewrites"]] == [{"left": None, "right": None}]
    assert found["right"]["verdict"] is None
    assert run(["--quiet", "diff", *words, "--no-check"]) == 0
    assert "numerics" not in capsys.readouterr().out


def test_several_targets_have_a_table_and_one_that_does_not_load_fails_alone(capsys, tiny):
    words = [tiny.target, tiny.broken, "--old", tiny.old, "--new", tiny.new]
    assert run(["--quiet", "diff", *words]) == 1
    told = capsys.readouterr()
    assert "RuntimeError: no such model" in told.err
    lines = told.out.splitlines()
    titles = lines[0].split()
    assert titles[:6] == ["target", "old", "new", "same", "metadata", "differ"]
    assert lines[1].split()[1:9] == ["1", "2", "1", "0", "0", "0", "1", "differ"]
    assert lines[2].split()[1:] == ["failed"]
    assert f"== {tiny.target} ==" in lines
    assert diffed(capsys, *words)["comparisons"][1]["target"] == tiny.broken


def test_markdown_holds_no_markup_of_names_and_folds_each_target(capsys, tiny):
    passes = ["--old", "HoistOpsCloserToDefPass", "--new", "SinkOpsCloserToUsePass"]
    assert run(["--quiet", "diff", "slices", tiny.target, *passes, "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "### What the passes do"
    assert lines[2].startswith("| target | old | new |")
    assert lines[4].startswith("| slices | 0 | 3 |")
    assert "<details><summary>slices</summary>" in lines
    assert lines.count("</details>") == 1  # the other target has no difference
    listed = [line.strip() for line in lines if line.strip().startswith("- step")]
    assert listed == [
        f"- step {step}: {name} later (numerics: equal)"
        for step, name in enumerate(("dequantize", "dequantize_1", "dequantize_2"), 1)
    ]


def test_traces_are_compared_like_targets(capsys, tiny, tmp_path):
    paths = [str(tmp_path / f"{side}.qdqtrace") for side in ("old", "new")]
    for path, passes in zip(paths, (tiny.old, tiny.new), strict=True):
        assert run(["--quiet", "run", tiny.target, "-p", passes, "-o", path]) == 0
    capsys.readouterr()
    found = diffed(capsys, *paths, "--fail-on", "rewrites")
    assert found["code"] == 1
    assert found["comparisons"][0]["counts"]["only_right"] == 1
    assert diffed(capsys, paths[0], paths[0], "--fail-on", "rewrites", "--fail-on", "graph")["code"] == 0


# -- goldens -----------------------------------------------------------------------------------------


def golden(capsys, *words: str) -> tuple[int, list[dict]]:
    code = run(["--quiet", "golden", *words, "--json"])
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, load_schema("golden"))
    return code, told


def test_a_golden_holds_until_the_pass_does_something_else(capsys, tiny, tmp_path):
    folder = str(tmp_path / "goldens")
    changing = tmp_path / "changing.py"
    changing.write_text(Path(tiny.old.rpartition(":")[0]).read_text())
    passes = f"{changing}:DropRelu"
    assert golden(capsys, "save", folder, tiny.target, "-p", passes)[1][0]["status"] == "written"
    assert golden(capsys, "check", folder) == (0, golden(capsys, "check", folder)[1])
    assert golden(capsys, "save", folder)[1][0]["status"] == "unchanged"
    changing.write_text(Path(tiny.new.rpartition(":")[0]).read_text())
    code, (found,) = golden(capsys, "check", folder)
    assert code == 1
    assert found["status"] == "differs"
    assert [line for line in found["difference"] if line[0] in "+-"][2:4] == [
        "-DropRelu: 1 rewrite",
        "+DropRelu: 2 rewrites",
    ]
    assert golden(capsys, "save", folder)[1][0]["status"] == "written"
    assert golden(capsys, "check", folder)[0] == 0


def test_the_built_in_passes_do_to_all_samples_what_the_goldens_say(capsys):
    """The project's own goldens: what `qdqviz golden save tests/compare/goldens SAMPLE… -p default` wrote."""
    code, found = golden(capsys, "check", str(GOLDENS))
    assert [each["target"] for each in found] == [
        *("attention_chain", "avgpool", "convnet", "dynamic_linear", "encoder", "slices", "weight_only"),
    ]
    assert {each["status"]: each["difference"] for each in found} == {"same": []}
    assert code == 0


# -- several programs, no torch ----------------------------------------------------------------------


def two_programs(path: Path, *passes: Callable[[], Any]) -> str:
    """A recording of two programs, a pass run on each: relu of relu, which others read in the second one."""
    import torch

    from qdqviz.record.api import record

    class Model(torch.nn.Module):
        def __init__(self, more: bool) -> None:
            super().__init__()
            self.more = more

        def forward(self, x):
            second = torch.ops.aten.relu.default(torch.ops.aten.relu.default(x))
            return (second, second + 1) if self.more else second

    with record(path):
        for each, more in zip(passes, (False, True), strict=True):
            each()(torch.fx.symbolic_trace(Model(more)))
    return str(path)


def test_of_several_programs_only_what_differs_is_told_with_its_program(capsys, tiny, tmp_path):
    from qdqviz.passes.resolve import resolve

    old, new = (partial(resolve(each)[0].build, None) for each in (tiny.old, tiny.new))
    paths = [two_programs(tmp_path / "a.qdqtrace", old, old), two_programs(tmp_path / "b.qdqtrace", old, new)]
    assert run(["--quiet", "diff", *paths]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert "1 pass run on 2 programs did the same" in lines
    assert "1 final graph is the same" in lines
    titles = [line for line in lines if line.startswith("DropRelu on graph 2")]
    assert len(titles) == 2  # a row of the table, and the heading of its rewrites
    assert titles[0].split()[4:] == ["0", "0", "0", "0", "1"]
    assert "the final graph graph 2 differs" in lines
    assert any(line.strip().startswith("only left has relu_1: relu") for line in lines)
    assert run(["--quiet", "diff", paths[0], paths[0]]) == 0
    printed = capsys.readouterr().out
    assert "1 pass run on 2 programs did the same" in printed  # the other one rewrites nothing
    assert "2 final graphs are the same" in printed


def test_traces_are_compared_without_torch(tiny, tmp_path):
    paths = [str(tmp_path / f"{side}.qdqtrace") for side in ("old", "new")]
    for path, passes in zip(paths, (tiny.old, tiny.new), strict=True):
        assert run(["--quiet", "run", tiny.target, "-p", passes, "-o", path]) == 0
    program = (
        "import sys; sys.modules['torch'] = sys.modules['executorch'] = None\n"
        "from qdqviz.cli.main import run\n"
        "import qdqviz.tui.compare.app\n"
        "sys.exit(run(['diff', *sys.argv[1:], '--fail-on', 'rewrites']))"
    )
    root = Path(__file__).parents[2]
    found = subprocess.run(
        [sys.executable, "-c", program, *paths], cwd=root, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1, found.stderr
    assert "has_other_users(node)" in found.stdout


def test_the_terminal_is_given_both_sides_with_their_numerics(capsys, tiny, monkeypatch):
    from qdqviz.cli import diff_walk
    from qdqviz.cli.output import Output

    shown = []
    monkeypatch.setattr(Output, "interactive", True)
    monkeypatch.setattr(diff_walk, "run_compare", lambda compared, *, theme: shown.append((compared, theme)))
    words = [
        "--quiet",
        "--theme",
        "light",
        "diff",
        tiny.target,
        "--old",
        tiny.old,
        "--new",
        tiny.wrong,
        "--tui",
    ]
    assert run(words) == 0
    assert run([*words, "--fail-on", "numerics"]) == 1
    compared, theme = shown[0]
    assert theme == "light"
    assert compared.checked
    assert compared.sides == ("old", "new")
    assert [judged.verdict for judged in compared.judgements[0].values()] == ["equal"]
    assert "differs" in [judged.verdict for judged in compared.judgements[1].values()]
    assert compared.comparison.count("only_right") == 2
