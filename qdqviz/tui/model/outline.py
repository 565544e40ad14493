"""The list of passes and rewrites as rows: runs with their rewrites under them, nested runs indented."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from qdqviz.trace.model import PassRun
from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.place import Place, PlaceKind


class Row(NamedTuple):
    """One row. A named tuple, for there may be tens of thousands."""

    kind: PlaceKind
    """What the row stands for."""
    depth: int
    """How many runs it lies in."""
    subject: int
    """Subject that is shown there."""
    run: int | None = None
    """Pass run; None at the start of a subject."""
    step: int | None = None
    """Step; only for a rewrite."""

    @property
    def place(self) -> Place:
        """Where one is on that row."""
        return Place(self.kind, self.subject, self.run, self.step)


@dataclass(frozen=True)
class Outline:
    """All rows."""

    rows: tuple[Row, ...]
    """In order of what happened."""
    hidden: int
    """Runs that are left out because they changed nothing."""

    @cached_property
    def _indexes(self) -> dict[Place, int]:
        return {row.place: index for index, row in enumerate(self.rows)}

    def index(self, place: Place) -> int | None:
        """The row of a place, or None where it is folded away or hidden."""
        return self._indexes.get(place)

    def nearest(self, place: Place) -> int:
        """The row of a place, else that of the run that holds it, else the last row before it."""
        found = self.index(place)
        if found is None and place.run is not None:
            found = self.index(Place("run", place.subject, place.run))
        if found is not None:
            return found
        earlier = [i for i, row in enumerate(self.rows) if (row.run or -1) <= (place.run or -1)]
        return earlier[-1] if earlier else 0


def build_outline(lists: Lists, closed: Collection[int] = (), hide_unchanged: bool = False) -> Outline:
    """The rows for a trace.

    Args:
        lists: The trace's lists.
        closed: Runs whose content is folded away.
        hide_unchanged: Leave out runs that changed nothing and did not raise.
    """
    builder = _Builder(lists, frozenset(closed), hide_unchanged)
    rows = tuple(builder.rows())
    return Outline(rows, builder.hidden)


_Item: TypeAlias = "Row | tuple[PassRun, int]"
"""A row, or a run to be walked at a depth."""


class _Builder:
    """Walks the runs without recursion: pass managers may nest deeply."""

    def __init__(self, lists: Lists, closed: frozenset[int], hide_unchanged: bool) -> None:
        self.lists = lists
        self.closed = closed
        self.hide_unchanged = hide_unchanged
        self.hidden = 0
        self._started: set[int] = set()

    def rows(self) -> Iterator[Row]:
        if self.lists.subjects and not self.lists.runs:
            yield Row("start", 0, self.lists.subjects[0].id)
        stack: list[Iterator[_Item]] = [
            self._of_run(run, 0) for run in reversed(self.lists.children.get(None, ()))
        ]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
            elif isinstance(item, Row):
                yield item
            else:
                stack.append(self._of_run(*item))

    def _of_run(self, run: PassRun, depth: int) -> Iterator[_Item]:
        """The rows of a run, and the runs inside it that are to be walked in their places."""
        if self.lists.is_wrapper(run):
            yield self.lists.children[run.id][0], depth
            return
        if self.hide_unchanged and run.done and run.error is None and run.rewrites == 0:
            self.hidden += 1
            return
        if run.subject not in self._started:
            self._started.add(run.subject)
            yield Row("start", depth, run.subject)
        yield Row("run", depth, run.subject, run.id)
        if run.id in self.closed:
            return
        yield from self._content(run, depth + 1)
        if run.error is not None:
            yield Row("error", depth + 1, run.subject, run.id)
        if run.declined:
            yield Row("declined", depth + 1, run.subject, run.id)

    def _content(self, run: PassRun, depth: int) -> Iterator[_Item]:
        """A run's own rewrites and the runs that it called, in the order of what happened."""
        inner = self.lists.children.get(run.id, ())
        at = 0
        for step in self.lists.own_steps.get(run.id, ()):
            while at < len(inner) and inner[at].first_step < step:
                yield inner[at], depth
                at += 1
            yield Row("step", depth, self.lists.headers[step - 1].subject, run.id, step)
        for child in inner[at:]:
            yield child, depth
