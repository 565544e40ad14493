"""Attempts of one pass run as one compact blob: a row each, their events on one tape."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from qdqviz.trace.codec import value_to_json
from qdqviz.trace.model import Attempt
from qdqviz.trace.tape import EventTape, pack_rows, read_events, unpack_rows

_OUTCOMES = ("declined", "fired", "vetoed", "raised")


class AttemptTable:
    """Attempts of one pass run while it is recorded."""

    def __init__(self, tape: EventTape | None = None) -> None:
        self.tape = tape or EventTape()
        """The events of all attempts, in the attempts' order."""
        self._names: dict[str, int] = {}
        self._rows: list[list[Any]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        *,
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
            [
                len(self._rows),
                path,
                focus,
                self._names.setdefault(name, len(self._names)),
                _OUTCOMES.index(outcome),
                step,
                after_step,
                events,
            ]
        )

    def sites(self) -> set[int]:
        """Sites at which something was asked."""
        return {site for _, site, _ in self.tape.heads}

    def foci(self) -> list[int]:
        """Nodes that were looked at, each once, sorted."""
        return sorted({row[2] for row in self._rows if row[2] is not None})

    def on_nodes(self) -> int:
        """Number of attempts on a node: what a pass asked about none is no look at anything."""
        return sum(1 for row in self._rows if row[2] is not None)

    def declined(self) -> int:
        """Number of attempts that declined on a node."""
        return sum(1 for row in self._rows if row[4] == 0 and row[2] is not None)

    def blob(self) -> bytes:
        """All attempts, compressed."""
        tables = self.tape.tables()
        return pack_rows({**tables, "names": list(self._names), "rows": self._rows}, self.tape.rows())


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
        values.extend(value_to_json(value) for event in a.events for value in event.values)
        table.tape.add(
            [(int(event.kind), event.site, event.outcome) for event in a.events],
            [len(event.values) for event in a.events],
            range(first, len(values)),
        )
    return table


def attempts_from_blob(run: int, blob: bytes) -> tuple[Attempt, ...]:
    """Decode the attempts of pass run `run`.

    Raises:
        ValueError: If the bytes are not what `AttemptTable.blob` makes.
    """
    data, rows = unpack_rows(blob)
    names, events = data["names"], read_events(data, rows)
    return tuple(
        Attempt(
            id=row[0],
            run=run,
            path=row[1],
            focus=row[2],
            name=names[row[3]],
            outcome=_OUTCOMES[row[4]],  # type: ignore[arg-type]
            step=row[5],
            after_step=row[6],
            events=tuple(islice(events, row[7])),
        )
        for row in data["rows"]
    )
