"""Where the panes are: a function of the terminal's size, and of whether one pane is to stand alone.

Wide terminals show the list on the left, the graph beside it and the live ranges and details below; where
there is less room, panes become tabs of one pane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from qdqviz.tui.model.details.tabs import DETAIL_TABS

MIN_WIDTH, MIN_HEIGHT = 56, 16
"""Smallest terminal, in columns and rows, that the app can be used in."""

DETAILS = tuple(tab.name for tab in DETAIL_TABS)
"""Names of the details tabs."""

_WIDE = 110
"""Columns from which the list stands beside the graph."""

_ROOMY = 46
"""Rows from which a wide terminal has live ranges and details one above the other."""

_LOW = 30
"""Rows below which a wide terminal has no room for panes below the graph."""

_TALL = 40
"""Rows from which a narrow terminal has tabs below the graph."""

_SPLIT = 62
"""Columns that each of two graph panes needs to stand side by side unasked."""


class Area(NamedTuple):
    """A rectangle of cells."""

    x: int
    """Left column."""
    y: int
    """Top row."""
    width: int
    """Columns."""
    height: int
    """Rows."""


@dataclass(frozen=True)
class Arrangement:
    """Where everything is."""

    width: int
    """Columns of the terminal."""
    height: int
    """Rows of the terminal."""
    panes: Mapping[str, Area]
    """steps, graph, lanes: those that are always in view, without their frames."""
    tabbed: Area
    """The pane whose content the tabs choose."""
    tabs: tuple[str, ...]
    """Names of the tabs: pane names and those of the details tabs."""
    framed: bool
    """Whether lines go all round the panes; else there is a line above each."""
    status: Area
    """The status line."""
    can_split: bool
    """Whether two graphs side by side have room enough."""

    def area(self, pane: str, tab: str) -> Area | None:
        """Where a pane is while a tab is chosen, or None where it is out of view."""
        if pane == "details":
            return self.tabbed if tab in DETAILS else None
        if pane in self.panes:
            return self.panes[pane]
        return self.tabbed if pane == tab else None


def arrange(width: int, height: int, alone: bool = False) -> Arrangement | None:
    """The arrangement for a terminal of that size, or None where it is too small.

    The first row is the header, the last one the keys; the status line is above them.

    Args:
        width: Columns.
        height: Rows.
        alone: One pane with tabs at any size.
    """
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        return None
    if alone:
        return _narrow(width, height)
    if width < _WIDE:
        return _tall(width, height) if height >= _TALL else _narrow(width, height)
    if height < _LOW:
        return _low(width, height)
    return _roomy(width, height) if height >= _ROOMY else _band(width, height)


def split(area: Area) -> tuple[Area, Area]:
    """Two panes side by side in the room of one, a column for the line between them."""
    left = (area.width - 1) // 2
    first = Area(area.x, area.y, left, area.height)
    return first, Area(area.x + left + 1, area.y, area.width - left - 1, area.height)


def _status(width: int, height: int) -> Area:
    rows = 1 if width >= _WIDE else 2
    return Area(0, height - 1 - rows, width, rows)


def _list_width(width: int) -> int:
    return max(32, min(width // 4, 52))


def _roomy(width: int, height: int) -> Arrangement:
    """List, graph and live ranges, details over the whole width at the bottom."""
    left, bottom = _list_width(width), height - 3
    details = max(10, min(height // 5, 16))
    lanes = max(10, min(height // 4, 18))
    top = bottom - details - 1
    graph = Area(left + 2, 2, width - left - 3, top - 2 - lanes - 1)
    panes = {
        "steps": Area(1, 2, left, top - 2),
        "graph": graph,
        "lanes": Area(left + 2, graph.y + graph.height + 1, graph.width, lanes),
    }
    tabbed = Area(1, top + 1, width - 2, details)
    return Arrangement(width, height, panes, tabbed, DETAILS, True, _status(width, height), _splits(graph))


def _band(width: int, height: int) -> Arrangement:
    """List and graph above, details and live ranges side by side below."""
    left, bottom = _list_width(width), height - 3
    band = max(9, min(height * 3 // 10, 14))
    top = bottom - 1 - band
    graph = Area(left + 2, 2, width - left - 3, top - 2)
    half = max(left, (width - 3) * 2 // 5)
    panes = {
        "steps": Area(1, 2, left, top - 2),
        "graph": graph,
        "lanes": Area(half + 2, top + 1, width - half - 3, band),
    }
    tabbed = Area(1, top + 1, half, band)
    return Arrangement(width, height, panes, tabbed, DETAILS, True, _status(width, height), _splits(graph))


def _low(width: int, height: int) -> Arrangement:
    """List beside one pane with tabs."""
    left, bottom = _list_width(width), height - 3
    tabbed = Area(left + 2, 2, width - left - 3, bottom - 2)
    tabs = ("graph", "lanes", *DETAILS)
    panes = {"steps": Area(1, 2, left, bottom - 2)}
    return Arrangement(width, height, panes, tabbed, tabs, True, _status(width, height), _splits(tabbed))


def _tall(width: int, height: int) -> Arrangement:
    """Graph above, one pane with tabs below."""
    status = _status(width, height)
    room = status.y - 2
    graph = Area(0, 2, width, room * 3 // 5 - 1)
    tabbed = Area(0, graph.y + graph.height + 1, width, status.y - graph.y - graph.height - 1)
    tabs = ("steps", "lanes", *DETAILS)
    return Arrangement(width, height, {"graph": graph}, tabbed, tabs, False, status, False)


def _narrow(width: int, height: int) -> Arrangement:
    """One pane with tabs."""
    status = _status(width, height)
    tabbed = Area(0, 2, width, status.y - 2)
    return Arrangement(width, height, {}, tabbed, ("steps", "graph", "lanes", *DETAILS), False, status, False)


def _splits(graph: Area) -> bool:
    return graph.width >= 2 * _SPLIT + 1
