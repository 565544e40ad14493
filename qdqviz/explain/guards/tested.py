"""What a test asks about, and when: the expression to trace back, and the part of a call to trace it in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.cause import Cause, alternatives, is_answer
from qdqviz.explain.guards.code import call_name, own_nodes
from qdqviz.explain.guards.conditions import Leaf, Verdict, truth_of
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.steps import Step
from qdqviz.trace.events import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """When an expression was evaluated."""

    call: Call
    """The call that evaluated it."""
    start: int
    """Index of the first item of its evaluation."""
    stop: int
    """Index after the last."""
    owner: Step | None
    """The statement that it is in; None stands for the call's last."""
    strict: bool
    """Whether only a call that answers a question is gone into, not one that makes a value."""

    def over(self, step: Step) -> Window:
        """The evaluation of another statement of the same call."""
        return replace(self, start=step.start, stop=step.end, owner=step)


def subject_of(leaf: Leaf) -> tuple[ast.expr | None, bool]:
    """The expression whose truth, emptiness or absence a leaf asks for, and whether to trace it strictly."""
    match leaf.expr:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if isinstance(op, ast.In | ast.NotIn):
                return None, True
            for side, other in ((left, right), (right, left)):
                if isinstance(other, ast.Constant) or is_constant(other):
                    return side, not isinstance(op, ast.Is | ast.IsNot)
            return None, True
        case ast.Compare():
            return None, True
    return leaf.expr, False


def is_constant(value: ast.expr) -> bool:
    """Whether an expression is a literal: a constant, or an empty container."""
    match value:
        case ast.Constant() | ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Call(func=ast.Name(id="set" | "list" | "dict" | "tuple" | "deque"), args=[]):
            return True
        case ast.Call(func=ast.Name(id="defaultdict")):
            return True
    return False


def called_in_arguments(expr: ast.expr) -> set[str]:
    """Plain names of what the arguments of a call call."""
    if not isinstance(expr, ast.Call):
        return set()
    given = [*expr.args, *(keyword.value for keyword in expr.keywords)]
    return {call_name(node) for node in own_nodes(*given) if isinstance(node, ast.Call)}


def is_returned(call: Call, expr: ast.expr) -> bool:
    """Whether an expression is what a call returned."""
    left = call.path.exit.statement if call.path.exit is not None else None
    return isinstance(left, ast.Return) and left.value is expr


def says_yes_or_no(frame: Frame) -> bool:
    """Whether a call gave back a bool, or nothing."""
    result = frame.result
    return frame.how == "return" and (isinstance(result, bool) or not truth_of(result))


def given_back(cause: Cause, leaf: Leaf) -> Cause:
    """A provisional cause as a link of its own: what the call gave back, and whether that is yes or no."""
    result = cause.call.frame.result
    outcome = truth_of(result) if is_answer(cause.call.frame) else None
    told = replace(leaf, outcome=outcome, seen=(result,))
    leaves = (*alternatives(cause.otherwise), told)
    return replace(cause, leaves=leaves, provisional=False, otherwise=None)


def of_rounds(call: Call, leaf: Leaf) -> Cause | None:
    """The items to blame for what `any(...)` or `all(...)` gave."""
    decisive = isinstance(leaf.expr, ast.Call) and call_name(leaf.expr) == "any"
    if leaf.outcome is decisive:
        # Of a list all items were asked, whichever of them decided.
        telling = tuple(each for each in leaf.rounds if each.truth is decisive)
        return blamed(call, telling or leaf.rounds[-1:])
    return blamed(call, leaf.rounds)


def blamed(call: Call, verdicts: tuple[Verdict, ...]) -> Cause | None:
    """The operands to blame for several conditions, as one cause."""
    leaves = tuple(leaf for verdict in verdicts for leaf in verdict.blame if leaf.event is not None)
    return Cause(call, leaves) if leaves else None


def with_depth(frame: Frame) -> Iterator[tuple[int, Frame]]:
    """All calls inside of one, with how deep they are."""
    pending = [(1, each) for each in frame.calls()]
    while pending:
        depth, top = pending.pop(0)
        yield depth, top
        pending[:0] = [(depth + 1, each) for each in top.calls()]


def all_frames(frame: Frame) -> list[Frame]:
    """All calls of the attempt that a call belongs to."""
    top = frame
    while top.parent is not None:
        top = top.parent
    return list(top.walk())


def first_seen(call: Call) -> set[object]:
    """What a call's first test saw: the key that it was asked about."""
    tests = (each for each in call.frame.events() if each.kind in (Kind.TEST, Kind.COMPARE) and each.values)
    first = next(tests, None)
    return set() if first is None else {first.values[0]}
