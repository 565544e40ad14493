"""How a listing reads: numbers, marks, code, and what was seen at the ends of the lines."""

from __future__ import annotations

from collections.abc import Iterable

from qdqviz.draw.text import cut, width
from qdqviz.tui.model.details.fact import Line, Part, wrap
from qdqviz.tui.model.details.leads import ToLine
from qdqviz.tui.model.listing import Listing, SourceLine

RAN, BLOCKED, CALLS = "▌", "✗", "↳"
"""Marks of lines that ran, of the guard that turned the node down, of functions that were called."""

_GAP = "  "
"""Between code and what was seen."""

_LEAST = 24
"""Columns for what was seen, below which it stands on a line of its own."""


_NARROW = 60
"""Columns below which code is indented by a quarter of what it is in its file, to show more of it."""


def source_lines(listing: Listing, columns: int) -> tuple[list[Line], int]:
    """A listing as lines, and the index of the line to look at first.

    Args:
        listing: The source.
        columns: Width to lay out for; code that is longer is cut when it is painted.
    """
    digits = len(str(len(listing.lines)))
    lines: list[Line] = []
    start = 0
    for each in listing.lines:
        if each.number == listing.start:
            start = len(lines)
        lines += _rows(listing, each, digits, columns)
    return lines, start


def _rows(listing: Listing, line: SourceLine, digits: int, columns: int) -> Iterable[Line]:
    mark, mark_style = _mark(line)
    style = "" if line.ran else "muted"
    number = Part(f"{line.number:>{digits}} ", "muted")
    lead = ToLine(listing.file, line.number, line.guard) if line.guard is not None else None
    text = _indented(line.text, columns)
    code = Part(text, "source.blocking" if line.guard is not None else style, None, lead)
    seen = _seen(line)
    head = (number, Part(f"{mark} ", mark_style), code)
    if not seen:
        yield head
        return
    used = digits + 3 + width(text) + len(_GAP)
    if used + sum(width(part.text) for part in seen) <= columns:
        yield (*head, Part(_GAP), *seen)
        return
    yield head
    indent = min(len(text) - len(text.lstrip()) + 2, max(columns - digits - 3 - _LEAST, 0))
    room = max(columns - digits - 3 - indent, 8)
    for row in wrap(seen, room):
        yield (Part(" " * (digits + 1)), Part(f"{mark} ", mark_style), Part(" " * indent), *row)


def _indented(text: str, columns: int) -> str:
    """A line of code with as much indentation as there is room for."""
    code = text.lstrip(" ")
    indent = len(text) - len(code)
    return text if columns >= _NARROW else " " * (indent // 4) + code


def _mark(line: SourceLine) -> tuple[str, str]:
    if line.guard is not None:
        return BLOCKED, "ui.error"
    return (RAN, "source.ran") if line.ran else (" ", "")


def _seen(line: SourceLine) -> list[Part]:
    """What was seen, then what was called."""
    parts: list[Part] = []
    for note in line.notes:
        parts += [Part(" · ", "muted")] if parts else []
        parts.append(Part(note, "source.note"))
    for called in line.calls:
        parts += [Part("  ", "")] if parts else []
        parts.append(Part(f"{CALLS} {cut(called.name, 40)}", "link", None, ToLine(called.file, called.line)))
    return parts
