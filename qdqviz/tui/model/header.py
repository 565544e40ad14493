"""What the header says: what is shown, where one is, and how far a recording is."""

from __future__ import annotations

from qdqviz.draw.text import cut, width
from qdqviz.ir.text import safe_text
from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.place import Place

Run = tuple[str, str]
"""A text and the key of its style."""


def header_runs(lists: Lists | None, place: Place | None, progress: str, columns: int) -> list[Run]:
    """The header in exactly `columns` columns: title on the left, place or progress on the right.

    Args:
        lists: The trace's lists; None before there is a trace.
        place: Where one is.
        progress: What a recording does right now; empty where none is on.
        columns: Width.
    """
    right = " · ".join(part for part in (progress, position(lists, place)) if part)
    right = cut(right, columns * 2 // 3)
    name = " qdqviz "
    title = title_text(lists)
    room = columns - width(name) - width(right) - 3
    left = cut(title, room) if room > 3 else ""
    gap = columns - width(name) - width(left) - width(right) - 2
    return [
        (name, "ui.brand"),
        (f" {left}", "ui.header"),
        (" " * gap, "ui.header"),
        (f"{right} ", "ui.place"),
    ]


def title_text(lists: Lists | None) -> str:
    """`encoder · executorch 1.4.1`."""
    if lists is None:
        return ""
    versions = dict(lists.info.versions)
    parts = [safe_text(lists.info.title)]
    if "executorch" in versions:
        parts.append(f"executorch {safe_text(versions['executorch'])}")
    return " · ".join(parts)


def position(lists: Lists | None, place: Place | None) -> str:
    """`step 14/96 · rewrite 2 of pass 3/7`."""
    if lists is None or place is None:
        return ""
    if place.run is None:
        return f"start · {lists.steps:,} steps"
    number = lists.number(place.run)
    label = f"pass {number}/{len(lists.passes)}" if number else lists.runs[place.run].kind
    if place.step is None:
        return f"{label} · {lists.steps:,} steps"
    own = lists.own_steps[place.run]
    return f"step {place.step:,}/{lists.steps:,} · rewrite {own.index(place.step) + 1:,} of {label}"
