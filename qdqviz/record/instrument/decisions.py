"""Hooks for decisions: truth tests, comparisons, operands, match cases, handlers, jumps.

Each does exactly what the interpreter would have done, once and in the same order, and notes it. In test
position (`if x`) that includes calling `bool()`; in value position (`y = a == b`) it never does, because
asking a symbolic size for its truth specializes it. Where nothing is recorded a value goes through untouched
and the interpreter tests it itself.
"""

from __future__ import annotations

import operator
import sys
from _thread import get_ident
from collections.abc import Callable
from typing import Any

from qdqviz.record.instrument import raw, state
from qdqviz.record.instrument.frames import running
from qdqviz.record.instrument.values import CONTAINERS, error_message, error_place, keep, snapshot, type_name

_SITE = raw.SHAPES_AT_MOST
_TRUE, _FALSE, _TRUE_SEEN, _FALSE_SEEN = raw.TRUE, raw.FALSE, raw.TRUE_SEEN, raw.FALSE_SEEN
_COMPARED_TRUE, _COMPARED_FALSE = raw.COMPARED_TRUE, raw.COMPARED_FALSE
_JUMPS = {"continue": raw.CONTINUE, "break": raw.BREAK, "raise": raw.RAISE}

Comparison = Callable[[int, Any, Any], Any]
"""A hook that compares: site, left, right -> what the operator gives."""


def test(site: int, value: Any) -> Any:
    """A value whose truth is asked for."""
    if not state.owner or get_ident() != state.owner:
        return value
    log = state.log
    if value is True or value is False:
        if log.forced is not None:
            value = log.forced(site, value)
        state.note(site * _SITE + (_TRUE if value else _FALSE))
        return value
    seen = value if id(type(value)) not in CONTAINERS else snapshot(value)
    outcome = bool(value)
    if log.forced is not None:
        outcome = log.forced(site, outcome)
    if state.log is log:
        state.note(site * _SITE + (_TRUE_SEEN if outcome else _FALSE_SEEN))
        state.saw(seen)
    return outcome


def value(site: int, value: Any) -> Any:
    """An operand whose value goes on: of `and`/`or`, an item of `any`/`all`, a match subject."""
    if state.owner and get_ident() == state.owner:
        log = state.log
        if log.forced is not None and (value is True or value is False):
            value = log.forced(site, value)
        if value is True or value is False:
            state.note(site * _SITE + (raw.VALUE_TRUE if value else raw.VALUE_FALSE))
        else:
            state.note(site * _SITE + raw.VALUE)
            state.saw(value if id(type(value)) not in CONTAINERS else snapshot(value))
    return value


def comparing(operate: Callable[[Any, Any], Any]) -> Comparison:
    """The hook for a comparison in value position."""

    def compare(site: int, left: Any, right: Any) -> Any:
        if not state.owner or get_ident() != state.owner:
            return operate(left, right)
        log = state.log
        seen_left = left if id(type(left)) not in CONTAINERS else snapshot(left)
        seen_right = right if id(type(right)) not in CONTAINERS else snapshot(right)
        result = operate(left, right)
        if log.forced is not None and (result is True or result is False):
            result = log.forced(site, result)
        if state.log is log:
            _compared(site, result, seen_left, seen_right)
        return result

    return compare


def comparing_test(operate: Callable[[Any, Any], Any]) -> Comparison:
    """The hook for a comparison in test position: its result is tested, as the statement would."""

    def compare(site: int, left: Any, right: Any) -> Any:
        if not state.owner or get_ident() != state.owner:
            return operate(left, right)
        log = state.log
        seen_left = left if id(type(left)) not in CONTAINERS else snapshot(left)
        seen_right = right if id(type(right)) not in CONTAINERS else snapshot(right)
        result = operate(left, right)
        if result is not True and result is not False:
            result = bool(result)
        if log.forced is not None:
            result = log.forced(site, result)
        if state.log is log:
            state.note(site * _SITE + (_COMPARED_TRUE if result else _COMPARED_FALSE))
            state.saw(seen_left)
            state.saw(seen_right)
        return result

    return compare


def _compared(site: int, result: object, left: object, right: object) -> None:
    told = _COMPARED_TRUE if result is True else _COMPARED_FALSE if result is False else raw.COMPARED
    state.note(site * _SITE + told)
    state.saw(left)
    state.saw(right)


def _contains(left: Any, right: Any) -> bool:
    return left in right


def _misses(left: Any, right: Any) -> bool:
    return left not in right


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "is_": operator.is_,
    "is_not": operator.is_not,
    "in_": _contains,
    "not_in": _misses,
}
"""Comparisons by the name of their hook; `NAME_test` is the one for test position."""


# A chain `a < b < c` stays as the interpreter evaluates it; its operands report themselves on the way.


def chain_first(site: int, value: Any) -> Any:
    """The first operand of a chained comparison whose first link is `site`."""
    if state.owner and get_ident() == state.owner:
        state.chains.append([site, keep(value)])
    return value


def chain_next(site: int, value: Any) -> Any:
    """A later operand of the chain."""
    if state.owner and get_ident() == state.owner:
        chain = _chain(site)
        if chain is not None:
            chain.append(keep(value))
    return value


def chain(site: int, links: int, result: Any) -> Any:
    """The result of a chain in value position."""
    if state.owner and get_ident() == state.owner and (seen := _chain(site)) is not None:
        state.chains.pop()
        if state.log.forced is not None and (result is True or result is False):
            result = state.log.forced(site, result)
        last = result if result is True or result is False else None
        # Cut short, its last link is known to be false, whatever object says so.
        _note_links(site, seen, last if len(seen) == links + 2 else False)
    return result


def chain_test(site: int, outcome: bool) -> bool:
    """The outcome of a chain in test position, whose links have been tested by the interpreter."""
    if state.owner and get_ident() == state.owner and (seen := _chain(site)) is not None:
        state.chains.pop()
        if state.log.forced is not None:
            outcome = state.log.forced(site, outcome)
        _note_links(site, seen, outcome)
    return outcome


def _chain(site: int) -> list[Any] | None:
    """The innermost chain of `site`; those above it were ended by exceptions."""
    chains = state.chains
    while chains and chains[-1][0] != site:
        chains.pop()
    return chains[-1] if chains else None


def _note_links(site: int, seen: list[Any], last: bool | None) -> None:
    if not state.owner or get_ident() != state.owner:
        return
    links = len(seen) - 2
    for index in range(links):
        outcome = last if index == links - 1 else True
        _compared(site + index, outcome, seen[index + 1], seen[index + 2])


def case(site: int, taken: bool) -> None:
    """A match case was taken, or (False) none was."""
    if state.owner and get_ident() == state.owner:
        state.note(site * _SITE + (raw.TAKEN if taken else raw.NOT_TAKEN))


def leaving(site: int, how: str) -> None:
    """A `continue`, `break` or `raise` (how) was reached."""
    if state.owner and get_ident() == state.owner:
        state.note(site * _SITE + _JUMPS[how])


def caught(site: int, function: int) -> None:
    """An exception handler of `function` was entered."""
    if not state.owner or get_ident() != state.owner:
        return
    error = sys.exc_info()[1]
    if error is None:
        return
    running(function, type(error))
    state.note(site * _SITE + raw.CAUGHT)
    state.saw(type_name(type(error)))
    state.saw(error_message(error))
    state.saw(error_place(error))
