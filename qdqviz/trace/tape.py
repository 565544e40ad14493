"""What the attempts of a pass run asked and saw, in one row; equal things are kept once, in tables."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from qdqviz.trace.codec import value_from_json
from qdqviz.trace.events import Event, Kind

Head: TypeAlias = tuple[int, int, bool | None]
"""Kind, site and outcome of an event."""

_WIDE, _NARROW = "I", "H"
"""Array codes of numbers up to 2**32 and 2**16."""

_NARROW_LIMIT = 1 << 16


class Places(dict[Any, int]):
    """Things to their places in a table, in order of appearance; asking for a new one adds it."""

    def __missing__(self, key: Any) -> int:
        place = self[key] = len(self)
        return place


class EventTape:
    """The events of a pass run in order, while it is recorded."""

    def __init__(self) -> None:
        self.heads = Places()
        """Kinds, sites and outcomes, see `Head`."""
        self.values: list[Any] = []
        """Values seen, in the form of `value_to_json`."""
        self._at = array(_WIDE)
        self._seen = array(_WIDE)
        self._sizes = bytearray()

    def add(self, heads: Iterable[Head], sizes: Iterable[int], seen: Iterable[int]) -> None:
        """Add events.

        Args:
            heads: What happened, one of each event.
            sizes: How many values each saw.
            seen: Places of these values in `values`.
        """
        self._at.extend(map(self.heads.__getitem__, heads))
        self._sizes.extend(sizes)
        self._seen.extend(seen)

    def tables(self) -> dict[str, Any]:
        """The tables, and what a reader needs to know of the rows."""
        return {
            "heads": list(self.heads),
            "values": self.values,
            "events": len(self._at),
            "seen": len(self._seen),
            "wide": [len(self.heads) > _NARROW_LIMIT, len(self.values) > _NARROW_LIMIT],
        }

    def rows(self) -> bytes:
        """The rows: heads, sizes, values."""
        return (
            _to_bytes(self._at, len(self.heads))
            + bytes(self._sizes)
            + _to_bytes(self._seen, len(self.values))
        )


def read_events(tables: dict[str, Any], rows: bytes) -> Iterator[Event]:
    """Decode the events of a tape, in order; equal ones are one object.

    Raises:
        ValueError: If the rows do not fit the tables.
    """
    heads = [(Kind(kind), site, outcome) for kind, site, outcome in tables["heads"]]
    values = [value_from_json(value) for value in tables["values"]]
    wide_heads, wide_values = tables["wide"]
    count = tables["events"]
    at = _from_bytes(rows, count, wide_heads)
    rest = rows[len(at) * at.itemsize :]
    sizes = rest[:count]
    seen = _from_bytes(rest[count:], tables["seen"], wide_values)
    if len(sizes) != count or sum(sizes) != len(seen):
        raise ValueError("its events are cut off")
    known: dict[tuple[int, ...], Event] = {}
    begin = 0
    for head, size in zip(at, sizes, strict=True):
        end = begin + size
        key = (head, *seen[begin:end])
        begin = end
        event = known.get(key)
        if event is None:
            event = known[key] = Event(*heads[head], tuple([values[place] for place in key[1:]]))
        yield event


def pack_rows(data: Any, rows: bytes) -> bytes:
    """JSON data and rows as one compressed blob."""
    text = json.dumps(data, separators=(",", ":")).encode()
    return zlib.compress(struct.pack("<I", len(text)) + text + rows, 1)


def unpack_rows(blob: bytes) -> tuple[Any, bytes]:
    """What `pack_rows` was given.

    Raises:
        ValueError: If the bytes are not what `pack_rows` makes.
    """
    try:
        plain = zlib.decompress(blob)
        (size,) = struct.unpack_from("<I", plain)
        return json.loads(plain[4 : 4 + size]), plain[4 + size :]
    except (zlib.error, struct.error, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error


def _to_bytes(numbers: array[int], size: int) -> bytes:
    """Places in a table of this size, little-endian and as narrow as they may be."""
    found = numbers if size > _NARROW_LIMIT else array(_NARROW, numbers)
    if sys.byteorder == "big":
        found = found[:]
        found.byteswap()
    return found.tobytes()


def _from_bytes(data: bytes, count: int, wide: bool) -> array[int]:
    found = array(_WIDE if wide else _NARROW)
    found.frombytes(data[: count * found.itemsize])
    if len(found) != count:
        raise ValueError("its events are cut off")
    if sys.byteorder == "big":
        found.byteswap()
    return found
