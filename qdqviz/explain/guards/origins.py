"""Where a tested value came from: a helper's answer, a name bound before, a flag, a list left empty."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from qdqviz.explain.guards.bindings import bindings, owner_of
from qdqviz.explain.guards.calls import Call, Calls
from qdqviz.explain.guards.cause import Cause, asks, is_answer
from qdqviz.explain.guards.code import (
    COMPREHENSIONS,
    Comprehension,
    call_name,
    called_names,
    dotted,
)
from qdqviz.explain.guards.conditions import Leaf, Verdict, iterations, rounds_of, truth_of
from qdqviz.explain.guards.control import block_cause, cause_of_exit
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.names import Names
from qdqviz.explain.guards.returned import asked_in
from qdqviz.explain.guards.tested import (
    Window,
    all_frames,
    blamed,
    called_in_arguments,
    first_seen,
    given_back,
    is_constant,
    is_returned,
    of_rounds,
    says_yes_or_no,
    subject_of,
)
from qdqviz.trace.events import Kind

_KEEPING = frozenset(
    {"bool", "len", "list", "set", "tuple", "sorted", "iter", "next", "frozenset", "dict", "reversed"}
)
"""Built-ins that are false, zero, empty or None where what they are given is."""

_PLAIN = frozenset(
    {"isinstance", "issubclass", "hasattr", "getattr", "type", "callable", "id", "hash", "cast"}
)
"""Built-ins that ask nothing of a pass."""

EarlierCalls: TypeAlias = Callable[[], Iterable[Frame]]
"""Gives the calls of earlier attempts of the same pass run, the latest first."""

_MOST_TRIES = 40
"""How many rounds a search may take; sources can bind names in circles."""


class Origins:
    """Traces values back within one attempt."""

    def __init__(self, calls: Calls, earlier: EarlierCalls) -> None:
        """Take what replays calls, and what gives those of earlier attempts, the latest first."""
        self._calls = calls
        self._earlier = earlier
        self._tries = 0
        self._names = Names(self)

    def of(self, call: Call, leaf: Leaf) -> Cause | None:
        """Why a test saw what it saw; None where that came from no further decision."""
        self._tries = 0
        if leaf.rounds:
            return of_rounds(call, leaf)
        if leaf.event is not None and leaf.event.kind is Kind.EXCEPT:
            return self._of_exception(call, leaf)
        subject, strict = subject_of(leaf)
        if subject is None:
            return None
        return self.value(subject, Window(call, leaf.start, leaf.end, owner_of(call, leaf), strict))

    def resolved(self, cause: Cause | None) -> Cause | None:
        """A cause whose leaves are tests; provisional ones are traced back, or given up for the next best."""
        while cause is not None and cause.provisional:
            self._tries += 1
            if self._tries > _MOST_TRIES:
                return None
            leaf = cause.leaves[0]
            window = Window(cause.call, leaf.start, leaf.end, owner_of(cause.call, leaf), strict=False)
            found = self.value(leaf.expr, window)
            handed_on = isinstance(leaf.expr, ast.Call | ast.Subscript) and is_returned(cause.call, leaf.expr)
            if found is not None and found.call is not cause.call and handed_on:
                found = replace(found, via=(given_back(cause, leaf), *found.via))
            if found is None and self._answers_itself(cause.call, leaf.expr):
                found = given_back(cause, leaf)
            cause = found if found is not None else cause.otherwise
        return cause

    def _answers_itself(self, call: Call, expr: ast.expr) -> bool:
        """Whether what a call returned is the answer, and not just what it had been given."""
        if not is_returned(call, expr) or not says_yes_or_no(call.frame):
            return False
        return not isinstance(expr, ast.Name) or bool(bindings(call, expr.id, None))

    def call(self, frame: Frame) -> Call | None:
        """A call replayed; None where its source is missing."""
        return self._calls.of(frame)

    def into(self, frame: Frame) -> Cause | None:
        """Why a call answered as it did."""
        call = self._calls.of(frame)
        if call is None:
            return None
        found = self.resolved(cause_of_exit(call))
        if found is not None:
            return found
        # Nothing of its own: what it handed everything to decided, such as a method of the base class.
        inner = [each for each in frame.calls() if asks(each)]
        inner.sort(key=lambda each: each.name == frame.name)
        return self.into_last(inner)

    def into_last(self, frames: list[Frame]) -> Cause | None:
        """Why the last of some calls that took a decision answered as it did, with its siblings.

        Of siblings, calls of the same function, the one that got furthest stands for all.
        """
        found: list[tuple[Frame, Cause]] = []
        for frame in reversed(frames):
            if found and frame.function != found[0][0].function:
                continue
            cause = self.into(frame)
            if cause is not None:
                found.append((frame, cause))
        if not found:
            return None
        best = max(found, key=lambda pair: pair[0].asked)[1]
        others = (cause for _, cause in reversed(found) if cause is not best)
        return replace(best, also=(*best.also, *others))

    # -- expressions -------------------------------------------------------------------------------

    def value(self, expr: ast.expr, window: Window) -> Cause | None:
        """Why an expression has its value."""
        self._tries += 1
        if self._tries > _MOST_TRIES:
            return None
        match expr:
            case ast.NamedExpr() | ast.Starred() | ast.Await():
                return self.value(expr.value, window)
            case ast.Call():
                return self._of_call(expr, window)
            case ast.Name() | ast.Attribute():
                return self._names.of(expr, window)
            case ast.Subscript():
                return self._of_memo(expr, window) or self.of_frames(expr, window)
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp() | ast.IfExp():
                found = asked_in(window.call, expr, window.start, window.stop)
                return None if found is None or found.provisional else found
        if isinstance(expr, COMPREHENSIONS):
            return self._of_comprehension(expr, window)
        return self.of_frames(expr, window)

    def _of_call(self, expr: ast.Call, window: Window) -> Cause | None:
        name = expr.func.id if isinstance(expr.func, ast.Name) else ""
        if name in _PLAIN:
            return None
        if name in _KEEPING:
            return self.value(expr.args[0], window) if expr.args else None
        if name in ("any", "all") and expr.args:
            return self._of_quantifier(expr, window)
        if name in ("filter", "map") and len(expr.args) > 1:
            return self._of_items(window, decisive=True)
        return self.of_frames(expr, window)

    def _of_items(self, window: Window, decisive: bool) -> Cause | None:
        """What a function said of the items that it was given: those that decide, else all alike."""
        made = window.call.frames(window.start, window.stop)
        answers = [frame for frame in made if is_answer(frame)]
        telling = [frame for frame in answers if frame.how == "return" and truth_of(frame.result) is decisive]
        return self.into_last(telling or answers)

    def _of_quantifier(self, expr: ast.Call, window: Window) -> Cause | None:
        argument = expr.args[0]
        if isinstance(argument, ast.Call) and call_name(argument) == "map" and len(argument.args) > 1:
            return self._of_items(window, decisive=call_name(expr) == "any")
        if isinstance(argument, ast.List | ast.Tuple | ast.Set):
            rounds = rounds_of(expr, window.call.cursor(window.start, window.stop))
            return _deciding(window.call, expr, rounds)
        if not isinstance(argument, COMPREHENSIONS):
            bound = bindings(window.call, dotted(argument), window.owner) if dotted(argument) else []
            if not bound or not isinstance(bound[-1].value, COMPREHENSIONS):
                return self.value(argument, window)
            argument, window = bound[-1].value, window.over(bound[-1].step)
        found = iterations(argument, window.call.cursor(window.start, window.stop))
        rounds = tuple(each.element for each in found if each.element is not None)
        if not any(each.blame for each in rounds):
            return self._of_comprehension(argument, window)
        return _deciding(window.call, expr, rounds)

    def of_frames(self, expr: ast.expr, window: Window) -> Cause | None:
        """The call made by an expression, gone into."""
        name = call_name(expr) if isinstance(expr, ast.Call) else ""
        attribute = expr.attr if isinstance(expr, ast.Attribute) else ""
        made = window.call.frames(window.start, window.stop)
        named = [frame for frame in made if frame.name in (name, attribute)]
        arguments = called_in_arguments(expr)
        # A call through a variable has another name; what its arguments call is not it.
        others = [frame for frame in made if frame.name not in arguments]
        for frame in reversed(named or (others if isinstance(expr, ast.Call) else [])):
            makes_value = window.strict or type(frame.result) in (int, float)
            if makes_value and not is_answer(frame) and not self._answers_by_constant(frame):
                continue
            found = self.into(frame)
            if found is not None:
                return found
        return None

    def _answers_by_constant(self, frame: Frame) -> bool:
        """Whether a call left by a `return` with a literal: -1 for "not found"."""
        call = self._calls.of(frame)
        left = call.path.exit.statement if call is not None and call.path.exit is not None else None
        return isinstance(left, ast.Return) and left.value is not None and is_constant(left.value)

    def _of_comprehension(self, expr: Comprehension, window: Window) -> Cause | None:
        """The filters that left a comprehension empty, or the calls that its elements came from."""
        found = iterations(expr, window.call.cursor(window.start, window.stop))
        failed = tuple(each.filters[-1] for each in found if each.filters and not each.kept)
        if failed and not any(each.kept for each in found):
            return blamed(window.call, failed)
        element = None if isinstance(expr, ast.DictComp) else expr.elt
        names = called_names(element) if element is not None else set()
        frames = window.call.frames(window.start, window.stop)
        return self.into_last([frame for frame in frames if frame.name in names and is_answer(frame)])

    def _of_memo(self, expr: ast.Subscript, window: Window) -> Cause | None:
        """A value that an earlier call of the same function put into a container."""
        call, holder = window.call, dotted(expr.value)
        if not holder:
            return None
        for frame in chain(reversed(all_frames(call.frame)), self._earlier()):
            other = self._calls.of(frame) if frame.function == call.frame.function else None
            if other is None or other is call or not bindings(other, holder, None):
                continue
            if first_seen(call) & first_seen(other):
                found = self.into(frame)
                if found is not None:
                    return found
        return None

    def _of_exception(self, call: Call, leaf: Leaf) -> Cause | None:
        """The test that made a statement, or a call, raise what a handler caught."""
        tried = next((step for step, _ in call.steps() if step.caught is leaf.event), None)
        block = tried.blocks[0] if tried is not None else []
        left = block[-1].exit if block else None
        if left is not None and isinstance(left.statement, ast.Assert | ast.Raise):
            return self.resolved(block_cause(call, block, left, call.goal))
        raised = [frame for frame in call.frames(0, leaf.start) if frame.how == "raise"]
        return self.into(raised[-1]) if raised else None


def _deciding(call: Call, expr: ast.Call, rounds: tuple[Verdict, ...]) -> Cause | None:
    """The items to blame for what `any(...)` or `all(...)` gave: the one that decided, else all."""
    decisive = call_name(expr) == "any"
    telling = tuple(each for each in rounds if each.truth is decisive)
    outcome = decisive if telling else not decisive
    return of_rounds(call, Leaf(expr, outcome, rounds=telling or rounds))
