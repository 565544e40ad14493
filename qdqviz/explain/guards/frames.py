"""The events of an attempt as a tree: which call asked what, and what it called in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from qdqviz.ir.values import Value
from qdqviz.trace.events import Event, Kind, Site

_RESUMED = "resumed"


@dataclass(slots=True, eq=False)
class Frame:
    """One call of a function, or the part of one that belongs to an attempt."""

    file: str = ""
    """Source file of the function."""
    function: str = ""
    """Its qualified name; empty where nothing around the calls is known (a retrace)."""
    definition: Site | None = None
    """Its `def`; None for a call that was under way when the attempt opened."""
    items: list[Item] = field(default_factory=list)
    """What it asked and called, in order."""
    leave: Event | None = None
    """How it was left; None for one that went on after the attempt."""
    parent: Frame | None = None
    """The call around it."""

    @property
    def name(self) -> str:
        """Its plain name, as callers write it."""
        return self.function.rpartition(".")[2]

    @property
    def how(self) -> str:
        """`return`, `end`, `raise`, `yield`, or empty where it went on."""
        return str(self.leave.values[0]) if self.leave is not None and self.leave.values else ""

    @property
    def result(self) -> Value:
        """What it returned, or the type of the exception that left it."""
        return self.leave.values[1] if self.leave is not None and len(self.leave.values) > 1 else None

    @property
    def asked(self) -> int:
        """How many events it holds, with those of the calls that it made."""
        return sum(event.kind is not Kind.OPERAND for frame in self.walk() for event in frame.events())

    def events(self) -> Iterator[Event]:
        """Its own events, without those of the calls that it made."""
        return (item for item in self.items if isinstance(item, Event))

    def calls(self) -> Iterator[Frame]:
        """The calls that it made."""
        return (item for item in self.items if isinstance(item, Frame))

    def walk(self) -> Iterator[Frame]:
        """Itself and all calls inside, outermost first, in order."""
        pending = [self]
        while pending:
            top = pending.pop()
            yield top
            pending.extend(reversed(list(top.calls())))


Item: TypeAlias = "Event | Frame"


def parts(events: Sequence[Event], sites: Mapping[int, Site]) -> list[Frame]:
    """The outermost calls that an attempt's events belong to, in order of appearance.

    An attempt opens within calls that are under way: the loop's own, and a generator's that feeds it.
    """
    return _Builder(sites).build(events)


class _Builder:
    def __init__(self, sites: Mapping[int, Site]) -> None:
        self._sites = sites
        self._parts: list[Frame] = []
        self._part: Frame | None = None
        self._stack: list[Frame] = []
        self._paused: list[Frame] = []

    def build(self, events: Sequence[Event]) -> list[Frame]:
        for event in events:
            if event.kind is Kind.ENTER:
                self._enter(event)
            elif event.kind is Kind.LEAVE:
                self._leave(event)
            elif event.site in self._sites:
                self._around(self._sites[event.site]).items.append(event)
        return [part for part in self._parts if part.items]

    def _enter(self, event: Event) -> None:
        site = self._sites.get(event.site)
        if site is None:
            return
        if event.values and event.values[0] == _RESUMED:
            if not self._resume(site):
                self._part = self._part_of(site)
            return
        outer = self._stack[-1] if self._stack else self._part or self._part_of(None)
        self._part = self._part or outer
        made = Frame(site.file, site.function, site, parent=outer)
        outer.items.append(made)
        self._stack.append(made)

    def _resume(self, site: Site) -> bool:
        for frame in reversed(self._paused):
            if frame.definition is site:
                self._paused.remove(frame)
                self._stack.append(frame)
                return True
        return False

    def _leave(self, event: Event) -> None:
        if self._stack:
            left = self._stack.pop()
            left.leave = event
            if left.how == "yield":
                self._paused.append(left)
        elif self._part is not None:
            self._part.leave = event
            self._part = None

    def _around(self, site: Site) -> Frame:
        if self._stack:
            return self._stack[-1]
        if self._part is None or (self._part.file, self._part.function) != (site.file, site.function):
            self._part = self._part_of(site)
        return self._part

    def _part_of(self, site: Site | None) -> Frame:
        file, function = (site.file, site.function) if site is not None else ("", "")
        for part in self._parts:
            if (part.file, part.function) == (file, function):
                return part
        self._parts.append(Frame(file, function))
        return self._parts[-1]
