"""Attempts of one pass run as one compact blob: a row each, their events on one tape."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from msgspec import MsgspecError, Struct
from msgspec.msgpack import Decoder

from qdqviz.trace.model import Attempt
from qdqviz.trace.states import encoded
from qdqviz.trace.tape import EventTape, Head, Tables, read_events

_SIZE = struct.Struct("<I")
"""How long what stands before the rows of the tape is."""

_OUTCOMES = ("declined", "fired", "vetoed", "raised")


class _Row(NamedTuple):
    """An attempt in a blob."""

    id: int
    path: str
    focus: int | None
    name: int
    outcome: int
    step: int | None
    after_step: int
    events: int


class _Data(Struct, gc=False):
    """What is in a blob besides the rows of its tape."""

    tables: Tables
    names: list[str]
    rows: list[_Row]


_decode = Decoder(_Data).decode


class AttemptTable:
    """Attempts of one pass run while it is recorded."""

    def __init__(self, tape: EventTape | None = None) -> None:
        self.tape = tape or EventTape()
        """The events of all attempts, in the attempts' order."""
        self._names: dict[str, int] = {}
        self._rows: list[_Row] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        path: str,
        focus: int | None,
        name: str,
        outcome: str,
        step: int | None,
        after_step: int,
        events: int,
    ) -> None:
        """Add an attempt.

        Args:
            path: Graph of the focus.
            focus: The node looked at, or None.
            name: Its name.
            outcome: How the attempt ended.
            step: The rewrite it belongs to.
            after_step: Last step before it opened.
            events: How many events on the tape are its.
        """
        self._rows.append(
            _Row(
                len(self._rows),
                path,
                focus,
                self._names.setdefault(name, len(self._names)),
                _OUTCOMES.index(outcome),
                step,
                after_step,
                events,
            )
        )

    def sites(self) -> set[int]:
        """Sites at which something was asked."""
        return {head.site for head in self.tape.heads}

    def foci(self) -> list[int]:
        """Nodes that were looked at, each once, sorted."""
        return sorted({row.focus for row in self._rows if row.focus is not None})

    def on_nodes(self) -> int:
        """Number of attempts on a node: what a pass asked about none is no look at anything."""
        return sum(1 for row in self._rows if row.focus is not None)

    def declined(self) -> int:
        """Number of attempts that declined on a node."""
        return sum(1 for row in self._rows if row.outcome == 0 and row.focus is not None)

    def blob(self) -> bytes:
        """All attempts, compressed."""
        data = encoded(_Data(self.tape.tables(), list(self._names), self._rows))
        return zlib.compress(_SIZE.pack(len(data)) + data + self.tape.rows(), 1)


def attempts_table(attempts: Iterable[Attempt]) -> AttemptTable:
    """The table that holds these attempts."""
    table = AttemptTable()
    values = table.tape.values
    for a in attempts:
        table.add(
            path=a.path,
            focus=a.focus,
            name=a.name,
            outcome=a.outcome,
            step=a.step,
            after_step=a.after_step,
            events=len(a.events),
        )
        first = len(values)
        values.extend(value for event in a.events for value in event.values)
        heads = [Head(event.kind, event.site, event.outcome, (), len(event.values)) for event in a.events]
        table.tape.add([table.tape.heads[head] for head in heads], list(range(first, len(values))))
    return table


def attempts_from_blob(run: int, blob: bytes) -> tuple[Attempt, ...]:
    """Decode the attempts of pass run `run`.

    Raises:
        ValueError: If the bytes are not what `AttemptTable.blob` makes.
    """
    data, rows = _unpacked(blob)
    events = read_events(data.tables, rows)
    return tuple(
        Attempt(
            id=row.id,
            run=run,
            path=row.path,
            focus=row.focus,
            name=data.names[row.name],
            outcome=_OUTCOMES[row.outcome],  # type: ignore[arg-type]
            step=row.step,
            after_step=row.after_step,
            events=tuple(islice(events, row.events)),
        )
        for row in data.rows
    )


def _unpacked(blob: bytes) -> tuple[_Data, bytes]:
    try:
        plain = zlib.decompress(blob)
        (size,) = _SIZE.unpack_from(plain)
        end = _SIZE.size + size
        return _decode(plain[_SIZE.size : end]), plain[end:]
    except (zlib.error, struct.error, MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error
