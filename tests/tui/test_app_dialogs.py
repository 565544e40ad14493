import pytest
from driving import press, running, screen_text, settle, type_text

from qdqviz.tui.keys import GROUPS, keys_of
from qdqviz.tui.model.details.fact import Part
from qdqviz.tui.screens.help import help_lines
from qdqviz.tui.screens.main import MainScreen
from qdqviz.tui.widgets.graph import GraphView
from qdqviz.tui.widgets.lines import LinesView
from qdqviz.tui.widgets.outline import OutlineView


def test_every_key_does_something_and_none_does_two_things():
    owners = {"": MainScreen, "steps": OutlineView, "graph": GraphView, "text": LinesView}
    for pane, owner in owners.items():
        names = [name for key in keys_of(pane) for name in key.keys.split()]
        assert len(names) == len(set(names)), pane
        for key in keys_of(pane):
            assert hasattr(owner, f"action_{key.action.partition('(')[0]}"), key


def test_the_help_names_every_key():
    said = "\n".join("".join(part.text for part in line) for line in help_lines())
    for group in GROUPS:
        for key in group.keys:
            assert key.text in said and key.shown in said
    assert all(isinstance(part, Part) for line in help_lines() for part in line)


async def test_the_help_opens_scrolls_and_closes(small_path):
    async with running(small_path, (80, 24)) as pilot:
        await press(pilot, "question_mark")
        assert "Next rewrite" in screen_text(pilot.app)
        await press(pilot, *["pagedown"] * 6)
        assert "returned by the graph" in screen_text(pilot.app)
        await press(pilot, "escape")
        assert "Next rewrite" not in screen_text(pilot.app)


async def test_the_command_palette_offers_the_same_keys_and_all_themes(small_path):
    async with running(small_path) as pilot:
        await pilot.press("ctrl+p")
        await pilot.pause(0.2)
        await pilot.press(*"last rew")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.main.view.place.step == 5
        await pilot.press("ctrl+p")
        await pilot.pause(0.2)
        await pilot.press(*"high contrast")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.look.theme.name == pilot.app.theme == "high-contrast"


async def test_t_goes_through_all_themes(small_path):
    async with running(small_path) as pilot:
        seen = []
        for _ in range(4):
            seen.append(pilot.app.theme)
            await press(pilot, "t")
        assert pilot.app.theme == "dark" == seen[0]
        assert set(seen) == {"dark", "light", "high-contrast", "colour-blind"}


async def test_q_quits(small_path):
    async with running(small_path) as pilot:
        await pilot.press("q")
        await pilot.pause()
        assert not pilot.app.is_running or pilot.app._exit


@pytest.mark.parametrize("ending", ["svg", "txt", "dot"])
async def test_a_picture_is_written_to_a_file(small_path, tmp_path, ending):
    path = tmp_path / f"picture.{ending}"
    async with running(small_path) as pilot:
        await press(pilot, "e", "ctrl+u")
        await type_text(pilot, str(path))
        await press(pilot, "enter")
        await pilot.pause(0.2)
        assert "wrote" in screen_text(pilot.app)
    assert "quantize_up" in path.read_text("utf-8")


async def test_a_file_that_exists_is_replaced_only_after_a_second_enter(small_path, tmp_path):
    path = tmp_path / "p.txt"
    path.write_text("mine")
    async with running(small_path) as pilot:
        await press(pilot, "e", "ctrl+u")
        await type_text(pilot, str(path))
        await press(pilot, "enter")
        assert path.read_text() == "mine" and "exists: enter again replaces it" in screen_text(pilot.app)
        await press(pilot, "enter")
    assert "quantize_up" in path.read_text("utf-8")


async def test_a_file_name_that_cannot_be_used_is_refused_in_one_line(small_path, tmp_path):
    async with running(small_path, (200, 60)) as pilot:
        await press(pilot, "e", "ctrl+u")
        await type_text(pilot, "a.jpg")
        await press(pilot, "enter")
        assert "end its name in .svg, .png, .dot or .txt" in screen_text(pilot.app)
        await press(pilot, "ctrl+u")
        await type_text(pilot, f"{tmp_path}/none/a.svg")
        await press(pilot, "enter")
        assert "is no folder" in screen_text(pilot.app)
