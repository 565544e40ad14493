"""Why a statement gave what it returned, or raised: its own operands, or an expression to be traced back."""

from __future__ import annotations

import ast

from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.cause import Cause
from qdqviz.explain.guards.conditions import Leaf, evaluate
from qdqviz.explain.guards.effects import delegates, literal_of
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.steps import Step


def returned(call: Call, step: Step) -> Cause | None:
    """Why a `return` gave its value; None for one that says nothing by itself, such as a literal."""
    assert isinstance(step.node, ast.Return)
    value = step.node.value
    if value is None or literal_of(value)[0] or delegates(value, call.function):
        return None
    return asked_in(call, value, step.start, step.end)


def asked_in(call: Call, value: ast.expr, start: int, stop: int) -> Cause | None:
    """Why a value is what it is: its own operands, or provisionally itself."""
    if isinstance(value, ast.BoolOp | ast.Compare | ast.IfExp | ast.UnaryOp):
        verdict = evaluate(value, call.cursor(start, stop), testing=False)
        if verdict.blame and any(leaf.event is not None for leaf in verdict.blame):
            return Cause(call, verdict.blame)
    return Cause(call, (Leaf(value, None, start=start, end=stop),), provisional=True)


def raised_inside(call: Call, step: Step) -> Cause | None:
    """The call in a statement that an exception left."""
    frames = [frame for frame in call.frames(step.start, step.end) if frame.how == "raise"]
    if not frames:
        return None
    place = _call_of(step.node, frames[-1])
    return Cause(call, (Leaf(place, None, start=step.start, end=step.end),), provisional=True)


def _call_of(statement: ast.stmt, frame: Frame) -> ast.expr:
    """The expression in a statement that calls a frame's function, or the first expression there is."""
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    for node in calls:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == frame.name:
            return node
    first = next((node for node in ast.walk(statement) if isinstance(node, ast.expr)), None)
    return calls[0] if calls else first or ast.Constant(None)
