"""The part of a drawn picture that a pane shows."""

from __future__ import annotations

from dataclasses import dataclass

from qdqviz.draw.grid import CellRect, Cells
from qdqviz.draw.text import width

Run = tuple[str, str]
"""A text and the key of its style."""

_MARGIN = 2
"""Cells kept free around what is scrolled into view, where there is room."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which cells of a picture a pane shows."""

    x: int
    """Column of the picture at the pane's left edge; negative where the picture is narrower."""
    y: int
    """Row of the picture at the pane's top edge; negative where the picture is lower."""
    columns: int
    """Width of the pane."""
    rows: int
    """Height of the pane."""

    def within(self, cells: Cells) -> Window:
        """The same window moved so that it shows as much of the picture as it can; small pictures centred."""
        x = _clamped(self.x, self.columns, cells.width)
        y = _clamped(self.y, self.rows, cells.height)
        return Window(x, y, self.columns, self.rows)

    def filled(self, cells: Cells) -> Window:
        """The window moved just so far that nothing is out of view while there is room for it."""
        x = _filled(self.x, self.columns, cells.width)
        y = _filled(self.y, self.rows, cells.height)
        return Window(x, y, self.columns, self.rows)

    def steady(self, cells: Cells) -> Window:
        """The window as it is; filled where it shows less than half of the boxes that there is room for."""
        filled = self.filled(cells)
        rects = list(cells.rects.values())
        shown, possible = (sum(map(each.shows_all_of, rects)) for each in (self, filled))
        return filled if 2 * shown < possible else self

    def showing(self, rect: CellRect) -> Window:
        """The window moved just so far that it shows a box."""
        x = _showing(self.x, self.columns, rect.column, rect.columns)
        y = _showing(self.y, self.rows, rect.row, rect.rows)
        return Window(x, y, self.columns, self.rows)

    def centred(self, rects: list[CellRect]) -> Window:
        """The window with some boxes in its middle; where they do not fit, with the first of them."""
        if not rects:
            return self
        left, top, right, bottom = _hull(rects)
        if right - left > self.columns or bottom - top > self.rows:
            left, top, right, bottom = _hull(rects[:1])
        x, y = (left + right - self.columns) // 2, (top + bottom - self.rows) // 2
        return Window(x, y, self.columns, self.rows)

    def shows_part_of(self, rect: CellRect) -> bool:
        """Whether any of a box is in view."""
        across = rect.column < self.x + self.columns and self.x < rect.column + rect.columns
        return across and rect.row < self.y + self.rows and self.y < rect.row + rect.rows

    def shows_all_of(self, rect: CellRect) -> bool:
        """Whether a whole box is in view."""
        across = self.x <= rect.column and rect.column + rect.columns <= self.x + self.columns
        return across and self.y <= rect.row and rect.row + rect.rows <= self.y + self.rows

    def cues(self, cells: Cells) -> str:
        """Arrows to the sides on which the picture goes on."""
        sides = (
            ("◂", self.x > 0),
            ("▴", self.y > 0),
            ("▾", self.y + self.rows < cells.height),
            ("▸", self.x + self.columns < cells.width),
        )
        return "".join(arrow for arrow, goes_on in sides if goes_on)


def window_runs(cells: Cells, window: Window, line: int, ring: CellRect | None = None) -> list[Run]:
    """One line of a window; the frame of one box is drawn in the style `selected`."""
    row = window.y + line
    runs = cells.runs(row, window.x, window.x + window.columns)
    if ring is None or not ring.row <= row < ring.row + ring.rows:
        return runs
    left, right = ring.column - window.x, ring.column + ring.columns - window.x
    is_edge = row in (ring.row, ring.row + ring.rows - 1)
    spans = [(left, right)] if is_edge else [(left, left + 1), (right - 1, right)]
    for start, stop in spans:
        runs = _restyled(cells, window, row, runs, max(start, 0), min(stop, window.columns))
    return runs


def _restyled(cells: Cells, window: Window, row: int, runs: list[Run], start: int, stop: int) -> list[Run]:
    """The runs with the columns from `start` to `stop` of the window in the style `selected`."""
    if start >= stop:
        return runs
    found: list[Run] = []
    at = 0
    for text, style in runs:
        end = at + width(text)
        if end <= start or at >= stop:
            found.append((text, style))
        else:
            first, last = max(at, start), min(end, stop)
            found += [(_sub(cells, window, row, at, first), style)]
            found += [(_sub(cells, window, row, first, last), "selected")]
            found += [(_sub(cells, window, row, last, end), style)]
        at = end
    return [run for run in found if run[0]]


def _sub(cells: Cells, window: Window, row: int, start: int, stop: int) -> str:
    runs = cells.runs(row, window.x + start, window.x + stop) if start < stop else []
    return "".join(text for text, _ in runs)


def _hull(rects: list[CellRect]) -> tuple[int, int, int, int]:
    return (
        min(rect.column for rect in rects),
        min(rect.row for rect in rects),
        max(rect.column + rect.columns for rect in rects),
        max(rect.row + rect.rows for rect in rects),
    )


def _clamped(at: int, room: int, size: int) -> int:
    if size <= room:
        return -((room - size) // 2)
    return max(0, min(at, size - room))


def _filled(at: int, room: int, size: int) -> int:
    low, high = sorted((0, size - room))
    return max(low, min(at, high))


def _showing(at: int, room: int, start: int, size: int) -> int:
    margin = min(_MARGIN, max(room - size, 0) // 2)
    if start - margin < at:
        return start - margin
    return max(at, start + min(size, room) + margin - room)
