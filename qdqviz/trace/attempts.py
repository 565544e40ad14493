"""Attempts of one pass run as one compact blob: equal decision paths are kept once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from qdqviz.trace.codec import pack, unpack, value_from_json, value_to_json
from qdqviz.trace.events import Event, Kind
from qdqviz.trace.model import Attempt

_HEAD = 3
"""Items of a raw event before its values: kind, site, outcome."""

Shape: TypeAlias = tuple[tuple[tuple[int, int, bool | None], ...], tuple[int, ...]]
"""What an attempt asked: kind, site and outcome of each event, and the length of each raw event."""

_OUTCOMES = ("declined", "fired", "vetoed", "raised")


class AttemptTable:
    """Attempts of one pass run while it is recorded: what they asked is interned, what they saw is kept."""

    def __init__(self) -> None:
        self._paths: dict[Shape, int] = {}
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
        shape: Shape,
        values: list[Any],
    ) -> None:
        """Add an attempt.

        Args:
            path: Graph of the focus.
            focus: The node looked at, or None.
            name: Its name.
            outcome: How the attempt ended.
            step: The rewrite it belongs to.
            after_step: Last step before it opened.
            shape: Kind, site and outcome of each event; and for each three more than its number of values.
            values: The values of all events, in the form of `value_to_json`.
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
                self._paths.setdefault(shape, len(self._paths)),
                values,
            ]
        )

    def sites(self) -> set[int]:
        """Sites at which something was asked."""
        return {site for heads, _ in self._paths for _, site, _ in heads}

    def foci(self) -> list[int]:
        """Nodes that were looked at, each once, sorted."""
        return sorted({row[2] for row in self._rows if row[2] is not None})

    def declined(self) -> int:
        """Number of attempts that declined on a node."""
        return sum(1 for row in self._rows if row[4] == 0 and row[2] is not None)

    def blob(self) -> bytes:
        """All attempts, compressed."""
        return pack({"paths": list(self._paths), "names": list(self._names), "rows": self._rows})


def attempts_table(attempts: Iterable[Attempt]) -> AttemptTable:
    """The table that holds these attempts."""
    table = AttemptTable()
    for a in attempts:
        table.add(
            path=a.path,
            focus=a.focus,
            name=a.name,
            outcome=a.outcome,
            step=a.step,
            after_step=a.after_step,
            shape=(
                tuple((int(e.kind), e.site, e.outcome) for e in a.events),
                tuple(_HEAD + len(e.values) for e in a.events),
            ),
            values=[value_to_json(value) for event in a.events for value in event.values],
        )
    return table


def attempts_from_blob(run: int, blob: bytes) -> tuple[Attempt, ...]:
    """Decode the attempts of pass run `run`."""
    data = unpack(blob)
    paths, names = data["paths"], data["names"]
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
            events=_events(paths[row[7]], row[8]),
        )
        for row in data["rows"]
    )


def _events(shape: list[Any], flat: list[Any]) -> tuple[Event, ...]:
    events, at = [], 0
    for (kind, site, outcome), size in zip(*shape, strict=True):
        end = at + size - _HEAD
        values = tuple([value_from_json(value) for value in flat[at:end]])
        events.append(Event(Kind(kind), site, outcome, values))
        at = end
    return tuple(events)
