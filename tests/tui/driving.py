"""Drives the app in tests: opens it without a terminal and waits until all work is done."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from pathlib import Path

import fakes
from textual import events

from qdqviz.draw.theme import load_theme
from qdqviz.trace.reader import Trace
from qdqviz.tui.app import QdqvizApp

SIZES = ((80, 24), (120, 40), (200, 60))
PATIENCE = 60.0
GLANCE = 0.004
"""Seconds between two looks at whether the app has come to rest."""


def make_app(source, *, theme="dark", depth="true", folder=Path("/nonexistent")):
    shown = Trace(source) if isinstance(source, Path) else source
    return QdqvizApp(shown, load_theme(theme), depth, folder)


async def settle(pilot, *, ahead=True):
    """Wait until nothing is being made and what was made is shown; `ahead`: reading ahead counts too.

    At rest is an app that was idle, then was left to take in all that had been sent to it and to paint it,
    and has asked for nothing meanwhile.
    """
    main = pilot.app.main
    until = time.monotonic() + PATIENCE
    while True:
        assert time.monotonic() < until, "the app did not come to rest"
        workshop, asked = main.workshop, main.asked
        if not main.is_at_rest(ahead=ahead):
            await pilot.pause(GLANCE)
            continue
        await drain(pilot)
        if (main.workshop, main.asked) == (workshop, asked) and main.is_at_rest(ahead=ahead):
            return


async def drain(pilot):
    """Have everything taken in that was sent to the app or one of its widgets, and painted."""
    app = pilot.app
    while True:
        await pilot._wait_for_screen()
        await pilot.wait_for_animation()
        await asyncio.sleep(0)
        screens = app.screen_stack
        pumps = [app, *(each for screen in screens for each in screen.walk_children(with_self=True))]
        is_read = all(each._message_queue.empty() and not each._next_callbacks for each in pumps)
        screen = app.screen
        is_painted = not (screen._dirty_widgets or screen._callbacks or screen._layout_required)
        if is_read and is_painted:
            return


async def until(pilot, condition):
    """Wait for a condition that comes about by itself."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        await pilot.pause(GLANCE)


async def shown(pilot, text):
    """Wait until a text is on the screen."""
    await until(pilot, lambda: text in screen_text(pilot.app))


@asynccontextmanager
async def running(source, size=(120, 40), *, ahead=True, **options):
    """The app's pilot, once the first picture is there."""
    app = make_app(source, **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot, ahead=ahead)
        yield pilot


@asynccontextmanager
async def trying(session, folder, size=(120, 40), **options):
    """The app's pilot on a session, once all rewrites have been checked."""
    app = make_app(fakes.ReadyPlan(session, session.trace.path), folder=folder, **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.main.trials.has_program)
        await settle(pilot)
        yield pilot


async def press(pilot, *keys, ahead=True):
    """Press keys, each once all that the one before it asked for is shown."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settle(pilot, ahead=ahead)


async def type_text(pilot, text, *, ahead=True):
    """Put a text into the line of the dialog that is open, and wait for what comes of it."""
    line = pilot.app.screen.line
    line.value = f"{line.value}{text}"
    line.cursor_position = len(line.value)
    await settle(pilot, ahead=ahead)


def screen_text(app):
    """What is on the screen, line by line."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line) for line in lines[: app.size.height])
