"""The lines round the panes, with their titles and tabs in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qdqviz.draw.text import cut, width
from qdqviz.tui.model.arrangement import Area
from qdqviz.tui.model.strokes import stroke

LIGHT, HEAVY = 1, 2
"""Weights of lines; heavy is round the pane that has the focus."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab in a pane's upper line."""

    name: str
    """Names it in the code."""
    label: str
    """What it says."""
    is_active: bool
    """Whether its content is shown."""


@dataclass(frozen=True, slots=True)
class PaneFrame:
    """What is drawn round one pane."""

    name: str
    """Names the pane in the code."""
    area: Area
    """The pane, its lines not included."""
    title: str = ""
    """Text at the left of its upper line, where there are no tabs."""
    note: str = ""
    """Text at the right of its upper line; left out where there is no room."""
    tabs: tuple[Tab, ...] = ()
    """Tabs in its upper line."""
    has_focus: bool = False
    """Whether keys go to it."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place of the frame that can be clicked."""

    x: int
    """First column."""
    y: int
    """Row."""
    width: int
    """Columns."""
    name: str
    """The tab or pane that it leads to."""


Run = tuple[str, str]
"""A text and the key of its style."""


class Frame:
    """The lines of a whole screen."""

    def __init__(self, width: int, height: int, panes: Iterable[PaneFrame], framed: bool) -> None:
        """Draw the frame.

        Args:
            width: Columns of the screen.
            height: Rows of the screen.
            panes: The panes in view.
            framed: Whether lines go all round the panes, or only above them.
        """
        self.width = width
        self.height = height
        self.spots: list[Spot] = []
        """What can be clicked."""
        self._arms: dict[tuple[int, int], list[int]] = {}
        self._focused: set[tuple[int, int]] = set()
        self._texts: dict[tuple[int, int], Run] = {}
        drawn = sorted(panes, key=lambda pane: pane.has_focus)
        for pane in drawn:
            self._outline(pane, framed)
        for pane in drawn:
            self._caption(pane)
        self._rows: dict[int, dict[int, Run]] = {}
        for (x, y), arms in self._arms.items():
            style = "ui.focus" if (x, y) in self._focused else "ui.border"
            self._rows.setdefault(y, {})[x] = (stroke((arms[0], arms[1], arms[2], arms[3])), style)
        for (x, y), run in self._texts.items():
            self._rows.setdefault(y, {})[x] = run

    def row(self, y: int) -> list[Run]:
        """The runs of one row; cells without lines are blank."""
        cells = self._rows.get(y, {})
        found: list[Run] = []
        x = 0
        while x < self.width:
            text, style = cells.get(x, (" ", ""))
            if found and found[-1][1] == style:
                found[-1] = (found[-1][0] + text, style)
            else:
                found.append((text, style))
            x += max(width(text), 1)
        return found

    def spot(self, x: int, y: int) -> str | None:
        """The tab or pane whose caption is at a cell."""
        return next((each.name for each in self.spots if each.y == y and 0 <= x - each.x < each.width), None)

    def _outline(self, pane: PaneFrame, framed: bool) -> None:
        area = pane.area
        weight = HEAVY if pane.has_focus else LIGHT
        left, right = area.x - 1, area.x + area.width
        top, bottom = area.y - 1, area.y + area.height
        if not framed:
            for x in range(area.x, area.x + area.width):
                self._arms[x, top] = [0, weight, 0, weight]
                if pane.has_focus:
                    self._focused.add((x, top))
            return
        for y in (top, bottom):
            self._line(((x, y) for x in range(left, right + 1)), False, weight, pane.has_focus)
        for x in (left, right):
            self._line(((x, y) for y in range(top, bottom + 1)), True, weight, pane.has_focus)

    def _line(self, cells: Iterable[tuple[int, int]], upright: bool, weight: int, has_focus: bool) -> None:
        """A line from the middle of its first cell to the middle of its last one."""
        ends = (2, 0) if upright else (1, 3)
        path = list(cells)
        for index, cell in enumerate(path):
            arms = self._arms.setdefault(cell, [0, 0, 0, 0])
            if index < len(path) - 1:
                arms[ends[0]] = max(arms[ends[0]], weight)
            if index:
                arms[ends[1]] = max(arms[ends[1]], weight)
            if has_focus:
                self._focused.add(cell)

    def _caption(self, pane: PaneFrame) -> None:
        x, y, room = pane.area.x + 1, pane.area.y - 1, pane.area.width - 2
        used = self._tabs(pane, x, y, room) if pane.tabs else self._title(pane, x, y, room)
        if pane.note and used + width(pane.note) + 4 <= room:
            self._write(x + room - width(pane.note) - 2, y, f" {pane.note} ", "ui.note")

    def _title(self, pane: PaneFrame, x: int, y: int, room: int) -> int:
        if not pane.title:
            return 0
        text = f" {cut(pane.title, room - 2)} "
        self._write(x, y, text, "ui.title_focus" if pane.has_focus else "ui.title")
        self.spots.append(Spot(x, y, width(text), pane.name))
        return width(text)

    def _tabs(self, pane: PaneFrame, x: int, y: int, room: int) -> int:
        used = 0
        for text, tab in _fitting(pane.tabs, room):
            style = "ui.tab" if not tab.is_active else "ui.tab_focus" if pane.has_focus else "ui.tab_active"
            self._write(x + used, y, text, style)
            self.spots.append(Spot(x + used, y, width(text), tab.name))
            used += width(text)
        return used

    def _write(self, x: int, y: int, text: str, style: str) -> None:
        for character in text:
            self._texts[x, y] = (character, style)
            x += max(width(character), 1)


def _fitting(tabs: Sequence[Tab], room: int) -> list[tuple[str, Tab]]:
    """The texts of tabs: with blanks around them, without, or cut where there is little room."""
    texts = [f" {tab.label} " for tab in tabs]
    if sum(map(width, texts)) > room:
        texts = [f" {tab.label.split(' ', 1)[-1]} " for tab in tabs]
    if sum(map(width, texts)) > room:
        each = max(room // max(len(tabs), 1), 3)
        texts = [f" {cut(tab.label.split(' ', 1)[-1], each - 2)} " for tab in tabs]
    return list(zip(texts, tabs, strict=True))
