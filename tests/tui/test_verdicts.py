from dataclasses import replace

import fakes
import pytest

from qdqviz.check.lint import Finding
from qdqviz.check.report import Judgement, PassCheck, RewriteCheck
from qdqviz.live.interventions import Force, Veto
from qdqviz.trace.reader import Trace
from qdqviz.tui.model.details.about_check import check_facts
from qdqviz.tui.model.details.leads import ToStep
from qdqviz.tui.model.lists import read_lists
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.trial import Trial, intervention_text, rewrites_by_label, same_place
from qdqviz.tui.model.verdicts import BADGE_TEXTS, Verdicts, badge_of

EQUAL = Judgement("equal", max_abs=0.0)
ONE_STEP = Judgement("differs", "quantization_step", 0.02, 1.0)
WRONG = Judgement("differs", "wrong", 2.0, where="x into add at [0]", detail="4 of 8 elements differ")
FAILS = Judgement("fails", "shape_dtype", detail="add raises: sizes do not match")
UNKNOWN = Judgement("not_checkable", detail="my.op cannot run here: no kernel")


def rewrite(step, judgement, run=0):
    return RewriteCheck(step, run, "Fuse", f"node_{step}", "", judgement)


def after(run, judgement, since=None):
    return PassCheck(run, "Fuse", 9, judgement, since or judgement)


def fault(step):
    return Finding("lost-debug-handle", step, "Fuse", "", "node", "no debug_handle", "debug_handle 7")


def texts(facts):
    return [fact.text for fact in facts]


@pytest.mark.parametrize(
    ("judgement", "sign"), [(EQUAL, "✓"), (ONE_STEP, "≈"), (WRONG, "≠"), (FAILS, "✗"), (UNKNOWN, "?")]
)
def test_every_verdict_has_a_sign_of_its_own_that_the_help_explains(judgement, sign):
    assert badge_of(judgement)[0] == sign and sign in BADGE_TEXTS


def test_what_is_not_checked_yet_is_pending_only_while_a_check_is_under_way():
    assert Verdicts(True, "running").badge(1)[0] == "·"
    assert Verdicts(True, "done").badge(1) is None and Verdicts().badge(1) is None


def test_a_fault_shows_on_equal_rewrites_and_never_hides_a_difference():
    known = Verdicts(True, "done").with_checks([rewrite(1, EQUAL), rewrite(2, WRONG)])
    known = known.with_findings([fault(1), fault(2), fault(3), fault(None)])
    assert [known.badge(step)[0] for step in (1, 2, 3)] == ["!", "≠", "!"]


def test_a_pass_has_its_worst_badge_its_outputs_included():
    known = Verdicts(True).with_checks([rewrite(1, EQUAL), rewrite(2, ONE_STEP), rewrite(3, EQUAL, run=1)])
    assert (known.run_badge(0)[0], known.run_badge(1)[0], known.run_badge(2)) == ("≈", "✓", None)
    known = known.with_checks([after(1, WRONG)])
    assert known.run_badge(1)[0] == "≠"


def test_a_rewrite_that_is_told_again_counts_as_it_was_told_last():
    known = Verdicts(True).with_checks([rewrite(1, WRONG)]).with_checks([rewrite(1, EQUAL)])
    assert known.badge(1)[0] == "✓" and known.run_badge(0)[0] == "✓" and known.in_order() == []


def test_the_worst_come_first_and_equal_ones_by_step():
    known = Verdicts(True).with_checks(
        [rewrite(1, ONE_STEP), rewrite(2, UNKNOWN), rewrite(3, WRONG), rewrite(4, FAILS), rewrite(5, WRONG)]
    )
    assert [each.step for each in known.in_order()] == [4, 3, 5, 1, 2]


@pytest.fixture
def lists(small):
    return read_lists(small)


def facts_of(verdicts, lists, place, trial=None):
    return check_facts(verdicts, lists, place, trial or Trial(), lambda _: None)


def test_the_tab_says_how_far_a_rewrite_differs_and_where(lists):
    known = Verdicts(True, "done").with_checks([rewrite(2, replace(WRONG, steps=3.0, sqnr=12.3))])
    said = texts(facts_of(known, lists, Place("step", 0, 2, 2)))
    assert said[0] == "≠ this rewrite: differs (wrong)"
    assert said[1:4] == [
        "up to 2 · 3 quantization steps · SQNR 12.3 dB",
        "where: x into add at [0]",
        "4 of 8 elements differ",
    ]


def test_nodes_are_called_as_in_the_picture(lists):
    where = "quantized_decomposed_dequantize_per_channel_default_6 into aten_addmm_default at [5, 14]"
    detail = "aten_view_copy_default_1: not 8; aten.linear.default cannot run here"
    known = Verdicts(True, "done").with_checks([rewrite(2, replace(WRONG, where=where, detail=detail))])
    said = texts(facts_of(known, lists, Place("step", 0, 2, 2)))
    assert "where: dequantize_per_channel_6 into addmm at [5, 14]" in said
    assert "view_1: not 8; aten.linear.default cannot run here" in said


def test_rows_of_the_tab_lead_to_their_rewrites(lists):
    known = Verdicts(True, "done").with_checks([rewrite(1, EQUAL), rewrite(2, FAILS)])
    facts = facts_of(known.with_findings([fault(5)]), lists, Place("start", 0))
    leads = [part.lead for fact in facts for part in fact.parts if part.lead is not None]
    assert ToStep(2) in leads and ToStep(5) in leads and ToStep(1) not in leads


def test_an_op_that_cannot_run_is_named(lists):
    known = Verdicts(True, "done").with_checks([rewrite(1, UNKNOWN)])
    assert "my.op cannot run here: no kernel" in texts(facts_of(known, lists, Place("step", 0, 2, 1)))


def test_interventions_are_told_with_what_they_change(lists):
    trial = Trial((Veto("Fuse", "mm", "true_graph_0"),), {"Fuse": 3, "Sink": 2}, {"Fuse": 2, "Sink": 2})
    said = texts(facts_of(Verdicts(True, "done"), lists, Place("start", 0), trial))
    assert "  veto Fuse at true_graph_0/mm" in said and "  Fuse  3 → 2 rewrites" in said
    assert not any("Sink" in each for each in said)


def test_a_forced_decision_is_told_with_its_place_and_outcome():
    forced = Force("Fuse#2", "mm", 12, 8, "", "fuse.py", True)
    assert intervention_text(forced) == "force Fuse#2 at mm: fuse.py:12:8 comes out as true"


def test_passes_that_only_one_run_has_are_told_apart_from_those_that_rewrite_nothing():
    assert Trial((), {"A": 1, "B": 0}, {"A": 1, "C": 2}).differences == [("B", 0, "-"), ("C", "-", 2)]


def test_a_place_is_found_again_in_another_run_of_the_same_passes(tmp_path, lists):
    again = read_lists(Trace(fakes.write_small_trace(tmp_path / "again.qdqtrace")))
    for place in (Place("start", 0), Place("run", 0, 2), Place("step", 0, 2, 2), Place("declined", 0, 3)):
        assert same_place(lists, again, place) == place


def test_a_place_that_is_gone_becomes_its_pass_or_the_start(tmp_path, lists):
    other = read_lists(Trace(fakes.write_faulty_trace(tmp_path / "other.qdqtrace")))
    assert same_place(lists, other, Place("step", 0, 2, 1)) == Place("start", 0)
    forget = replace(other, headers=(replace(other.headers[0], name="gone"),))
    assert same_place(forget, other, Place("step", 0, 0, 1)) == Place("run", 0, 0)


def test_rewrites_are_counted_by_pass_and_managers_are_left_out(lists):
    counts = rewrites_by_label(lists.runs)
    assert counts["AdvanceQuantizeOpAboveDefChainPass"] == 2 and "PassManager" not in counts
