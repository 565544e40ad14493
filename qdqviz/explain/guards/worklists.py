"""What a worklist hands out: followed from what it was set to through all that was put in and taken out."""

from __future__ import annotations

import ast
from collections.abc import Callable

from qdqviz.explain.guards.bindings import own_parts
from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.code import call_name
from qdqviz.explain.guards.effects import changes, empties
from qdqviz.explain.guards.steps import Step

_UNORDERED = ("set", "frozenset")
"""Calls that keep no order."""

Evaluate = Callable[[ast.expr, Step], tuple[object, ...] | None]
"""(expression, statement) -> the items that it stood for when the statement ran; None where unknown."""

UNKNOWN = object()
"""An item that is not known."""


def taken_from(value: ast.expr) -> tuple[str, int] | None:
    """The worklist that an expression takes an item from, and which: 0 the first, -1 the last."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=work), attr="popleft"), args=[]):
            return work, 0
        case ast.Call(func=ast.Attribute(value=ast.Name(id=work), attr="pop"), args=[]):
            return work, -1
        case ast.Call(func=ast.Attribute(value=ast.Name(id=work), attr="pop"), args=[ast.Constant(value=0)]):
            return work, 0
    return None


def handed_out(call: Call, work: str, evaluate: Evaluate, found: dict[int, object]) -> None:
    """Fill in what each statement took from a worklist, by the statement's identity, in order.

    Args:
        call: The call that holds the worklist.
        work: Its name.
        evaluate: Gives the items of an expression; it may look into `found` for what was taken before.
        found: Where to put what was taken; it is `UNKNOWN` from where anything unknown happens to the list.
    """
    items: list[object] | None = None
    for step, _ in call.steps():
        for part in own_parts(step):
            if isinstance(part, ast.Call) and (taken := taken_from(part)) is not None and taken[0] == work:
                found[id(step)] = items.pop(taken[1]) if items else UNKNOWN
            elif changes(part, work) or empties(part, work):
                items = _after(part, step, items, evaluate)


def _after(part: ast.AST, step: Step, items: list[object] | None, evaluate: Evaluate) -> list[object] | None:
    """The worklist after something was done to it; None where that is not known."""
    match part:
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(value=ast.expr() as value):
            return _known(None if _unordered(value) else evaluate(value, step))
        case ast.Call(func=ast.Attribute(attr="append"), args=[item]) if items is not None:
            return [*items, *(evaluate(ast.List([item]), step) or (UNKNOWN,))]
        case ast.Call(func=ast.Attribute(attr="appendleft"), args=[item]) if items is not None:
            return [*(evaluate(ast.List([item]), step) or (UNKNOWN,)), *items]
        case ast.Call(func=ast.Attribute(attr="extend"), args=[more]) if items is not None:
            added = _known(evaluate(more, step))
            return None if added is None or _unordered(more) else [*items, *added]
        case ast.AugAssign(op=ast.Add(), value=more) if items is not None:
            added = _known(evaluate(more, step))
            return None if added is None or _unordered(more) else [*items, *added]
        case ast.Call(func=ast.Attribute(attr="clear")):
            return []
    return None


def _known(items: tuple[object, ...] | None) -> list[object] | None:
    return None if items is None else list(items)


def _unordered(value: ast.expr) -> bool:
    """Whether what an expression makes has no order that is known."""
    if isinstance(value, ast.Call):
        return call_name(value) in _UNORDERED
    return isinstance(value, ast.Set | ast.SetComp)
