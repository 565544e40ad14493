"""Keeps pictures of neighbouring rewrites in place: the shift under which most boxes stay where they were."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from qdqviz.draw.grid import Cells


@dataclass(frozen=True, slots=True)
class Shift:
    """Where to put a picture so that it agrees with the one before it."""

    columns: int
    """Columns to move it to the right."""
    rows: int
    """Rows to move it down."""
    kept: int
    """Boxes of both pictures that stay in their cells under this shift."""
    shared: int
    """Boxes of both pictures."""


def best_shift(previous: Cells, current: Cells) -> Shift:
    """The shift of `current` that keeps the most boxes where `previous` has them.

    Of several, the smallest one; no shift where the pictures share no box.
    """
    shared = previous.rects.keys() & current.rects.keys()
    votes: Counter[tuple[int, int]] = Counter()
    for node in shared:
        old, new = previous.rects[node], current.rects[node]
        votes[old.column - new.column, old.row - new.row] += 1
    if not votes:
        return Shift(0, 0, 0, 0)
    (columns, rows), kept = min(
        votes.items(), key=lambda item: (-item[1], abs(item[0][0]) + abs(item[0][1]), item[0])
    )
    return Shift(columns, rows, kept, len(shared))
