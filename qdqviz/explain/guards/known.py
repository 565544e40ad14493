"""Which nodes the names in a test stand for: read off what was seen, and off the graph at that instant.

`len(parent.users) != 1` saw the numbers 2 and 1. What a person wants to know is who `parent` is and who
its two users are; the loop's items, the helpers' results and the graph tell.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from qdqviz.explain.guards.bindings import own_parts
from qdqviz.explain.guards.calls import Call, Calls
from qdqviz.explain.guards.code import call_name, own_nodes
from qdqviz.explain.guards.effects import changes
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.nodes import (
    Known,
    is_whole,
    item_of,
    known_of,
    known_of_argument,
    nodes_of,
    part_of,
    place_in,
)
from qdqviz.explain.guards.parameters import argument_for, call_at, handed_to, parameters_of
from qdqviz.explain.guards.steps import Step
from qdqviz.explain.guards.worklists import handed_out, taken_from
from qdqviz.explain.seen_text import op_text
from qdqviz.ir.graph import Body
from qdqviz.trace.events import Event, Kind

DEEPEST = 12
"""How many names, calls and attributes are followed for one expression."""

_PASSING_ON = frozenset({"list", "tuple", "iter", "deque", "set", "frozenset", "cast"})
"""Calls that give what they are given, as far as nodes go."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What an expression in a test stands for."""

    text: str
    """The expression."""
    nodes: tuple[int, ...]
    """The nodes."""
    several: bool = False
    """Whether it is a sequence."""
    partial: bool = False
    """Whether it holds, or may hold, more than those nodes: numbers, dtypes, lists of nodes."""
    said: str = ""
    """For what is no node: its text."""


class Facts:
    """Tells which nodes the expressions of an attempt stand for."""

    def __init__(self, calls: Calls, body: Body) -> None:
        """Take what replays calls, and the graph as the attempt found it."""
        self._calls = calls
        self._body = body
        self._handed: dict[tuple[int, str], dict[int, object]] = {}

    def of(self, call: Call, expr: ast.expr, at: int) -> list[Fact]:
        """Facts about the nodes that a test's expression speaks of.

        Args:
            call: The call that asked.
            expr: The test's expression.
            at: Index of the item at which it was asked.
        """
        found: dict[str, Fact] = {}
        covered: set[ast.AST] = set()
        for node in own_nodes(expr):
            if node in covered or not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
                continue
            known = self._value(call, node, at, DEEPEST)
            nodes = nodes_of(known)
            if not nodes and not isinstance(known, str):
                continue
            covered.update(part for part in ast.walk(node) if isinstance(known, int) or part is node)
            text = call.code.source(node)
            said = known if isinstance(known, str) else ""
            found.setdefault(text, Fact(text, nodes, isinstance(known, tuple), not is_whole(known), said))
        return list(found.values())

    def about(self, call: Call) -> tuple[int, ...]:
        """The nodes that a call was made for: its arguments, else those of the nearest call around it."""
        around: Call | None = call
        while around is not None and around.frame.definition is not None and around.function is not None:
            given = [self._given(around, name, DEEPEST) for name in parameters_of(around.function)]
            nodes = tuple(dict.fromkeys(node for node in given if isinstance(node, int)))
            if nodes:
                return nodes
            outer = around.frame.parent
            around = self._calls.of(outer) if outer is not None else None
        return ()

    # -- expressions -------------------------------------------------------------------------------

    def _value(self, call: Call, expr: ast.expr, at: int, depth: int) -> Known:
        if depth <= 0:
            return None
        match expr:
            case ast.Name(id=name):
                return self._name(call, name, at, depth - 1)
            case ast.Attribute(value=base, attr=attribute):
                return self._attribute(self._value(call, base, at, depth - 1), attribute)
            case ast.Subscript(value=base, slice=ast.Constant(value=key)):
                return item_of(self._value(call, base, at, depth - 1), key)
            case ast.Call():
                return self._called(call, expr, at, depth - 1)
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self._value(call, value, at, depth - 1)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(self._value(call, each, at, depth - 1) for each in elements)
        return None

    def _called(self, call: Call, expr: ast.Call, at: int, depth: int) -> Known:
        name = call_name(expr)
        if name in _PASSING_ON and expr.args:
            return self._value(call, expr.args[-1], at, depth)
        if name == "reversed" and expr.args:
            known = self._value(call, expr.args[0], at, depth)
            return known[::-1] if isinstance(known, tuple) else None
        if name == "next" and expr.args:
            return item_of(self._value(call, expr.args[0], at, depth), 0)
        if name in ("keys", "copy") and isinstance(expr.func, ast.Attribute):
            return self._value(call, expr.func.value, at, depth)
        for item in reversed(call.frame.items[:at]):
            if isinstance(item, Frame) and item.name == name:
                return known_of(item.result) if item.how == "return" else None
        return None

    def _attribute(self, base: Known, attribute: str) -> Known:
        node = self._body.get(base) if isinstance(base, int) else None
        if node is None:
            return None
        if attribute == "users":
            return self._body.users(node.id)
        if attribute in ("all_input_nodes", "_input_nodes"):
            return self._body.inputs(node.id)
        if attribute in ("op", "target"):
            return op_text(str(getattr(node, attribute)))
        if attribute == "args":
            return tuple(known_of_argument(value) for value in node.args)
        if attribute == "kwargs":
            return {key: known_of_argument(value) for key, value in node.kwargs}
        return None

    # -- names -------------------------------------------------------------------------------------

    def _name(self, call: Call, name: str, at: int, depth: int) -> Known:
        bound: tuple[Known] | None = None
        for step, _ in call.steps():
            if step.start > at:
                break
            bound = self._bound(call, step, name, at, depth) or bound
        if bound is not None:
            return bound[0]
        looped = _comprehended(call, name, at)
        if looped is not None:
            return looped
        return self._opened(call, name) if call.frame.definition is None else self._given(call, name, depth)

    def _bound(self, call: Call, step: Step, name: str, at: int, depth: int) -> tuple[Known] | None:
        """What a statement bound a name to, None where that is not known; nothing where it did not."""
        node = step.node
        if isinstance(node, ast.For):
            event = _last_item(call, step.items, at) if place_in(node.target, name) is not None else None
            return None if event is None else (part_of(node.target, name, event.values[0]),)
        if step.start >= at and step.end > at:
            return None
        part = next((part for part in own_parts(step) if changes(part, name)), None)
        match part:
            case None:
                return None
            case ast.Assign(targets=[target], value=value) if (index := place_in(target, name)) is not None:
                known = self._popped(call, step, value, depth) or self._value(call, value, step.end, depth)
                return (known if index < 0 else item_of(known, index),)
            case ast.NamedExpr(value=value):
                return (self._value(call, value, step.end, depth),)
        return (None,)

    def _popped(self, call: Call, step: Step, value: ast.expr, depth: int) -> Known:
        """What a worklist handed out."""
        taken = taken_from(value)
        if taken is None:
            return None
        found = self._handed.get((id(call), taken[0]))
        if found is None:
            found = self._handed[id(call), taken[0]] = {}

            def items(expr: ast.expr, at: Step) -> tuple[Known, ...] | None:
                known = self._value(call, expr, at.end, depth)
                return known if isinstance(known, tuple) else None

            handed_out(call, taken[0], items, found)
        known = found.get(id(step))
        return known if isinstance(known, int | str | tuple) else None

    def _opened(self, call: Call, name: str) -> Known:
        """The item that a loop handed out when the attempt opened."""
        first = call.frame.items[0]
        if not isinstance(first, Event) or first.kind is not Kind.ITEM or not first.values:
            return None
        place = next(iter(call.code.at(call.sites[first.site])), None)
        around = call.code.parent(place) if place is not None else None
        if isinstance(around, ast.For | ast.comprehension):
            return part_of(around.target, name, first.values[0])
        if isinstance(around, ast.Assign):
            return part_of(around.targets[0], name, first.values[0])
        return None

    def _given(self, call: Call, name: str, depth: int) -> Known:
        """What a parameter was given by the call around."""
        outer = call.frame.parent
        caller = self._calls.of(outer) if outer is not None else None
        if caller is None or call.function is None:
            return None
        index = next(i for i, item in enumerate(caller.frame.items) if item is call.frame)
        handed = handed_to(caller, index, call.function, name)
        if handed is not None:
            return handed
        expr = call_at(caller, call.frame, index, len(parameters_of(call.function)))
        if expr is None:
            return None
        given = argument_for(expr, call.function, name)
        return None if given is None else self._value(caller, given, index, depth)


def _comprehended(call: Call, name: str, at: int) -> Known:
    """The item that a comprehension handed out last before an index."""
    for event in reversed([item for item in call.frame.items[: at + 1] if isinstance(item, Event)]):
        if event.kind is not Kind.ITEM or not event.values:
            continue
        place = next(iter(call.code.at(call.sites[event.site])), None)
        around = call.code.parent(place) if place is not None else None
        if isinstance(around, ast.comprehension):
            known = part_of(around.target, name, event.values[0])
            if known is not None:
                return known
    return None


def _last_item(call: Call, items: list[Event], at: int) -> Event | None:
    """The last of a loop's items that was handed out before an index."""
    before = {id(item) for item in call.frame.items[: at + 1]}
    found = [event for event in items if id(event) in before and event.values]
    return found[-1] if found else None
