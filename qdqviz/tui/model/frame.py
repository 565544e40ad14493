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


class Lines:
    """The lines alone: they change with the arrangement and the focus only, captions with every step."""

    def __init__(self, panes: Iterable[tuple[Area, bool]], framed: bool) -> None:
        """Draw them.

        Args:
            panes: The panes in view, each with whether keys go to it.
            framed: Whether lines go all round the panes, or only above them.
        """
        self._arms: dict[tuple[int, int], list[int]] = {}
        self._focused: set[tuple[int, int]] = set()
        for area, has_focus in sorted(panes, key=lambda pane: pane[1]):
            self._outline(area, framed, has_focus)
        self.rows: dict[int, dict[int, Run]] = {}
        """Row -> column -> stroke."""
        for (x, y), (up, right, down, left) in self._arms.items():
            style = "ui.focus" if (x, y) in self._focused else "ui.border"
            self.rows.setdefault(y, {})[x] = (stroke((up, right, down, left)), style)

    def _outline(self, area: Area, framed: bool, has_focus: bool) -> None:
        left, right = area.x - 1, area.x + area.width
        top, bottom = area.y - 1, area.y + area.height
        if not framed:
            for x in range(area.x, right):
                self._add((x, top), 1, 3, has_focus)
            return
        for y in (top, bottom):
            self._line([(x, y) for x in range(left, right + 1)], 1, 3, has_focus)
        for x in (left, right):
            self._line([(x, y) for y in range(top, bottom + 1)], 2, 0, has_focus)

    def _line(self, cells: Sequence[tuple[int, int]], ahead: int, behind: int, has_focus: bool) -> None:
        """A line from the middle of its first cell to the middle of its last one."""
        for cell in cells[1:-1]:
            self._add(cell, ahead, behind, has_focus)
        self._add(cells[0], ahead, ahead, has_focus)
        self._add(cells[-1], behind, behind, has_focus)

    def _add(self, cell: tuple[int, int], one: int, other: int, has_focus: bool) -> None:
        """Add two arms to a cell."""
        arms = self._arms.get(cell)
        if arms is None:
            arms = self._arms[cell] = [0, 0, 0, 0]
        weight = HEAVY if has_focus else LIGHT
        arms[one] = max(arms[one], weight)
        arms[other] = max(arms[other], weight)
        if has_focus:
            self._focused.add(cell)


@dataclass(frozen=True)
class Frame:
    """The lines of a whole screen with what is written in them."""

    width: int
    """Columns of the screen."""
    height: int
    """Rows of the screen."""
    panes: tuple[PaneFrame, ...]
    """The panes in view."""
    framed: bool
    """Whether lines go all round the panes, or only above them."""

    @property
    def outline(self) -> tuple[object, ...]:
        """Equal for frames with the same lines."""
        return self.width, self.framed, tuple((pane.area, pane.has_focus) for pane in self.panes)

    def lines(self) -> Lines:
        """The lines alone."""
        return Lines(((pane.area, pane.has_focus) for pane in self.panes), self.framed)

    def captions(self) -> list[tuple[Spot, str, str]]:
        """Titles, notes and tabs: where each is, its text and its style; a note leads nowhere."""
        return [caption for pane in self.panes for caption in _captions(pane)]

    def spot(self, x: int, y: int) -> str | None:
        """The tab or pane whose caption is at a cell."""
        spots = (spot for spot, _, _ in self.captions() if spot.y == y and 0 <= x - spot.x < spot.width)
        return next((spot.name for spot in spots if spot.name), None)

    def row(self, y: int, lines: Lines) -> list[Run]:
        """The runs of one row; cells without lines are blank.

        Args:
            y: The row.
            lines: The frame's lines.
        """
        cells = dict(lines.rows.get(y, {}))
        for spot, text, style in self.captions():
            if spot.y == y:
                _write(cells, spot.x, text, style)
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


def _captions(pane: PaneFrame) -> list[tuple[Spot, str, str]]:
    x, y, room = pane.area.x + 1, pane.area.y - 1, pane.area.width - 2
    found: list[tuple[Spot, str, str]] = []
    if pane.tabs:
        for text, tab in _fitting(pane.tabs, room):
            style = "ui.tab" if not tab.is_active else "ui.tab_focus" if pane.has_focus else "ui.tab_active"
            found.append((Spot(x, y, width(text), tab.name), text, style))
            x += width(text)
    elif pane.title:
        text = f" {cut(pane.title, room - 2)} "
        found.append(
            (Spot(x, y, width(text), pane.name), text, "ui.title_focus" if pane.has_focus else "ui.title")
        )
        x += width(text)
    end = pane.area.x + 1 + room
    if pane.note and x + width(pane.note) + 4 <= end:
        found.append(
            (Spot(end - width(pane.note) - 2, y, width(pane.note) + 2, ""), f" {pane.note} ", "ui.note")
        )
    return found


def _write(cells: dict[int, Run], x: int, text: str, style: str) -> None:
    for character in text:
        cells[x] = (character, style)
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
