"""What a call gave for a parameter of the function that it called."""

from __future__ import annotations

import ast

from qdqviz.explain.guards.calls import HANDED, Call
from qdqviz.explain.guards.code import FunctionNode, call_name
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.nodes import Known, known_of
from qdqviz.trace.events import Event


def handed_to(caller: Call, index: int, function: FunctionNode, name: str) -> Known:
    """What `map`, `filter` or the like handed to a function, as its last parameter without a default."""
    before = caller.frame.items[index - 1] if index else None
    if not isinstance(before, Event) or caller.sites[before.site].kind != HANDED or not before.values:
        return None
    parameters = parameters_of(function)
    taken = parameters[: len(parameters) - len(function.args.defaults)]
    return known_of(before.values[0]) if taken[-1:] == [name] else None


def call_at(caller: Call, frame: Frame, index: int, taken: int) -> ast.Call | None:
    """The expression that made a call; a call through a variable is told by how many arguments it takes."""
    around = [step.node for step, _ in caller.steps() if step.start <= index < step.end]
    place = around[-1] if around else caller.comprehension
    if place is None:
        return None
    calls = [node for node in ast.walk(place) if isinstance(node, ast.Call)]
    named = next((node for node in calls if call_name(node) == frame.name), None)
    return named or next((node for node in calls if len(node.args) == taken), None)


def parameters_of(function: FunctionNode) -> list[str]:
    """Names of a function's positional parameters, without `self`."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def argument_for(expr: ast.Call, function: FunctionNode, name: str) -> ast.expr | None:
    """The expression that a call gives for a parameter."""
    for keyword in expr.keywords:
        if keyword.arg == name:
            return keyword.value
    parameters = parameters_of(function)
    if name in parameters and parameters.index(name) < len(expr.args):
        return expr.args[parameters.index(name)]
    return None
