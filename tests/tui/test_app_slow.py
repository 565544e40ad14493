"""What is seen while something takes long, is stopped, or breaks down."""

import threading

import pytest
from driving import SIZES, press, running, screen_text, settle, shown, trying, until
from textual import events

from qdqviz.draw.engine import LayoutCancelledError, LayoutEngine
from qdqviz.errors import LayoutError
from qdqviz.tui.model.archive import Archive


class SlowLayouts:
    """Layouts that take until `gate` is set, or until they are cancelled."""

    def __init__(self, monkeypatch):
        self.gate, self.cancelled, self.error = threading.Event(), 0, None
        layout = LayoutEngine.layout

        def wait(engine, dot, cancel=None):
            while not self.gate.wait(0.005):
                if cancel is not None and cancel.cancelled:
                    self.cancelled += 1
                    raise LayoutCancelledError("the layout was cancelled")
            if self.error is not None:
                raise self.error
            return layout(engine, dot, cancel)

        monkeypatch.setattr(LayoutEngine, "layout", wait)


@pytest.fixture
def slow(monkeypatch):
    """Slow layouts for every scene that has not been made yet."""
    layouts = SlowLayouts(monkeypatch)
    layouts.gate.set()
    yield layouts
    layouts.gate.set()


async def go_on_slowly(pilot, slow):
    """Press the key for the next rewrite, whose layout then takes long; wait for the placeholder."""
    pilot.app.main.workshop._scenes.clear()
    slow.gate.clear()
    pilot.app.post_message(events.Key("right", None))
    left = pilot.app.main.stage.left
    await until(pilot, lambda: left.cells is None and left.notice.startswith("laying out"))
    await pilot.pause()


@pytest.mark.parametrize("size", SIZES)
async def test_a_slow_layout_shows_a_placeholder_then_what_a_quick_one_shows(small_path, slow, size):
    async with running(small_path, size) as pilot:
        await press(pilot, "2", "right")
        expected = pilot.app.main.stage.left.window, screen_text(pilot.app)
    async with running(small_path, size) as pilot:
        await press(pilot, "2")
        await go_on_slowly(pilot, slow)
        text = screen_text(pilot.app)
        assert "laying out …  esc stops" in text and "step 2/5" in text
        slow.gate.set()
        await settle(pilot)
        assert (pilot.app.main.stage.left.window, screen_text(pilot.app)) == expected


async def test_keys_are_answered_while_a_layout_is_slow(small_path, slow):
    async with running(small_path, (200, 60)) as pilot:
        await go_on_slowly(pilot, slow)
        for key in ("t", "6", "question_mark"):
            pilot.app.post_message(events.Key(key, None))
        await shown(pilot, "Next rewrite")
        assert pilot.app.theme != "dark" and pilot.app.main.view.tab == "meta"


async def test_escape_stops_a_layout_and_plus_asks_for_it_again(small_path, slow):
    async with running(small_path, (200, 60)) as pilot:
        await go_on_slowly(pilot, slow)
        await press(pilot, "escape")
        assert slow.cancelled == 1 and "stopped; + or - lays it out again" in screen_text(pilot.app)
        await press(pilot, "6")
        assert "stopped; + or - lays it out again" in screen_text(pilot.app)
        slow.gate.set()
        await press(pilot, "plus")
        assert "stopped" not in screen_text(pilot.app) and pilot.app.main.current() is not None


async def test_going_on_cancels_the_layout_that_nobody_waits_for_any_more(small_path, slow):
    async with running(small_path, (200, 60)) as pilot:
        await go_on_slowly(pilot, slow)
        pilot.app.post_message(events.Key("right", None))
        await until(pilot, lambda: slow.cancelled == 1)
        slow.gate.set()
        await settle(pilot)
        assert pilot.app.main.current().place.step == 3


async def test_a_layout_that_fails_says_why_in_place_of_the_picture(small_path, slow):
    async with running(small_path, (200, 60)) as pilot:
        slow.error = LayoutError("the engine `dot` failed: out of memory")
        await go_on_slowly(pilot, slow)
        slow.gate.set()
        await settle(pilot)
        assert "the engine `dot` failed: out of memory" in screen_text(pilot.app)


async def test_a_layout_that_breaks_down_is_told_and_not_waited_for_any_longer(small_path, slow):
    async with running(small_path, (200, 60)) as pilot:
        slow.error = ZeroDivisionError("by zero")
        await go_on_slowly(pilot, slow)
        slow.gate.set()
        await settle(pilot)
        assert "scene: ZeroDivisionError: by zero" in screen_text(pilot.app)


async def test_an_answer_that_breaks_down_is_told_in_its_pane(tiny_path, monkeypatch):
    def answer(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(Archive, "answer", answer)
    async with running(tiny_path, (200, 60)) as pilot:
        await press(pilot, "4")
        text = screen_text(pilot.app)
        assert "cannot be answered: why: ZeroDivisionError: by zero" in text and "asking" not in text


async def test_a_check_that_breaks_down_says_so_and_leaves_the_rest_usable(
    tiny_session, tmp_path, monkeypatch
):
    def check(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("qdqviz.check.checker.check", check)
    async with trying(tiny_session, tmp_path, (200, 60)) as pilot:
        await press(pilot, "8")
        assert "values are not checked: check: ZeroDivisionError: by zero" in screen_text(pilot.app)
        await press(pilot, "x")
        assert pilot.app.main.lists.steps == 2
