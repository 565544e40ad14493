"""Vetoes and forced guards: what passes do then, and what the check says about it."""

from __future__ import annotations

import json

import jsonschema
import pytest
import torch
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass
from live_programs import edge, in_place, resolved, session_of

from qdqviz.check.checker import check
from qdqviz.cli.main import run as run_command
from qdqviz.live.intervention_file import read_interventions, write_interventions
from qdqviz.live.interventions import Force, Veto
from qdqviz.live.session import run
from qdqviz.live.settling import settle
from qdqviz.load.programs import describe
from qdqviz.passes.resolve import resolve
from qdqviz.schemas import load_schema

EDGE = exir_ops.edge.aten


class Plain(torch.nn.Module):
    """Three ops in a row, twice."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.relu().neg() + x.relu()).tanh()


@pytest.fixture(scope="module")
def plain():
    inputs = (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),)
    return edge(Plain(), inputs), inputs


def relu_to_tanh(module: torch.fx.GraphModule) -> None:
    for node in list(module.graph.nodes):
        if node.target is not EDGE.relu.default:
            continue
        if len(node.users) > 3:
            continue
        node.target = EDGE.tanh.default


class ReluToTanh(ExportPass):
    """The same by a retrace."""

    def call_operator(self, op, args, kwargs, meta):
        if op is EDGE.relu.default:
            op = EDGE.tanh.default
        return super().call_operator(op, args, kwargs, meta)


def sessions(program, passes, path, *interventions):
    loaded = describe("p", program[0], None, inputs=program[1])
    return [
        run(loaded, passes, path / f"{len(chosen)}.qdqtrace", interventions=chosen)
        for chosen in ((), interventions)
    ]


def fired(session):
    return [(session.trace.runs[header.run].label, header.name) for header in session.trace.headers]


def outcomes(session, label, node):
    (found,) = (each for each in session.trace.runs if each.label == label)
    return {attempt.outcome for attempt in session.trace.attempts(found.id) if attempt.name == node}


def last_decision(session, label, node):
    """Line and column of the last decision about a node."""
    (found,) = (each for each in session.trace.runs if each.label == label)
    attempts = [each for each in session.trace.attempts(found.id) if each.name == node]
    event = [each for each in attempts[-1].events if each.outcome is not None and each.site >= 0][-1]
    site = session.trace.sites[event.site]
    return site.line, site.column


@pytest.mark.parametrize(
    ("passes", "label"),
    [
        ([in_place(relu_to_tanh)], "relu_to_tanh"),
        ([resolved(lambda _: ReluToTanh(), "ReluToTanh")], "ReluToTanh"),
    ],
)
def test_a_veto_leaves_out_one_rewrite_and_no_other(passes, label, plain, tmp_path):
    name = "aten_relu_default"
    without, vetoed = sessions(plain, passes, tmp_path, Veto(label, name))
    assert vetoed.error is None
    assert vetoed.unused == ()
    assert set(fired(without)) - set(fired(vetoed)) == {(label, name)}
    assert outcomes(vetoed, label, name) == {"vetoed"}
    targets = [str(node.target) for node in vetoed.program.exported_program().graph.nodes]
    assert sum("relu" in target for target in targets) == 1


def test_a_vetoed_pass_is_itself_again_afterwards(plain, tmp_path):
    made = ReluToTanh()
    passes = [resolved(lambda _: made, "ReluToTanh")]
    sessions(plain, passes, tmp_path, Veto("ReluToTanh", "aten_relu_default"))
    assert "call_operator" not in vars(made)
    assert ("ReluToTanh", "aten_relu_default") in fired(session_of(*plain, passes, tmp_path))


def test_only_the_run_that_is_named_is_steered(plain, tmp_path):
    def negate(module):
        for node in list(module.graph.nodes):
            if node.target is EDGE.relu.default:
                with module.graph.inserting_after(node):
                    made = module.graph.call_function(EDGE.neg.default, (node,))
                node.replace_all_uses_with(made, delete_user_cb=lambda user, made=made: user is not made)
                made.meta = dict(node.meta)

    _, vetoed = sessions(plain, [in_place(negate)] * 2, tmp_path, Veto("negate#2", "aten_relu_default"))
    assert ("negate", "aten_relu_default") in fired(vetoed)
    assert ("negate#2", "aten_relu_default") not in fired(vetoed)
    assert ("negate#2", "aten_relu_default_1") in fired(vetoed)


def test_what_meets_nothing_is_told(plain, tmp_path):
    veto, force = Veto("relu_to_tanh", "nobody"), Force("relu_to_tanh", "aten_relu_default", 1, 1)
    _, steered = sessions(plain, [in_place(relu_to_tanh)], tmp_path, veto, force)
    assert {each for each, _ in steered.unused} == {veto, force}


def test_a_node_popped_from_a_worklist_cannot_be_vetoed_and_that_is_told(plain, tmp_path):
    def pop_all(module):
        work = list(module.graph.find_nodes(op="call_function", target=EDGE.relu.default))
        while work:
            node = work.pop()
            if len(node.users) < 9:
                node.target = EDGE.tanh.default

    without, vetoed = sessions(plain, [in_place(pop_all)], tmp_path, Veto("pop_all", "aten_relu_default"))
    assert ("pop_all", "aten_relu_default") in fired(without)
    assert fired(vetoed) == fired(without)
    ((_, reason),) = vetoed.unused
    assert "worklist" in reason


# -- forcing -----------------------------------------------------------------------------------------


def test_a_forced_guard_lets_the_pass_go_on(plain, tmp_path):
    without, _ = sessions(plain, [in_place(relu_to_tanh)], tmp_path)
    line, column = last_decision(without, "relu_to_tanh", "aten_neg_default")
    force = settle(Force("relu_to_tanh", "aten_neg_default", line, column), without.trace)
    assert force.outcome is False
    _, forced = sessions(plain, [in_place(relu_to_tanh)], tmp_path, force)
    assert set(fired(forced)) - set(fired(without)) == {("relu_to_tanh", "aten_neg_default")}
    assert forced.unused == ()


@pytest.mark.parametrize(
    ("sample", "name", "node", "guard", "said"),
    [
        (
            "avgpool",
            "AdvanceQuantizeOpAboveDefChainPass",
            "quantize_per_tensor_default_4",
            "does_more_than",
            "fails",
        ),
        (
            "dynamic_linear",
            "SinkOpsCloserToUsePass",
            "dequantize_per_tensor_tensor",
            "has_several_users",
            "raises",
        ),
        (
            "slices",
            "AdvanceQuantizeOpAboveDefChainPass",
            "quantize_per_tensor_default_2",
            "keeps_only_a_part",
            "equal",
        ),
        (
            "slices",
            "SinkOpsCloserToUsePass",
            "dequantize_per_tensor_default_3",
            "stands_right_before",
            "equal",
        ),
        ("slices", "HoistOpsCloserToDefPass", "aten_slice_copy_tensor_1", "has_other_users", "equal"),
    ],
)
def test_forcing_a_guard_of_a_built_in_pass_says_whether_it_is_needed(
    sample, name, node, guard, said, tmp_path, loaded_sample
):
    """Needed ones make the graph fail or the pass raise; those about profit leave the values as they are."""
    loaded = loaded_sample(sample)
    without = run(loaded, resolve(name), tmp_path / "a.qdqtrace")
    focus = node if node.startswith("aten") else f"quantized_decomposed_{node}"
    line, column = last_decision(without, name, focus)
    assert guard in next(
        each.text for each in without.trace.sites.values() if (each.line, each.column) == (line, column)
    )
    force = settle(Force(name, focus, line, column), without.trace)
    forced = run(loaded, resolve(name), tmp_path / "b.qdqtrace", interventions=[force])
    if said == "raises":
        assert forced.error is not None
        return
    assert forced.error is None
    assert forced.trace.steps > without.trace.steps
    assert check(forced).verdict == said


def test_interventions_replay_from_their_file(plain, tmp_path):
    veto = Veto("relu_to_tanh", "aten_relu_default_1")
    write_interventions(tmp_path / "i.toml", [veto])
    _, first = sessions(plain, [in_place(relu_to_tanh)], tmp_path, veto)
    _, again = sessions(plain, [in_place(relu_to_tanh)], tmp_path, *read_interventions(tmp_path / "i.toml"))
    assert fired(first) == fired(again)


# -- the command -------------------------------------------------------------------------------------


def test_whatif_compares_checks_and_keeps_the_interventions(capsys, tmp_path):
    veto = "SinkOpsCloserToUsePass:quantized_decomposed_dequantize_per_tensor_default"
    keep = tmp_path / "i.toml"
    told = run_command(["whatif", "slices", "-p", "reorder", "--veto", veto, "--save", str(keep), "--json"])
    assert told == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, load_schema("whatif"))
    rewrites = {each["label"]: (each["before"], each["after"]) for each in found["passes"]}
    assert rewrites["SinkOpsCloserToUsePass"] == (3, 2)
    assert found["check"]["rewrites"]
    assert run_command(["check", "slices", "-p", "reorder", "--with", str(keep), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rewrites"]) == len(found["check"]["rewrites"])
    assert run_command(["whatif", "slices", "-p", "reorder", "--veto", "SinkOpsCloserToUsePass:nobody"]) == 2
    assert "did not look at nobody: it looked at " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "intervention"),
    [
        ("--veto", "SinkOpsCloserToUsePass:{}"),
        ("--force", "SinkOpsCloserToUsePass:{}@{}"),
    ],
)
def test_the_short_name_that_tables_print_stands_for_the_node(capsys, option, intervention):
    place = "" if option == "--veto" else decision_of_sink(capsys)
    found = []
    for name in ("dequantize", "quantized_decomposed_dequantize_per_tensor_default"):
        what = intervention.format(name, place)
        assert run_command(["whatif", "slices", "-p", "reorder", option, what, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["interventions"] == found[1]["interventions"]
    assert found[0]["passes"] == found[1]["passes"]


def decision_of_sink(capsys):
    """A decision of the sinking pass on the first dequantize, as `LINE:COL`."""
    why = ["why", "slices", "-p", "reorder", "--pass", "SinkOpsCloserToUsePass", "--json"]
    assert run_command([*why, "--node", "output"]) == 0
    guard = json.loads(capsys.readouterr().out)["guard"]
    return f"{guard['line']}:{guard['column']}"


def test_export_honours_interventions(capsys, tmp_path):
    name = "quantized_decomposed_dequantize_per_tensor_default"
    command = ["export", "slices", "-p", "SinkOpsCloserToUsePass", "-o", str(tmp_path / "m.py")]
    assert run_command(command) == 0
    plain_text = (tmp_path / "m.py").read_text()
    assert run_command([*command, "--veto", f"SinkOpsCloserToUsePass:{name}"]) == 0
    assert (tmp_path / "m.py").read_text() != plain_text
