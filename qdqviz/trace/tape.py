"""What the attempts of a pass run asked and saw, in one row; equal things are kept once, in tables."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from qdqviz.ir.values import Value
from qdqviz.trace.events import Event, Kind


class Head(NamedTuple):
    """What an event says besides the values it saw; there are few different ones."""

    kind: int
    """What happened, see `Kind`."""
    site: int
    """Where."""
    outcome: bool | None
    """How it came out."""
    told: tuple[str | bool | None, ...]
    """Those of the event's values that need no place of their own."""
    seen: int
    """How many other values it has."""


_WIDE, _NARROW = "I", "H"
"""Array codes of numbers up to 2**32 and 2**16."""

_NARROW_LIMIT = 1 << 16


Thing = TypeVar("Thing")


class Places(dict[Thing, int]):
    """Things to their places in a table, in order of appearance; asking for a new one adds it."""

    def __missing__(self, key: Thing) -> int:
        place = self[key] = len(self)
        return place


class Tables(Struct, gc=False):
    """What the rows of a tape refer to."""

    heads: list[Head]
    """What events say besides their values."""
    values: list[Value]
    """Values seen."""
    events: int
    """How many events there are."""
    seen: int
    """How many values they have."""
    wide: tuple[bool, bool]
    """Whether the rows of heads, and those of values, have four bytes a place and not two."""


class EventTape:
    """The events of a pass run in order, while it is recorded."""

    def __init__(self) -> None:
        self.heads: Places[Head] = Places()
        """What events say besides their values."""
        self.values: list[Value] = []
        """Values seen."""
        self._at = array(_WIDE)
        self._seen = array(_WIDE)

    def add(self, at: list[int], seen: list[int]) -> None:
        """Add events.

        Args:
            at: Places of their heads in `heads`.
            seen: Places of all that they saw in `values`, as many for each as its head says.
        """
        self._at.fromlist(at)
        self._seen.fromlist(seen)

    def tables(self) -> Tables:
        """The tables, and what a reader needs to know of the rows."""
        return Tables(
            heads=list(self.heads),
            values=self.values,
            events=len(self._at),
            seen=len(self._seen),
            wide=(len(self.heads) > _NARROW_LIMIT, len(self.values) > _NARROW_LIMIT),
        )

    def rows(self) -> bytes:
        """The rows: heads, values."""
        return _to_bytes(self._at, len(self.heads)) + _to_bytes(self._seen, len(self.values))


def all_values(kind: int, told: Sequence[Any], seen: Sequence[Any]) -> tuple[Any, ...]:
    """An event's values in their order: what its head tells comes first, but after a loop's count."""
    return (*seen, *told) if kind == Kind.LOOP else (*told, *seen)


def read_events(tables: Tables, rows: bytes) -> Iterator[Event]:
    """Decode the events of a tape, in order; equal ones are one object.

    Raises:
        ValueError: If the rows do not fit the tables.
    """
    heads, values = tables.heads, tables.values
    wide_heads, wide_values = tables.wide
    at = _from_bytes(rows, tables.events, wide_heads)
    seen = _from_bytes(rows[len(at) * at.itemsize :], tables.seen, wide_values)
    if sum([heads[place].seen for place in at]) != len(seen):
        raise ValueError("its events are cut off")
    known: dict[tuple[int, ...], Event] = {}
    begin = 0
    for place in at:
        head = heads[place]
        end = begin + head.seen
        key = (place, *seen[begin:end])
        begin = end
        event = known.get(key)
        if event is None:
            told = all_values(head.kind, head.told, [values[item] for item in key[1:]])
            event = known[key] = Event(Kind(head.kind), head.site, head.outcome, told)
        yield event


def _to_bytes(numbers: array[int], size: int) -> bytes:
    """Places in a table of this size, little-endian and as narrow as they may be."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    wide = numbers.tobytes()
    if size > _NARROW_LIMIT:
        return wide
    narrow = bytearray(len(wide) // 2)
    narrow[::2], narrow[1::2] = wide[::4], wide[1::4]
    return bytes(narrow)


def _from_bytes(data: bytes, count: int, wide: bool) -> array[int]:
    found = array(_WIDE if wide else _NARROW)
    found.frombytes(data[: count * found.itemsize])
    if len(found) != count:
        raise ValueError("its events are cut off")
    if sys.byteorder == "big":
        found.byteswap()
    return found
