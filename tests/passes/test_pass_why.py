"""`why` on each guard of each built-in pass: the guard that turned the node down, with its own reason.

The graphs are those that one guard keeps a pass from rewriting; which nodes it turns down is found by
listening to it while the pass runs without a recording.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from pass_case import Case
from pass_guarding import CASES, IDS, case_node, pass_module, reason_of, run_pass, turned_down

import qdqviz
from qdqviz.cli.main import run as run_command
from qdqviz.explain.answer import Guard, Why


def recorded(each: Case, path: Path) -> qdqviz.Trace:
    module = each.build()
    with qdqviz.record(path) as recording:
        run_pass(each.name, module)
    return recording.trace()


def own_guards(answer: Why) -> tuple[Guard, ...]:
    """What the pass itself asked: the outermost guard, and those that decided together with it."""
    return (*answer.chain[0].siblings, answer.chain[0])


@pytest.mark.parametrize("each", CASES, ids=IDS)
def test_why_names_the_guard_and_its_reason(each: Case, tmp_path: Path):
    trace = recorded(each, tmp_path / "t.qdqtrace")
    nodes = turned_down(each)
    assert nodes
    for node in nodes:
        answer = qdqviz.why(trace, each.name, node)
        assert answer.verdict == "declined", node
        told = [guard for guard in own_guards(answer) if f"{each.guard}(" in guard.text]
        assert [guard.reason for guard in told] == [reason_of(each)], node
        assert told[0].file == inspect.getsourcefile(pass_module(each.name))
        assert each.guard in source_line(told[0])
        text = "\n".join(answer.sentences)
        assert f"“{reason_of(each)}”" in text
        assert f"{told[0].place}:{told[0].column}  " in text, "what --force wants to know"


def source_line(guard: Guard) -> str:
    return Path(guard.file).read_text().splitlines()[guard.line - 1]


def test_the_command_says_the_reason_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    each = next(case for case in CASES if case.guard == "has_several_users")
    recorded(each, tmp_path / "t.qdqtrace")
    assert (
        run_command(["why", str(tmp_path / "t.qdqtrace"), "--pass", each.name, "--node", case_node(each)])
        == 0
    )
    assert reason_of(each) in capsys.readouterr().out.splitlines()[0]
