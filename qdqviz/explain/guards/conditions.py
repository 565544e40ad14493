"""How a condition came out, operand by operand, and which operands are to blame for that.

An expression is evaluated once more, from the events that the instrumented code left: with the same short
circuits, without running anything.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from qdqviz.explain.guards.code import COMPREHENSIONS, Code, Comprehension
from qdqviz.explain.guards.frames import Frame, Item
from qdqviz.ir.values import DictArg, ListArg, Value
from qdqviz.trace.events import Event, Kind, Site

_ASKING = (Kind.TEST, Kind.COMPARE, Kind.VALUE)


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One operand of a condition: what does not consist of further conditions."""

    expr: ast.expr
    """Its expression."""
    outcome: bool | None
    """Its truth, `not` around it left out; None where that was not seen."""
    site: Site | None = None
    """Where it was asked; None where nothing was seen."""
    event: Event | None = None
    """What was seen."""
    start: int = 0
    """Index of the frame's first item that belongs to its evaluation."""
    end: int = 0
    """Index after the last."""
    rounds: tuple[Verdict, ...] = ()
    """For any/all: how each item came out, in order."""
    seen: tuple[Value, ...] = ()
    """What was seen where there is no event: the value that a call gave back."""
    made: Frame | None = None
    """The call whose answer it is, where there is no event: of a predicate that `filter` was given."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """How a condition came out."""

    truth: bool | None
    """Its truth; None where that was not seen."""
    blame: tuple[Leaf, ...] = ()
    """The operands that made it so: one for a false `and`, all for a false `or`."""
    asked: tuple[Leaf, ...] = ()
    """All operands that were evaluated, in order."""


UNSEEN = Verdict(None)


@dataclass(slots=True)
class Cursor:
    """A position among the items of a frame."""

    items: Sequence[Item]
    """What the frame asked and called."""
    sites: Mapping[int, Site]
    """Sites by id."""
    code: Code
    """The frame's source."""
    at: int = 0
    """Index of the next item."""
    stop: int = field(default=-1)
    """Index at which the items end; -1 for all."""

    def __post_init__(self) -> None:
        if self.stop < 0:
            self.stop = len(self.items)

    def site(self, event: Event) -> Site:
        """The site of an event; all events of a frame have one."""
        return self.sites[event.site]

    def next_event(self) -> tuple[int, Event] | None:
        """The frame's next own event and its index."""
        for index in range(self.at, self.stop):
            item = self.items[index]
            if isinstance(item, Event):
                return index, item
        return None

    def within(self, node: ast.AST) -> bool:
        """Whether the next own event lies within a node."""
        found = self.next_event()
        return found is not None and self.code.inside(self.site(found[1]), node)

    def take_within(self, node: ast.AST) -> None:
        """Go past all events within a node, and past the calls before them."""
        while (found := self.next_event()) is not None and self.code.inside(self.site(found[1]), node):
            self.at = found[0] + 1

    def over(self, start: int, stop: int) -> Cursor:
        """A cursor over some of the items."""
        return replace(self, at=start, stop=stop)


def evaluate(expr: ast.expr, cursor: Cursor, *, testing: bool = True) -> Verdict:
    """How an expression came out.

    Args:
        expr: The expression.
        cursor: Stands before its evaluation; afterwards behind it.
        testing: Whether its truth was asked for, or its value.
    """
    if isinstance(expr, ast.NamedExpr) and not testing:
        return evaluate(expr.value, cursor, testing=False)
    if isinstance(expr, ast.BoolOp):
        return _junction(expr, cursor, testing)
    if isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.Not):
        return _negation(expr, cursor, testing)
    if isinstance(expr, ast.IfExp):
        return _ternary(expr, cursor, testing)
    if isinstance(expr, ast.Constant):
        return Verdict(bool(expr.value))
    return _leaf(expr, cursor)


def truth_of(value: Value) -> bool:
    """The truth of a value as it was seen: None, zero and empty containers are false."""
    if isinstance(value, ListArg | DictArg):
        return bool(value.items)
    return bool(value)


def _junction(expr: ast.BoolOp, cursor: Cursor, testing: bool) -> Verdict:
    decisive = isinstance(expr.op, ast.Or)
    asked: list[Leaf] = []
    blame: list[Leaf] = []
    for operand in expr.values:
        found = evaluate(operand, cursor, testing=testing)
        asked += found.asked
        if found.truth is decisive or found.truth is None:
            return Verdict(found.truth, found.blame, tuple(asked))
        blame += found.blame
    return Verdict(not decisive, tuple(blame), tuple(asked))


def _negation(expr: ast.UnaryOp, cursor: Cursor, testing: bool) -> Verdict:
    simple = not isinstance(expr.operand, ast.BoolOp | ast.IfExp)
    found = evaluate(expr.operand, cursor, testing=testing or simple)
    if not testing and not simple:
        # `not (a and b)` as a value asks the whole for its truth once more.
        after = cursor.next_event()
        if after is not None and cursor.code.exactly(cursor.site(after[1]), expr.operand):
            cursor.at = after[0] + 1
    truth = None if found.truth is None else not found.truth
    return Verdict(truth, found.blame, found.asked)


def _ternary(expr: ast.IfExp, cursor: Cursor, testing: bool) -> Verdict:
    test = evaluate(expr.test, cursor)
    branch = expr.body if test.truth else expr.orelse
    found = evaluate(branch, cursor, testing=testing)
    asked = (*test.asked, *found.asked)
    if isinstance(branch, ast.Constant) or not found.blame:
        return Verdict(found.truth, test.blame, asked)
    return Verdict(found.truth, found.blame, asked)


def _leaf(expr: ast.expr, cursor: Cursor) -> Verdict:
    start = cursor.at
    found = _answer(expr, cursor)
    if found is None:
        cursor.take_within(expr)
        leaf = Leaf(expr, None, start=start, end=cursor.at)
        return Verdict(None, (leaf,), (leaf,))
    index, event = found
    site = cursor.site(event)
    rounds = rounds_of(expr, cursor.over(start, index))
    outcome = event.outcome
    if outcome is None and event.kind is Kind.VALUE:
        outcome = truth_of(event.values[0]) if event.values else None
    cursor.at = index + 1
    leaf = Leaf(expr, outcome, site, event, start, index, rounds)
    return Verdict(outcome, (leaf,), (leaf,))


def _answer(expr: ast.expr, cursor: Cursor) -> tuple[int, Event] | None:
    """The event that says how a leaf came out; of a chained comparison that of its last link."""
    answer: tuple[int, Event] | None = None
    for index in range(cursor.at, cursor.stop):
        item = cursor.items[index]
        if isinstance(item, Frame):
            continue
        site = cursor.site(item)
        if item.kind in _ASKING and cursor.code.exactly(site, expr):
            if answer is not None and site.id <= answer[1].site:
                return answer
            answer = index, item
            if not (isinstance(expr, ast.Compare) and len(expr.ops) > 1) or item.outcome is False:
                return answer
        elif answer is not None or not cursor.code.inside(site, expr):
            return answer
    return answer


def rounds_of(expr: ast.expr, cursor: Cursor) -> tuple[Verdict, ...]:
    """How each item of `any(...)` or `all(...)` came out."""
    match expr:
        case ast.Call(func=ast.Name(id="any" | "all"), args=[argument], keywords=[]):
            pass
        case _:
            return ()
    if isinstance(argument, ast.List | ast.Tuple | ast.Set):
        return tuple(evaluate(element, cursor, testing=False) for element in argument.elts)
    if isinstance(argument, COMPREHENSIONS):
        return tuple(found.element for found in iterations(argument, cursor) if found.element is not None)
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """One item of a comprehension."""

    item: Value
    """What the loop handed out."""
    filters: tuple[Verdict, ...]
    """How its filters came out, up to the first that was false."""
    element: Verdict | None
    """How the element came out, if that is a condition and no filter held."""

    @property
    def kept(self) -> bool:
        """Whether no filter was false."""
        return all(found.truth is not False for found in self.filters)


def iterations(node: Comprehension, cursor: Cursor) -> list[Iteration]:
    """What a comprehension did with each item of its innermost loop."""
    inner = node.generators[-1]
    element = None if isinstance(node, ast.DictComp) else node.elt
    found: list[Iteration] = []
    while (upcoming := cursor.next_event()) is not None:
        index, event = upcoming
        site = cursor.site(event)
        if not cursor.code.inside(site, node):
            break
        cursor.at = index + 1
        if event.kind is Kind.ITEM and cursor.code.exactly(site, inner.iter):
            found.append(_iteration(event, inner.ifs, element, cursor))
    return found


def _iteration(event: Event, filters: list[ast.expr], element: ast.expr | None, cursor: Cursor) -> Iteration:
    results: list[Verdict] = []
    for each in filters:
        results.append(evaluate(each, cursor))
        if results[-1].truth is False:
            return Iteration(event.values[0], tuple(results), None)
    verdict = None
    if element is not None and cursor.within(element):
        verdict = evaluate(element, cursor, testing=False)
    return Iteration(event.values[0] if event.values else None, tuple(results), verdict)
