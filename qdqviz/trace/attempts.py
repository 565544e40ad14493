"""Attempts of one pass run as one compact blob: equal decision paths are kept once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qdqviz.trace.codec import pack, unpack, value_from_json, value_to_json
from qdqviz.trace.events import Event, Kind
from qdqviz.trace.model import Attempt

_OUTCOMES = ("declined", "fired", "vetoed", "raised")


def attempts_to_blob(attempts: Iterable[Attempt]) -> bytes:
    """Encode attempts; what they asked is interned, what they saw is kept per attempt."""
    paths: dict[tuple[Any, ...], int] = {}
    names: dict[str, int] = {}
    rows = []
    for attempt in attempts:
        shape = tuple(part for e in attempt.events for part in (int(e.kind), e.site, e.outcome, len(e.values)))
        rows.append(
            [
                attempt.id,
                attempt.path,
                attempt.focus,
                names.setdefault(attempt.name, len(names)),
                _OUTCOMES.index(attempt.outcome),
                attempt.step,
                attempt.after_step,
                paths.setdefault(shape, len(paths)),
                [value_to_json(value) for event in attempt.events for value in event.values],
            ]
        )
    return pack({"paths": list(paths), "names": list(names), "rows": rows})


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
    for index in range(0, len(shape), 4):
        kind, site, outcome, count = shape[index : index + 4]
        values = tuple(value_from_json(value) for value in flat[at : at + count])
        events.append(Event(Kind(kind), site, outcome, values))
        at += count
    return tuple(events)
