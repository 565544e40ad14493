"""Where the value of a tested name came from: set before, by another call or a function inside, or never."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from qdqviz.explain.guards.bindings import Binding, bindings, led_inside, led_to, unset, unset_in
from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.cause import Cause
from qdqviz.explain.guards.code import dotted, own_nodes
from qdqviz.explain.guards.parameters import argument_for, call_at, parameters_of
from qdqviz.explain.guards.tested import Window, all_frames, is_constant, with_depth

if TYPE_CHECKING:
    from qdqviz.explain.guards.origins import Origins


class Names:
    """Traces tested names back within one attempt."""

    def __init__(self, origins: Origins) -> None:
        """Take what traces the expressions back that names are bound to."""
        self._origins = origins

    def of(self, expr: ast.expr, window: Window) -> Cause | None:
        """Why a name or attribute has the value that it was tested with."""
        name = dotted(expr)
        if not name:
            return self._origins.of_frames(expr, window)
        bound = bindings(window.call, name, window.owner)
        if bound:
            return self._of_binding(name, bound[-1], window)
        found = self._origins.of_frames(expr, window)  # a property
        if found is None and "." in name:
            found = self._of_attribute(name, window.call) or self._of_member(name, window)
        return found or self._of_item(name, window) or self._of_parameter(name, window.call)

    def _of_parameter(self, name: str, call: Call) -> Cause | None:
        """A parameter: why the caller's argument had its value, as in `require(len(users) == 1)`."""
        outer = call.frame.parent
        caller = self._origins.call(outer) if outer is not None else None
        if caller is None or call.function is None or name not in parameters_of(call.function):
            return None
        index = next(at for at, item in enumerate(caller.frame.items) if item is call.frame)
        made = call_at(caller, call.frame, index, len(parameters_of(call.function)))
        given = argument_for(made, call.function, name) if made is not None else None
        step = next(
            (step for step, _ in reversed(list(caller.steps())) if step.start <= index < step.end), None
        )
        if given is None or step is None or isinstance(given, ast.Constant):
            return None
        return self._origins.value(given, Window(caller, step.start, index, step, strict=True))

    def _of_item(self, name: str, window: Window) -> Cause | None:
        """A loop's item that a call made: why that call gave it."""
        for step, _ in window.call.steps():
            for node in ast.walk(step.node):
                if not isinstance(node, ast.For | ast.comprehension) or dotted(node.target) != name:
                    continue
                if isinstance(node.iter, ast.Call) and step.start <= window.start < max(step.end, 1):
                    return self._origins.of_frames(node.iter, replace(window, start=step.start, strict=False))
        return None

    def _of_binding(self, name: str, bound: Binding, window: Window) -> Cause | None:
        call = window.call
        if bound.value is None or is_constant(bound.value):
            led = led_to(call, bound, window.owner)
            found = led or self._origins.resolved(unset(call, name, bound.step, window.owner))
            return found or self._of_closure(name, window)
        found = self._origins.value(bound.value, window.over(bound.step))
        return found or led_to(call, bound, window.owner)

    def _of_closure(self, name: str, window: Window) -> Cause | None:
        """A name that functions inside of the call set or filled, or else what kept the deepest from it."""
        inside = f"{window.call.frame.function}.<locals>."
        frames = [pair for pair in with_depth(window.call.frame) if pair[1].function.startswith(inside)]
        calls = [(depth, call) for depth, frame in frames if (call := self._origins.call(frame)) is not None]
        for _, call in reversed(calls):
            bound = bindings(call, name, None) if _is_outer(call, name) else []
            if bound:
                led = led_inside(call, bound[-1])
                return self._origins.resolved(led) if led is not None else None
        best: tuple[int, Cause] | None = None
        for depth, call in calls:
            found = unset_in(call, name)
            if found is not None and (best is None or depth >= best[0]):
                best = depth, found
        return self._origins.resolved(best[1]) if best is not None else None

    def _of_attribute(self, name: str, call: Call) -> Cause | None:
        """An attribute that another call of the same attempt set."""
        for frame in reversed(all_frames(call.frame)):
            other = self._origins.call(frame)
            bound = bindings(other, name, None) if other is not None and other is not call else []
            if other is not None and bound:
                return self._of_binding(name, bound[-1], Window(other, 0, len(frame.items), None, True))
        for frame in reversed(all_frames(call.frame)):
            other = self._origins.call(frame)
            # Set by no call at all: what kept one from it that could have.
            found = unset_in(other, name) if other is not None and other is not call else None
            if found is not None:
                return self._origins.resolved(found)
        return None

    def _of_member(self, name: str, window: Window) -> Cause | None:
        """An attribute of an object that was made just before: what its `__init__` set it to."""
        holder, _, attribute = name.rpartition(".")
        bound = bindings(window.call, holder, window.owner)
        if not bound or not isinstance(bound[-1].value, ast.Call):
            return None
        step = bound[-1].step
        made = [each for each in window.call.frames(step.start, step.end) if each.name == "__init__"]
        other = self._origins.call(made[-1]) if made else None
        set_there = bindings(other, f"self.{attribute}", None) if other is not None else []
        if other is None or not set_there:
            return None
        inside = Window(other, 0, len(other.frame.items), None, True)
        return self._of_binding(f"self.{attribute}", set_there[-1], inside)


def _is_outer(call: Call, name: str) -> bool:
    """Whether a function means the name of the function around it: it says `nonlocal`, or never binds it."""
    body = call.function.body if isinstance(call.function, ast.FunctionDef) else []
    nodes = list(own_nodes(*body))
    if any(isinstance(node, ast.Nonlocal) and name in node.names for node in nodes):
        return True
    return not any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == name for n in nodes)
