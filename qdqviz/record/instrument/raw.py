"""Raw events, as hooks note them: one number each, and what was seen in a row of its own.

Two flat lists of what exists anyway cost less than an object for each event, and can be worked on in bulk.
The number of an event is its site times `SHAPES_AT_MOST`, plus the place of its shape in `SHAPES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from qdqviz.trace.events import Kind
from qdqviz.trace.tape import all_values


class Shape(NamedTuple):
    """What an event says besides where it happened and what was seen."""

    kind: Kind
    """What happened."""
    outcome: bool | None
    """How it came out."""
    told: tuple[str | bool | None, ...]
    """Those of its values that are always the same."""
    seen: int
    """How many things were seen."""


SHAPES_AT_MOST = 32
"""What a site is multiplied by."""

SHAPES: tuple[Shape, ...] = (
    Shape(Kind.ENTER, None, (), 0),
    Shape(Kind.ENTER, None, ("resumed",), 0),
    Shape(Kind.LEAVE, None, ("return",), 1),
    Shape(Kind.LEAVE, None, ("return", None), 0),
    Shape(Kind.LEAVE, None, ("return", False), 0),
    Shape(Kind.LEAVE, None, ("return", True), 0),
    Shape(Kind.LEAVE, None, ("end", None), 0),
    Shape(Kind.LEAVE, None, ("yield",), 1),
    Shape(Kind.LEAVE, None, ("raise",), 1),
    Shape(Kind.TEST, False, (), 0),
    Shape(Kind.TEST, True, (), 0),
    Shape(Kind.TEST, False, (), 1),
    Shape(Kind.TEST, True, (), 1),
    Shape(Kind.COMPARE, False, (), 2),
    Shape(Kind.COMPARE, True, (), 2),
    Shape(Kind.COMPARE, None, (), 2),
    Shape(Kind.VALUE, False, (False,), 0),
    Shape(Kind.VALUE, True, (True,), 0),
    Shape(Kind.VALUE, None, (), 1),
    Shape(Kind.EXIT, None, ("continue",), 0),
    Shape(Kind.EXIT, None, ("break",), 0),
    Shape(Kind.EXIT, None, ("raise",), 0),
    Shape(Kind.CASE, False, (), 0),
    Shape(Kind.CASE, True, (), 0),
    Shape(Kind.EXCEPT, None, (), 3),
    Shape(Kind.LOOP, None, ("end",), 1),
    Shape(Kind.LOOP, None, ("break",), 1),
    Shape(Kind.LOOP, None, ("return",), 1),
    Shape(Kind.LOOP, None, ("left",), 1),
    Shape(Kind.ITEM, None, (), 1),
    Shape(Kind.ITEM, True, (), 1),
    Shape(Kind.OPERAND, None, (), 1),
)
"""All shapes that events have."""

ENTERED, RESUMED = range(2)
RETURNED, RETURNED_NONE, RETURNED_FALSE, RETURNED_TRUE, ENDED, YIELDED, RAISED = range(2, 9)
FALSE, TRUE, FALSE_SEEN, TRUE_SEEN = range(9, 13)
COMPARED_FALSE, COMPARED_TRUE, COMPARED = range(13, 16)
VALUE_FALSE, VALUE_TRUE, VALUE = range(16, 19)
CONTINUE, BREAK, RAISE = range(19, 22)
NOT_TAKEN, TAKEN, CAUGHT = range(22, 25)
LOOP_ENDED, LOOP_BROKEN, LOOP_RETURNED, LOOP_LEFT = range(25, 29)
ITEM, ITEM_OPENED, OPERAND = range(29, 32)

ASKING = frozenset(
    place
    for place, shape in enumerate(SHAPES)
    if shape.kind in (Kind.TEST, Kind.COMPARE, Kind.VALUE, Kind.CASE)
)
"""Shapes of events that ask something."""

UNWINDING = frozenset({RAISED, RAISE, LOOP_LEFT})
"""Shapes of events that only say that an exception went through."""

_SHAPE_BITS = SHAPES_AT_MOST - 1


class RawEvents:
    """Events that happened, in order, until they are taken."""

    __slots__ = ("codes", "note", "saw", "seen")

    def __init__(self) -> None:
        self.codes: list[int] = []
        """Numbers of the events."""
        self.seen: list[Any] = []
        """What they saw, in the same order."""
        self.note = self.codes.append
        """Takes the number of an event."""
        self.saw = self.seen.append
        """Takes what that event saw."""

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, start: int = 0, seen: int = 0) -> tuple[list[int], list[Any]]:
        """Take away the events from a place on: their numbers, and what was seen from `seen` on."""
        taken = self.codes[start:], self.seen[seen:]
        del self.codes[start:], self.seen[seen:]
        return taken

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The events as (kind, site, outcome, *values)."""
        seen = iter(self.seen)
        for code in self.codes:
            shape = SHAPES[code & _SHAPE_BITS]
            values = all_values(shape.kind, shape.told, [next(seen) for _ in range(shape.seen)])
            yield (shape.kind, code // SHAPES_AT_MOST, shape.outcome, *values)


def shapes(codes: list[int]) -> Iterator[int]:
    """Shapes of events, by number."""
    return map(_SHAPE_BITS.__and__, codes)
