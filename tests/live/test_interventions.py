"""Interventions: as they are typed, kept in a file, matched, and settled against a recording."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from live_programs import in_place, session_of

from qdqviz.errors import UsageError
from qdqviz.live.intervention_file import read_interventions, write_interventions
from qdqviz.live.interventions import Force, Steering, Veto, parse_force, parse_veto
from qdqviz.live.settling import missed, settle
from qdqviz.trace.events import Site


def site(line: int, column: int, file: str = "/a/reorder_ops.py") -> Site:
    return Site(0, file, line, column, line, column + 3, "if", "x", "f")


def test_a_veto_names_pass_and_node():
    assert parse_veto("SinkOps:relu") == Veto("SinkOps", "relu")
    assert parse_veto("SinkOps#2:true_graph_0/relu") == Veto("SinkOps#2", "relu", "true_graph_0")


def test_a_force_names_the_decision_by_line_and_column_and_may_name_the_file():
    assert parse_force("SinkOps:relu@12:8") == Force("SinkOps", "relu", 12, 8)
    assert parse_force("SinkOps#3:a/b@ops.py:1:0") == Force("SinkOps#3", "b", 1, 0, "a", "ops.py")


@pytest.mark.parametrize("text", ["", "SinkOps", "SinkOps:", ":relu"])
def test_a_veto_of_another_form_is_refused(text):
    with pytest.raises(UsageError, match="--veto PASS:NODE"):
        parse_veto(text)


@pytest.mark.parametrize("text", ["SinkOps:relu", "SinkOps:relu@", "SinkOps:relu@12", "relu@1:2", "P:n@a:b"])
def test_a_force_of_another_form_is_refused(text):
    with pytest.raises(UsageError, match="--force PASS:NODE@LINE:COL"):
        parse_force(text)


NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)


@given(
    st.lists(
        st.builds(Veto, NAMES, NAMES, NAMES)
        | st.builds(
            Force,
            NAMES,
            NAMES,
            st.integers(1, 10**6),
            st.integers(0, 500),
            NAMES,
            NAMES,
            st.none() | st.booleans(),
        )
    )
)
def test_a_file_gives_back_what_was_written(tmp_path_factory, interventions):
    path = tmp_path_factory.mktemp("i") / "i.toml"
    write_interventions(path, interventions)
    vetoes = [each for each in interventions if isinstance(each, Veto)]
    forces = [each for each in interventions if isinstance(each, Force)]
    assert list(read_interventions(path)) == vetoes + forces


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[veto]]\npass='P'", "has no 'node'"),
        ("[[veto]]\npass='P'\nnode='n'\nline=3", "unknown key 'line'"),
        ("[[force]]\npass='P'\nnode='n'\nline='3'\ncolumn=1", "int is needed"),
        ("[[force]]\npass='P'\nnode='n'\nline=true\ncolumn=1", "int is needed"),
        ("[[skip]]\npass='P'", "only [[veto]] and [[force]]"),
        ("veto = 3", "no list of tables"),
        ("[[veto", "no TOML file"),
    ],
)
def test_a_file_with_a_mistake_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "i.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        read_interventions(path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        read_interventions(tmp_path / "none.toml")


def test_steering_tells_the_recorder_what_to_skip_in_which_run_and_graph():
    steering = Steering([Veto("P#2", "relu", "g")])
    assert steering.of("P") is None
    run = steering.of("P#2")
    assert not run.skips("", "relu")
    assert steering.unused() == (Veto("P#2", "relu", "g"),)
    assert run.skips("g", "relu")
    assert steering.unused() == ()


def test_steering_turns_a_decision_or_gives_it_the_outcome_asked_for():
    turned, fixed = Force("P", "n", 3, 4), Force("P", "n", 5, 0, outcome=True, file="reorder_ops.py")
    run = Steering([turned, fixed]).of("P")
    forced = run.forces_on("", "n")
    assert run.outcome(forced, site(3, 4), True) is False
    assert run.outcome(forced, site(3, 4), False) is True
    assert run.outcome(forced, site(5, 0), True) is True
    assert run.outcome(forced, site(5, 0), False) is True
    assert run.outcome(forced, site(5, 0, "/a/other.py"), False) is False
    assert run.outcome(forced, site(9, 9), False) is False
    assert run.forces_on("", "m") == ()


def passes_over(module: torch.fx.GraphModule) -> None:
    for node in list(module.graph.nodes):
        if node.op != "call_method":
            continue
        if len(node.users) != 1:
            continue
        node.target = "neg"


@pytest.fixture
def recorded(tmp_path):
    module = torch.fx.symbolic_trace(lambda x: (x.relu() + x.tanh()) * x.relu())
    return session_of(module, (torch.ones(2),), [in_place(passes_over)], tmp_path)


def decision(session, text: str):
    return next(each for each in session.trace.sites.values() if each.text == text)


def test_a_force_is_settled_to_the_opposite_of_what_the_recording_saw(recorded):
    guard = decision(recorded, 'node.op != "call_method"')
    force = Force("passes_over", "x", guard.line, guard.column)
    assert settle(force, recorded.trace).outcome is False
    other = Force("passes_over", "relu", guard.line, guard.column)
    assert settle(other, recorded.trace).outcome is True


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (Force("Nobody", "relu", 1, 1), "no pass run is named Nobody: there are passes_over"),
        (Force("passes_over", "gelu", 1, 1), "did not look at gelu"),
        (Force("passes_over", "relu", 1, 1), "took no decision at 1:1 on relu: it took some at"),
    ],
)
def test_a_force_that_meets_nothing_is_refused(recorded, force, message):
    with pytest.raises(UsageError) as raised:
        settle(force, recorded.trace)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("intervention", "message"),
    [
        (Veto("Nobody", "relu"), "no pass run is named Nobody: there are passes_over"),
        (Veto("passes_over", "relu_2"), "passes_over did not look at relu_2: did you mean relu"),
        (Veto("passes_over", "relu", "true_graph"), "did not look at true_graph/relu: did you mean relu"),
        (Veto("passes_over", "zzzzzz"), "did not look at zzzzzz: it looked at x, relu, tanh"),
        (Veto("passes_over", "relu"), "passes_over:relu: passes_over cannot be kept from it"),
        (Force("passes_over", "x", 1, 1, outcome=True), "took no decision at 1:1 on x: it took some at "),
    ],
)
def test_what_met_nothing_is_told_with_what_there_is(recorded, intervention, message):
    assert message in missed(intervention, recorded.trace)


def test_decisions_to_force_are_listed_with_their_text(recorded):
    guard = decision(recorded, 'node.op != "call_method"')
    said = missed(Force("passes_over", "x", 1, 1), recorded.trace)
    assert f'{guard.line}:{guard.column} `node.op != "call_method"`' in said
    assert "list(module.graph.nodes)" not in said
