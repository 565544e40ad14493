"""The terminal app with two traces in it: what differs first, left and right, why, and both sources."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from compare_tiny import write_tiny
from driving import press, screen_text, settle

from qdqviz.check.checker import check
from qdqviz.draw.theme import load_theme
from qdqviz.live.session import Plan, run
from qdqviz.trace.compare.renumbered import Renumbered
from qdqviz.trace.compare.traces import compare
from qdqviz.tui.compare.app import CompareApp
from qdqviz.tui.compare.source import Compared
from qdqviz.tui.model.place import Place

SIDES = ("old", "new")
STACK = "stack_trace"


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """By a version's name, the old version of the tiny pass beside it."""
    folder = tmp_path_factory.mktemp("tiny")
    tiny = write_tiny(folder)
    made: dict[str, Compared] = {}

    def recorded(name: str):
        plan = Plan(tiny.target, (getattr(tiny, name),))
        return run(*plan.prepare(), folder / f"{name}.qdqtrace", title="tiny")

    old = recorded("old")

    def get(name: str) -> Compared:
        if name not in made:
            new = recorded(name)
            judged = tuple(
                {each.step: each.judgement for each in check(side).rewrites} for side in (old, new)
            )
            found = compare(old.trace, new.trace)
            made[name] = Compared(found, SIDES, ("old.py", "new.py"), "tiny: old.py | new.py", judged, True)
        return made[name]

    return get


@asynccontextmanager
async def walking(shown: Compared, size=(200, 60)):
    app = CompareApp(shown, load_theme("dark"), "true", Path("/nonexistent"))
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        yield pilot


def rows(pilot) -> list[str]:
    """The list, row by row."""
    outline = pilot.app.main.stage.outline
    return [
        "".join(segment.text for segment in outline.render_line(y)).rstrip()
        for y in range(len(outline.outline.rows))
    ]


def details(pilot) -> str:
    """What the details pane says."""
    lines = pilot.app.main.stage.details.lines
    return "\n".join("".join(part.text for part in line).rstrip() for line in lines)


async def test_differences_come_first_and_what_is_the_same_is_folded(compared):
    async with walking(compared("new")) as pilot:
        text = [row.split() for row in rows(pilot)]
        assert len(text) == 4
        assert text[0] == ["○", "forward", "final", "graphs", "differ"]
        assert text[1] == ["▾", "DropRelu", "1"]
        assert text[2][:3] == ["▶", "+", "1"]
        assert text[3] == ["▸", "the", "same", "in", "both", "1"]
        assert "relu_1" in text[2]
        await press(pilot, "right")  # into what is the same
        assert rows(pilot)[-1].split()[0] == "▶"
        assert "relu_2" in pilot.app.main.stage.status.text
        assert pilot.app.main.stage.status.text.startswith("The same in both: ")


async def test_both_graphs_are_shown_with_what_only_one_has(compared):
    async with walking(compared("new")) as pilot:
        stage = pilot.app.main.stage
        left, right = stage.left.cells, stage.right.cells
        scene = stage.scene
        names = {node.name: node.id for node in scene.sight.before}
        assert names.keys() - {node.name for node in scene.sight.after} == {"relu_1"}
        box = scene.picture.box(names["relu_1"])
        assert box.mark == "-"
        assert left.rects.keys() == right.rects.keys()  # one layout
        frame = screen_text(pilot.app)
        assert "2 old" in frame
        assert "─ new" in frame
        assert "- only old" in frame
        assert "difference 1/1 · old step -, new step 1" in frame


async def test_why_names_the_guard_that_the_other_side_lacks(compared):
    async with walking(compared("new")) as pilot:
        told = details(pilot)
        assert "+ only new: DropRelu" in told
        assert "✗ old declined" in told
        assert "has_other_users(node)" in told
        assert "Others read it, too." in told
        await press(pilot, "7")
        source = details(pilot)
        assert "- old" in source and "+ new" in source
        removed = [line.split(" - ", 1)[1] for line in source.splitlines() if " - " in line]
        assert [line.strip() for line in removed[1:]] == ["if has_other_users(node):", "continue"]
        await press(pilot, "8")
        assert "new           ✓ equal" in details(pilot)


async def test_a_rewrite_that_breaks_values_says_so_on_its_side(compared):
    async with walking(compared("wrong")) as pilot:
        await press(pilot, "8")
        bad = [line for line in details(pilot).splitlines() if "differs (wrong)" in line]
        assert len(bad) == 1
        assert " - → differs (wrong)" in bad[0]
        await press(pilot, "g")
        assert "old           no such rewrite" in details(pilot)


async def test_the_final_graphs_have_a_place_of_their_own(compared):
    async with walking(compared("new")) as pilot:
        await press(pilot, "up", "up")
        main = pilot.app.main
        assert main.view.place == Place("start", 0)
        assert main.stage.status.text.startswith("The final graph forward differs: ")
        told = details(pilot)
        shared = compared("new").comparison.subjects[0]
        assert f"{shared.left_final.nodes:,} → {shared.right_final.nodes:,}" in told
        assert len(main.stage.scene.sight.before) == shared.left_final.nodes
        assert len(main.stage.scene.sight.after) == shared.right_final.nodes


async def test_two_equal_traces_open_at_their_final_graphs(compared):
    shown = compared("new").comparison
    same = Compared(compare(shown.left, shown.left), SIDES, ("a", "b"), "a | b")
    async with walking(same) as pilot:
        assert pilot.app.main.stage.status.text == "The final graph forward is the same in both."
        assert not [row for row in rows(pilot) if "≠" in row or "+" in row]
        await press(pilot, "8")
        assert "numerics are known where a target is recorded" in details(pilot)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_all_tabs_can_be_walked_in_small_terminals(compared, size):
    async with walking(compared("raising"), size) as pilot:
        for key in "12345678":
            await press(pilot, key)
        await press(pilot, "left", "right", "G", "d", "d", "f", "z", "n", "w", "x", "b")
        frame = screen_text(pilot.app)
        assert "DropRelu" in frame or "half way" in frame


async def test_a_raising_side_is_told(compared):
    async with walking(compared("raising")) as pilot:
        assert any("RuntimeError: half way" in row for row in rows(pilot))


def test_the_right_trace_reads_as_it_is_but_for_numbers(compared):
    """Names, ops and order of every state are those of the file; counterparts have the left one's numbers."""
    found = compared("new").comparison
    other = Renumbered(found.right.path, found.nodes)
    left = {node.name: node.id for node in found.left.first().root}
    for step in range(found.right.steps + 1):
        plain, shown = found.right.cursor(0).at(step).root, other.cursor(0).at(step).root
        names = {node.id: node.name for node in plain}, {node.id: node.name for node in shown}
        assert [node.name for node in plain] == [node.name for node in shown]
        for one, two in zip(plain, shown, strict=True):
            assert [names[0][ref] for ref in one.input_ids()] == [names[1][ref] for ref in two.input_ids()]
            assert two.id == left[two.name]
            assert [key for key, _ in one.meta] == [key for key, _ in two.meta]
    stacks = [
        [trace.text(value.id) for node in trace.first().root for key, value in node.meta if key == STACK]
        for trace in (found.right, other)
    ]
    assert stacks[0] == stacks[1]
    assert any(stacks[0])
    other.close()
