"""What a predicate says of itself: the first line of its docstring, where its answer is what was tested.

`fits(node)` asks `fits`; `len(users_of(node)) == 1` asks no function of the pass, whatever that one says.
"""

from __future__ import annotations

import ast

from qdqviz.explain.guards.bindings import bindings, owner_of
from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.code import call_name, dotted
from qdqviz.explain.guards.conditions import Leaf
from qdqviz.explain.guards.frames import Frame
from qdqviz.trace.events import Site


def reason_of(call: Call, leaf: Leaf) -> str | None:
    """What the predicate says of itself whose answer a test asks for; None where there is none."""
    if leaf.made is not None:
        return _own(leaf.made)
    if leaf.site is None or leaf.event is None:
        return None
    asked = _answer(leaf.expr)
    if isinstance(asked, ast.Call):
        made = call.frames(leaf.start, leaf.end)
        return _said(asked, made, leaf.site, leaf.site.calls)
    name = dotted(asked) if asked is not None else ""
    bound = bindings(call, name, owner_of(call, leaf)) if name else []
    value = bound[-1].value if bound else None
    value = value.value if isinstance(value, ast.Await) else value
    if not isinstance(value, ast.Call):
        return None
    step = bound[-1].step
    return _said(value, call.frames(step.start, step.end), leaf.site, leaf.site.bound_by)


def _answer(tested: ast.expr) -> ast.expr | None:
    """The expression whose answer a test asks for: itself, or what it compares with None or a bool.

    Of `any` and `all` it is what they ask of each item.
    """
    match tested:
        case ast.NamedExpr(value=value) | ast.Await(value=value):
            return _answer(value)
        case ast.Call(func=ast.Name(id="bool"), args=[value]):
            return _answer(value)
        case ast.Call(
            func=ast.Name(id="any" | "all"), args=[ast.GeneratorExp(elt=each) | ast.ListComp(elt=each)]
        ):
            return _answer(each)
        case ast.UnaryOp(op=ast.Not(), operand=value):
            return _answer(value)
        case ast.Compare(left=left, comparators=[right]):
            for side, other in ((left, right), (right, left)):
                if isinstance(other, ast.Constant) and (other.value is None or isinstance(other.value, bool)):
                    return _answer(side)
            return None
    return tested


def _said(asked: ast.Call, made: list[Frame], site: Site, known: tuple[str, ...]) -> str | None:
    """The docstring of the function that a call ran, else of the only one that the recorder found there."""
    name = call_name(asked)
    ran = [frame for frame in made if frame.name == name]
    if ran:
        return _own(ran[-1])
    alone = len(known) == 1 and known[0].rpartition(".")[2] == name
    return site.reason if alone else None


def _own(frame: Frame) -> str | None:
    return frame.definition.reason if frame.definition is not None else None
