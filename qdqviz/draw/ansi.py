"""Drawn cells as text for a terminal: with colours, with 16 of them, or with none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

from rich.color import Color, ColorSystem

from qdqviz.draw.colour import Colour
from qdqviz.draw.grid import Cells
from qdqviz.draw.theme import Style, Theme

Depth = Literal["true", "256", "16", "none"]
"""How many colours a terminal has; with `none` there is still bold, dim and reverse."""

_SYSTEMS = {"true": ColorSystem.TRUECOLOR, "256": ColorSystem.EIGHT_BIT, "16": ColorSystem.STANDARD}


def ansi_text(cells: Cells, theme: Theme, depth: Depth = "true") -> str:
    """The picture as lines with escape sequences for style; the only control characters are those."""
    rows = (ansi_line(cells.runs(row), theme, depth) for row in range(cells.height))
    return "\n".join(rows)


def ansi_line(runs: Sequence[tuple[str, str]], theme: Theme, depth: Depth = "true") -> str:
    """One line of (text, style key) runs with escape sequences; blanks at its end are dropped."""
    kept = list(runs)
    while kept and not kept[-1][0].strip():
        kept.pop()
    parts = []
    for text, key in kept:
        codes = _codes(theme.style(key), depth) if text.strip() or key else ""
        parts.append(f"\x1b[{codes}m{text}\x1b[0m" if codes else text)
    return "".join(parts).rstrip()


def _codes(style: Style, depth: Depth) -> str:
    codes = ["1"] if style.bold else []
    if depth == "none":
        codes += [code for code, wanted in (("2", style.dim), ("7", style.reverse)) if wanted]
        return ";".join(codes)
    codes += _colour_codes(style.foreground, depth, True)
    if style.background is not None:
        codes += _colour_codes(style.background, depth, False)
    return ";".join(codes)


@cache
def _colour_codes(colour: Colour, depth: Depth, foreground: bool) -> tuple[str, ...]:
    found = Color.from_rgb(colour.red, colour.green, colour.blue).downgrade(_SYSTEMS[depth])
    return tuple(found.get_ansi_codes(foreground))
