"""A session: passes run one by one on a copy, with progress; what was recorded is kept when one raises."""

from __future__ import annotations

import operator

import pytest
import torch

from qdqviz.live.session import Plan, run
from qdqviz.load.loaded import Loaded
from qdqviz.passes.entry import ResolvedPass


def negate_twice():
    graph = torch.fx.Graph()
    graph.output(
        graph.call_function(operator.neg, (graph.call_function(operator.neg, (graph.placeholder("x"),)),))
    )
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def absolute(module):
    """Turns every neg into abs."""
    for node in module.graph.nodes:
        if node.target is operator.neg:
            node.target = operator.abs
    module.recompile()


def failing(module):
    """Edits one node, then raises."""
    next(node for node in module.graph.nodes if node.op == "call_function").target = operator.pos
    raise ZeroDivisionError("on purpose")


def resolved(function) -> ResolvedPass:
    return ResolvedPass(
        function.__name__, f"here:{function.__name__}", "graph_module", None, False, lambda _: function
    )


@pytest.fixture
def loaded():
    return Loaded("neg", negate_twice(), "GraphModule", "aten", ("forward",), "forward", None)


def targets(module):
    return [node.target for node in module.graph.nodes if node.op == "call_function"]


def test_passes_run_on_a_copy_and_are_recorded(loaded, tmp_path):
    session = run(loaded, [resolved(absolute)], tmp_path / "t.qdqtrace")
    assert session.error is None
    assert targets(session.program) == [operator.abs] * 2
    assert targets(loaded.program) == [operator.neg] * 2
    assert session.trace.steps == 2
    assert [run.name for run in session.trace.runs] == ["absolute"]


def test_a_pass_that_raises_ends_the_run_and_its_edits_are_kept(loaded, tmp_path):
    session = run(loaded, [resolved(failing), resolved(absolute)], tmp_path / "t.qdqtrace")
    assert isinstance(session.error, ZeroDivisionError)
    assert [run.name for run in session.trace.runs] == ["failing"]
    assert session.trace.runs[0].error.type == "ZeroDivisionError"
    assert session.trace.complete and session.trace.steps == 1


def test_progress_names_each_pass_before_it_runs_and_ends_with_all_done(loaded, tmp_path):
    seen = []
    run(loaded, [resolved(absolute), resolved(absolute)], tmp_path / "t.qdqtrace", progress=seen.append)
    assert [(each.done, each.total, each.name) for each in seen] == [
        (0, 2, "absolute"),
        (1, 2, "absolute"),
        (2, 2, ""),
    ]
    assert {each.trace for each in seen} == {tmp_path / "t.qdqtrace"}


def test_a_plan_loads_and_runs_what_its_names_say(tmp_path):
    session = Plan("slices", ("cadence-reorder",), path=tmp_path / "t.qdqtrace", command=("qdqviz",)).start()
    assert session.trace.info.title == "slices" and session.trace.info.command == ("qdqviz",)
    assert session.passes[0].name == "HoistOpsCloserToDefPass"
    assert session.trace.steps > 0
