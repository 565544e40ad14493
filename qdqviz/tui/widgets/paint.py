"""Runs of text and style keys as strips of the screen."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from textual.strip import Strip

from qdqviz.draw.text import cut, width
from qdqviz.tui.look import Look

Run = tuple[str, str]
"""A text and the key of its style."""


def strip_of(runs: Iterable[Run], look: Look, columns: int, fill: str = "", cursor: str = "") -> Strip:
    """A strip of exactly `columns` columns.

    Args:
        runs: What to write.
        look: The styles.
        columns: Width; what is longer is cut with an ellipsis.
        fill: Style of the blanks behind the text.
        cursor: Style of the cursor line that it is on; empty where it is on none.
    """
    segments = []
    used = 0
    for text, key in runs:
        wide = width(text)
        if used + wide > columns:
            text = cut(text, columns - used)
            wide = width(text)
        segments.append(Segment(text, look.over(key, cursor) if cursor else look.style(key)))
        used += wide
        if used >= columns:
            break
    if used < columns:
        blank = look.over(fill, cursor) if cursor else look.style(fill)
        segments.append(Segment(" " * (columns - used), blank))
    return Strip(segments, columns)
