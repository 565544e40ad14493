"""A pass against a changed copy, over all samples: what the change does is told, and nothing else.

Each copy notes by itself what its change does; the built-in passes do not rename, so names may be compared.
"""

from __future__ import annotations

import pytest
from compare_versions import SAMPLES, focus, left_focus, right_focus, version

from qdqviz.explain.difference import Teller
from qdqviz.trace.reader import Trace

SINK = ("sink", "SinkOpsCloserToUsePass")
HOIST = ("hoist", "HoistOpsCloserToDefPass")
ADVANCE = ("advance_chain", "AdvanceQuantizeOpAboveDefChainPass")
POSTPONE = ("postpone_dequantize", "PostponeDequantizeOpBelowUseChainPass")


def relaxed(guard: str, before: str):
    """Changes that drop a guard, and note what it would have turned down where the pass acts all the same."""
    test = f"            if {guard}:\n                continue\n"
    return (
        (test, f"            let_through = {guard}\n"),
        (before, f"            if let_through:\n                NOTED.append(node.name)\n{before}"),
    )


def foci(trace: Trace) -> set[tuple[str, str]]:
    """Pass and node of every rewrite."""
    return {(trace.runs[each.run].name, each.name) for each in trace.headers}


RELAXED = [
    (SINK, "stands_right_before_its_user(node)", "            only_user(node).prepend(node)\n"),
    (HOIST, "stands_right_behind(node, place)", "            hoist(node, place)\n"),
    (ADVANCE, "keeps_only_a_part(mover)", "            advance(node, mover)\n"),
]


@pytest.mark.parametrize(("which", "guard", "action"), RELAXED, ids=[each[1] for each in RELAXED])
def test_a_relaxed_guard_lists_what_it_lets_through_with_the_guard(which, guard, action, recorder, tmp_path):
    changed = version(tmp_path, *which, *relaxed(guard, action))
    seen = 0
    for sample in SAMPLES:
        found = recorder.compare(sample, which[1], changed.cls)
        noted = changed.noted
        seen += len(noted)
        assert [(pair.status, right_focus(found, pair)) for pair in found.differing] == [
            ("only_right", name) for name in noted
        ], sample
        assert not found.metadata
        assert found.count("equal") == found.left.steps
        for told in Teller(found).rewrites():
            assert told.guard.text == guard
            assert told.guard.outcome is True
            assert not told.follows
            assert told.pair.absence.name == right_focus(found, told.pair)
    assert seen >= 4


def test_a_rewrite_that_only_follows_from_others_is_marked(recorder, tmp_path):
    """Slices that are hoisted above each other's quantizes leave these no longer right behind them."""
    guard = "has_other_users(definition)"
    changed = version(tmp_path, *HOIST, *relaxed(guard, "            hoist(node, place)\n"))
    told = list(Teller(recorder.compare("slices", HOIST[1], changed.cls)).rewrites())
    assert [each.guard.text for each in told if not each.follows] == [guard] * 3
    assert len(changed.noted) == 3
    rest = [each.guard.text for each in told if each.follows]
    assert rest == ["stands_right_behind(node, place)"] * 3


def test_a_tightened_guard_lists_what_it_keeps_from_happening_with_the_guard(recorder, tmp_path):
    action = "            only_user(node).prepend(node)\n"
    tight = "int(node.name[-1], 36) % 2"
    test = f"            if {tight}:\n                note(node)\n                continue\n"
    changed = version(tmp_path, *SINK, (action, test + action))
    seen = 0
    for sample in SAMPLES:
        found = recorder.compare(sample, SINK[1], changed.cls)
        noted = changed.noted
        seen += len(noted)
        assert [(pair.status, left_focus(found, pair)) for pair in found.differing] == [
            ("only_left", name) for name in noted
        ], sample
        assert all(told.guard.text == tight for told in Teller(found).rewrites())
        assert found.count("equal") == found.right.steps
    assert seen >= 10


def test_a_moved_insertion_point_lists_where_nodes_stand(recorder, tmp_path):
    """One op further up than the user that a dequantize is sunk to; dequantizes on the way do not count.

    That leaves an op before a user that had none, so more dequantizes are sunk.
    """
    action = "            only_user(node).prepend(node)\n"
    moved = (
        "            place = only_user(node).prev\n"
        "            while op_name(place) in SINKABLE:\n"
        "                place = place.prev\n"
        "            if place in node.all_input_nodes:\n"
        "                continue\n"
        "            NOTED.append(node.name)\n"
        "            place.prepend(node)\n"
    )
    changed = version(tmp_path, *SINK, (action, moved))
    both = 0
    for sample in SAMPLES:
        found = recorder.compare(sample, SINK[1], changed.cls)
        there = [name for _, name in foci(found.left)]
        noted = changed.noted
        expected = {(name, "different" if name in there else "only_right") for name in noted}
        expected |= {(name, "only_left") for name in there if name not in noted}
        both += found.count("different")
        assert {(focus(found, pair), pair.status) for pair in found.differing} == expected, sample
        assert len(found.differing) == len(expected)
        aspects = [each.aspect for pair in found.differing for each in pair.differences]
        assert aspects == ["position"] * found.count("different")
        assert not [each for graph in found.subjects for each in graph.final.differences]
    assert both >= 10


def test_a_changed_attribute_lists_its_values(recorder, tmp_path):
    """A quantize that is moved gets another greatest integer; one that has it already is moved as before."""
    line = '    new: dict[str, Any] = {"input": source_of(mover)}\n'
    changed = version(
        tmp_path,
        *ADVANCE,
        (
            line,
            '    if argument(quantize, "quant_max") != 100:\n        NOTED.append(quantize.name)\n'
            '    new: dict[str, Any] = {"input": source_of(mover), "quant_max": 100}\n',
        ),
    )
    seen = 0
    for sample in SAMPLES:
        found = recorder.compare(sample, ADVANCE[1], changed.cls)
        noted = changed.noted
        seen += len(noted)
        assert [(pair.status, left_focus(found, pair)) for pair in found.differing] == [
            ("different", name) for name in noted
        ], sample
        for told in Teller(found).rewrites():
            assert [each.aspect for each in told.pair.differences if not each.is_metadata] == ["argument"]
            assert told.lines[0].endswith(": quant_max 127 → 100")
    assert seen >= 10


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_swapped_pass_order_lists_the_rewrites_that_depend_on_it(sample, recorder):
    """The passes do not rename: what only one order does is what it alone does to a node of that name."""
    passes = [SINK[1], HOIST[1]]
    found = recorder.compare(sample, passes, passes[::-1])
    mine, theirs = foci(found.left), foci(found.right)
    assert [run.moved for run in found.runs].count(True) == 1
    only_left = {left_focus(found, pair) for pair in found.differing if pair.status == "only_left"}
    only_right = {right_focus(found, pair) for pair in found.differing if pair.status == "only_right"}
    assert only_left == {name for _, name in mine - theirs}
    assert only_right == {name for _, name in theirs - mine}
    assert found.count("different") == 0


def test_two_equal_versions_in_other_files_do_the_same(recorder, tmp_path):
    changed = version(tmp_path, *POSTPONE)
    for sample in SAMPLES:
        found = recorder.compare(sample, POSTPONE[1], changed.cls)
        assert found.same_rewrites, sample
        assert found.same_graphs, sample
        assert not found.metadata, sample
        assert all(each.final.identical for each in found.subjects), sample
