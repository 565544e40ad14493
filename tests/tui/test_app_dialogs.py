import threading

import pytest
from driving import PATIENCE, press, running, screen_text, settle, shown, type_text, until
from textual.command import CommandList

from qdqviz.tui.keys import GROUPS, keys_of
from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.details.fact import Part
from qdqviz.tui.screens.help import help_lines
from qdqviz.tui.screens.main import MainScreen
from qdqviz.tui.widgets.graph import GraphView
from qdqviz.tui.widgets.lines import LinesView
from qdqviz.tui.widgets.outline import OutlineView
from qdqviz.tui.workshop import Workshop


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


async def choose(pilot, text, command):
    """Type into the command palette until a command is all that it offers, and choose that."""
    await pilot.press("ctrl+p")
    palette = pilot.app.screen
    await pilot.press(*text)
    offered = palette.query_one(CommandList)
    await until(pilot, lambda: [str(each.hit.text) for each in offered._options] == [command])
    await pilot.press("enter")
    await until(pilot, lambda: pilot.app.screen is not palette)
    await settle(pilot)


async def test_the_command_palette_offers_the_same_keys_and_all_themes(small_path):
    async with running(small_path) as pilot:
        await choose(pilot, "last rew", "Last rewrite")
        assert pilot.app.main.view.place.step == 5
        await choose(pilot, "high contrast", "Theme: High contrast")
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
        await shown(pilot, "wrote")
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


async def test_titles_that_are_made_behind_the_lists_back_are_shown(small_path, monkeypatch):
    asked = Workshop.want_titles

    def make_first(workshop, steps):
        for step in steps:
            workshop.archive.title(step)
        asked(workshop, steps)

    monkeypatch.setattr(Workshop, "want_titles", make_first)
    monkeypatch.setattr(Workshop, "read_ahead", lambda *_: None)
    async with running(small_path, (200, 60)) as pilot:
        text = screen_text(pilot.app)
        assert "1 quantize above slice_tensor" in text and "4 metadata of quantize_up" in text


async def test_a_search_finds_rewrites_whose_titles_are_made_while_it_is_open(small_path, monkeypatch):
    go_on = threading.Event()
    title = Archive.title

    def slow_title(archive, step):
        if threading.current_thread().name == "qdqviz back":
            assert go_on.wait(PATIENCE)
        return title(archive, step)

    monkeypatch.setattr(Archive, "title", slow_title)
    monkeypatch.setattr(Workshop, "want_titles", lambda *_: None)
    async with running(small_path, (200, 60), ahead=False) as pilot:
        await press(pilot, "slash", ahead=False)
        await type_text(pilot, "metadata of", ahead=False)
        assert "nothing found" in screen_text(pilot.app)
        go_on.set()
        await shown(pilot, "1 rewrite")
        await press(pilot, "enter")
        assert pilot.app.main.view.place.step == 4
