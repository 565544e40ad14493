"""A call with its source at hand: what of its body ran, and what it was to answer."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from qdqviz.explain.guards.code import COMPREHENSIONS, Code, Comprehension, FunctionNode
from qdqviz.explain.guards.conditions import Cursor
from qdqviz.explain.guards.effects import Goal, delegates, literal_of, tested_names
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.replay import replay
from qdqviz.explain.guards.steps import NO_PATH, Path, Step
from qdqviz.trace.events import Event, Kind, Site

HANDED = "handed"
"""Kind of the sites where a call such as `filter(fits, nodes)` hands out items."""


@dataclass(slots=True, eq=False)
class Call:
    """One call of a function, replayed."""

    frame: Frame
    """Its events."""
    code: Code
    """Its source."""
    sites: Mapping[int, Site]
    """Sites by id."""
    function: FunctionNode | None
    """The function; None where it is not known."""
    path: Path
    """What of it ran; for the part of a call that an attempt begins in, the loop's body."""
    tested: frozenset[str] = frozenset()
    """Names that it tests."""
    comprehension: Comprehension | None = None
    """The comprehension whose item opened the attempt, if one did."""
    handed: ast.Call | None = None
    """The call that handed that item to a function, if one did: `filter(fits, nodes)`."""

    def cursor(self, start: int = 0, stop: int = -1) -> Cursor:
        """A cursor over some of its items."""
        return Cursor(self.frame.items, self.sites, self.code, start, stop)

    @property
    def goal(self) -> Goal:
        """What it ended with."""
        left = self.path.exit
        if left is None:
            # Reaching the end of a function answers None; reaching that of a loop's body answers nothing.
            return Goal(None, self.frame.how == "end", False, self.function, self.tested)
        value = left.statement.value if isinstance(left.statement, ast.Return) else None
        literal, answer = literal_of(value)
        if literal:
            return Goal(answer, left.kind == "return", False, self.function, self.tested)
        same = delegates(value, self.function)
        return Goal(delegates=same, function=self.function, tested=self.tested)

    def steps(self) -> Iterator[tuple[Step, tuple[Step, ...]]]:
        """All statements that ran, in order, each with those around it, outermost first."""
        return _flat(self.path.steps, ())

    def frames(self, start: int, stop: int) -> list[Frame]:
        """The calls that it made between two of its items."""
        return [item for item in self.frame.items[start:stop] if isinstance(item, Frame)]


def _flat(steps: list[Step], around: tuple[Step, ...]) -> Iterator[tuple[Step, tuple[Step, ...]]]:
    for step in steps:
        yield step, around
        for block in step.blocks:
            yield from _flat(block, (*around, step))


class Calls:
    """Replays calls, each once."""

    def __init__(self, sites: Mapping[int, Site], code_of: Callable[[str], Code | None]) -> None:
        """Take the sites of a trace, and what gives a file's source."""
        self.sites = sites
        self._code_of = code_of
        self._known: dict[int, tuple[Frame, Call | None]] = {}

    def of(self, frame: Frame) -> Call | None:
        """A call replayed; None where its source is missing."""
        known = self._known.get(id(frame))
        if known is None:
            known = self._known[id(frame)] = (frame, self._replay(frame))
        return known[1]

    def _replay(self, frame: Frame) -> Call | None:
        code = self._code_of(frame.file) if frame.file else None
        if code is None:
            return None
        if frame.definition is None:
            return self._part(frame, code)
        function = code.function(frame.definition)
        if function is None:
            return None
        body = _body(function)
        return self._run(frame, code, function, body, 0)

    def _part(self, frame: Frame, code: Code) -> Call | None:
        """The part of a call that begins where a loop hands out an item."""
        first = frame.items[0]
        if not isinstance(first, Event) or first.kind is not Kind.ITEM:
            return self._rest(frame, code)
        site = self.sites[first.site]
        place = next(iter(code.at(site)), None)
        if place is None:
            return None
        function = code.function_around(place)
        around = code.parent(place)
        if isinstance(around, ast.comprehension):
            holder = code.parent(around)
            found = holder if isinstance(holder, COMPREHENSIONS) else None
            return Call(frame, code, self.sites, function, NO_PATH, comprehension=found)
        if isinstance(around, ast.Call) and site.kind == HANDED:
            return Call(frame, code, self.sites, function, NO_PATH, handed=around)
        body = around.body if isinstance(around, ast.For | ast.AsyncFor) else _after(place, code)
        return self._run(frame, code, function, body, 1)

    def _rest(self, frame: Frame, code: Code) -> Call | None:
        """The part of a call that begins somewhere within: replayed from its first event's statement on."""
        first = next(frame.events(), None)
        place = next(iter(code.at(self.sites[first.site])), None) if first is not None else None
        if place is None:
            return None
        body = _after(place, code)
        return self._run(frame, code, code.function_around(place), body, 0)

    def _run(
        self, frame: Frame, code: Code, function: FunctionNode | None, body: list[ast.stmt], start: int
    ) -> Call:
        path = replay(body, frame, self.sites, code, start)
        return Call(frame, code, self.sites, function, path, tested_names(body))


def _body(function: FunctionNode) -> list[ast.stmt]:
    """A function's statements; a lambda's body is what it returns."""
    if not isinstance(function, ast.Lambda):
        return function.body
    return [ast.copy_location(ast.Return(function.body), function.body)]


def _after(place: ast.AST, code: Code) -> list[ast.stmt]:
    """The statements of a block from the one on that holds `place`."""
    statement = code.statement(place)
    if statement is None:
        return []
    if isinstance(statement, ast.While):
        return statement.body
    around = code.parent(statement)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(around, name, None)
        if isinstance(block, list) and statement in block:
            return block[block.index(statement) :]
    return [statement]
