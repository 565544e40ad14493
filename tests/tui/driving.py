"""Drives the app in tests: opens it without a terminal and waits until all work is done."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from pathlib import Path

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
    """Wait until nothing is being made and what was made is shown; `ahead`: reading ahead counts too."""
    app = pilot.app
    until = time.monotonic() + PATIENCE
    quiet = 0
    while quiet < 3:
        assert time.monotonic() < until, "the app did not come to rest"
        await pilot.pause(GLANCE)
        workshop = app.main.workshop
        quiet = quiet + 1 if workshop is not None and workshop.is_idle(ahead=ahead) else 0


@asynccontextmanager
async def running(source, size=(120, 40), **options):
    """The app's pilot, once the first picture is there."""
    app = make_app(source, **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        yield pilot


async def press(pilot, *keys, ahead=True):
    """Press keys, each once all that the one before it asked for is shown."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settle(pilot, ahead=ahead)


async def type_text(pilot, text):
    """Put a text into the line of the dialog that is open, and wait for what comes of it."""
    line = pilot.app.screen.line
    line.value = f"{line.value}{text}"
    line.cursor_position = len(line.value)
    await settle(pilot)


def screen_text(app):
    """What is on the screen, line by line."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line) for line in lines[: app.size.height])
