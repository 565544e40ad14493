"""Makes docs/screenshot.svg: the terminal app at a rewrite of an upstream pass that changes the numbers.

    python docs/screenshot.py

It records `cadence-reorder` on the sample `encoder`, has every rewrite checked, and goes to the first one
that differs: the pass moves a per-channel dequantize below a permute and leaves its axis as it was.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from qdqviz.draw.theme import load_theme
from qdqviz.live.session import Plan
from qdqviz.tui.app import QdqvizApp

OUT = Path(__file__).with_name("screenshot.svg")
SIZE = (120, 40)
"""Columns and rows."""

FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""A picture in a page must load nothing; there is a fixed-width font everywhere."""


async def at_rest(pilot: Pilot[None]) -> None:
    """Wait until everything that was asked for is on the screen."""
    main = pilot.app.screen_stack[0]
    quiet = 0
    while quiet < 5:
        await pilot.pause(0.02)
        quiet = quiet + 1 if main.is_at_rest() else 0  # type: ignore[attr-defined]


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await at_rest(pilot)


async def picture(folder: Path) -> str:
    """The app's screen as SVG."""
    app = QdqvizApp(Plan("encoder", ("cadence-reorder",)), load_theme("dark"), "true", folder)
    async with app.run_test(size=SIZE) as pilot:
        while not app.main.trials.has_program:
            await pilot.pause(0.1)
        await at_rest(pilot)
        differing = min(each.step for each in app.main.trials.verdicts.in_order())
        await press(pilot, "colon")
        app.screen.line.value = str(differing)  # type: ignore[attr-defined]
        await press(pilot, "enter", "8", "1")
        app.clear_notifications()
        await at_rest(pilot)
        return FONT_FACE.sub("", app.export_screenshot(title="qdqviz"))


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as name:
        OUT.write_text(asyncio.run(picture(Path(name))), "utf-8")


if __name__ == "__main__":
    main()
