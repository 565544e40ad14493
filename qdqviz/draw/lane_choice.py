"""Which live ranges a picture of lanes shows, and which part of the axis."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from qdqviz.draw.axis import Axis
from qdqviz.draw.union import Mark
from qdqviz.ir.labels import short_name
from qdqviz.ir.liveness import Liveness, LiveRange, RangeChange
from qdqviz.ir.text import safe_text

MAX_LANES = 12
"""Values shown unless told otherwise."""

_CONTEXT = 4
"""Values shown beside those that change, where there is room."""

_Key: TypeAlias = "tuple[int, int | None]"
_Ranges: TypeAlias = "dict[_Key, LiveRange]"


@dataclass(frozen=True, slots=True)
class Lane:
    """One value."""

    node: int
    """Identity of the node that makes it."""
    name: str
    """Its short name, with the output's index where there are several; safe to show."""
    change: RangeChange
    """Its range before and after."""
    mark: Mark
    """Whether it came, went or changed: its dtype, its bytes, where it is made or where it is used last."""
    in_focus: bool
    """True where it was asked for."""
    span: tuple[int, int]
    """First and last place on the axis, in either state."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the axis that is shown."""

    first: int
    """First place."""
    places: int
    """Number of places."""
    columns: int
    """Columns that they are drawn in."""

    def column(self, place: int) -> int:
        """The column of a place; outside of the window below 0 or at `columns` and above."""
        return (place - self.first) * self.columns // self.places


def choose_lanes(
    before: Liveness | None, after: Liveness | None, axis: Axis, focus: Collection[int], most: int
) -> tuple[Lane, ...]:
    """The values that change, then those of `focus`, then some that start or end near them.

    A range that only got longer or shorter because nodes came or went between its ends does not change.

    Returns:
        At most `most` lanes, by the place that makes their values.
    """
    old: _Ranges = {} if before is None else {item.key: item for item in before.ranges}
    new: _Ranges = {} if after is None else {item.key: item for item in after.ranges}
    is_pair = before is not None and after is not None
    chosen: dict[_Key, Lane] = {}
    for key in old | new:
        mark = _mark(old.get(key), new.get(key), axis) if is_pair else Mark.NONE
        if mark is not Mark.NONE or key[0] in focus:
            chosen[key] = _lane(key, old, new, axis, mark, focus)
            if len(chosen) == most:
                break
    room = min(most - len(chosen), _CONTEXT) if chosen else most
    first, last = _reach(chosen.values(), axis)
    for key in old | new:
        if room <= 0:
            break
        item = new.get(key) or old[key]
        places = axis.after if key in new else axis.before
        if key not in chosen and (first <= places[item.start] <= last or first <= places[item.end] <= last):
            chosen[key] = _lane(key, old, new, axis, Mark.NONE, focus)
            room -= 1
    return tuple(sorted(chosen.values(), key=lambda lane: lane.span))


def choose_window(lanes: Collection[Lane], axis: Axis, columns: int) -> Window:
    """The places around the values that change or are in focus; around all where there are none."""
    loud = [lane for lane in lanes if lane.mark is not Mark.NONE or lane.in_focus] or lanes
    first, last = _reach(loud, axis)
    return Window(first, last - first + 1, columns)


def _mark(one: LiveRange | None, other: LiveRange | None, axis: Axis) -> Mark:
    if one is None or other is None:
        return Mark.ADDED if one is None else Mark.REMOVED
    alike = (
        one.nbytes == other.nbytes
        and one.dtype == other.dtype
        and axis.before[one.start] == axis.after[other.start]
        and axis.before[one.end] == axis.after[other.end]
    )
    return Mark.NONE if alike else Mark.REWIRED


def _lane(key: _Key, old: _Ranges, new: _Ranges, axis: Axis, mark: Mark, focus: Collection[int]) -> Lane:
    change = RangeChange(old.get(key), new.get(key))
    shown = new.get(key) or old[key]
    part = "" if shown.output is None else f"[{shown.output}]"
    name = safe_text(short_name(shown.name)) + part
    return Lane(shown.node, name, change, mark, key[0] in focus, _span(change, axis))


def _span(change: RangeChange, axis: Axis) -> tuple[int, int]:
    places = [
        steps[step]
        for item, steps in ((change.before, axis.before), (change.after, axis.after))
        if item is not None
        for step in (item.start, item.end)
    ]
    return min(places), max(places)


def _reach(lanes: Iterable[Lane], axis: Axis) -> tuple[int, int]:
    """First and last place of some lanes with a margin; the whole axis for none."""
    spans = [lane.span for lane in lanes]
    end = max(axis.length - 1, 0)
    if not spans:
        return 0, end
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    margin = 2 + (last - first) // 8
    return max(0, first - margin), min(end, last + margin)
