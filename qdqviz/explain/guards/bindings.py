"""Where a call set, filled or emptied a name, and which tests led there or kept it from being set."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.cause import Cause, led_here, strongest
from qdqviz.explain.guards.code import dotted, own_nodes
from qdqviz.explain.guards.conditions import Leaf
from qdqviz.explain.guards.control import block_cause, skipped
from qdqviz.explain.guards.effects import Goal, changes, empties
from qdqviz.explain.guards.steps import Step, verdicts


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """A statement that set, filled or emptied a name."""

    step: Step
    """The statement, as it ran."""
    around: tuple[Step, ...]
    """The statements around it, outermost first."""
    value: ast.expr | None
    """What it bound to the name; None where it filled, emptied or summed up."""


def owner_of(call: Call, leaf: Leaf) -> Step | None:
    """The statement that asked a test; None stands for the call's last."""
    innermost: Step | None = None
    for step, _ in call.steps():
        if any(each is leaf for verdict in verdicts(step) for each in verdict.asked):
            return step
        if leaf.end > leaf.start and step.start <= leaf.end - 1 < step.end:
            innermost = step
    return innermost


def bindings(call: Call, name: str, before: Step | None) -> list[Binding]:
    """The statements that set, filled or emptied a name before a statement (None: at all), in order."""
    found = []
    for step, around in call.steps():
        if step is before:
            break
        if any(changes(node, name) or empties(node, name) for node in own_parts(step)):
            found.append(Binding(step, around, _bound_value(step.node, name)))
    return found


def bound_to(call: Call, leaf: Leaf) -> ast.expr | None:
    """What the name was bound to whose truth, absence or likeness to something given a test asks for."""
    tested = leaf.expr
    if isinstance(tested, ast.Compare) and len(tested.ops) == 1 and _asks_one(tested):
        tested = tested.left
    if isinstance(tested, ast.Call) and len(tested.args) == 1 and dotted(tested.func) in ("len", "bool"):
        tested = tested.args[0]
    name = dotted(tested)
    found = bindings(call, name, owner_of(call, leaf)) if name else []
    value = found[-1].value if found else None
    return value if isinstance(value, ast.Call | ast.Subscript) else None


def _asks_one(expr: ast.Compare) -> bool:
    """Whether a comparison asks about its left side only: the right one is a constant, or some collection."""
    other = expr.comparators[0]
    if isinstance(other, ast.Constant) or isinstance(expr.ops[0], ast.In | ast.NotIn):
        return True
    # `target == exir_ops.edge.aten.cat.default`: a name and what it may be.
    return isinstance(expr.left, ast.Name) and dotted(other).count(".") > 1


def led_to(call: Call, binding: Binding, point: Step | None) -> Cause | None:
    """The tests that led to a binding, apart from those that also led to the statement `point`."""
    return _led(call, binding, _trail(call, point))


def led_inside(call: Call, binding: Binding) -> Cause | None:
    """The tests of a call that led to a binding in it."""
    return _led(call, binding, ())


def _led(call: Call, binding: Binding, apart: tuple[Step, ...]) -> Cause | None:
    shared = set(map(id, apart))
    for outer in reversed(binding.around):
        if id(outer) in shared:
            return None
        leaves = led_here(call, outer)
        if leaves:
            return Cause(call, leaves)
    return None


def unset(call: Call, name: str, since: Step, point: Step | None) -> Cause | None:
    """The tests that kept a name from being set or filled between two statements."""
    goal = Goal(wants=name)
    if point is None and call.path.exit is not None and not _trail(call, since):
        # Until the call left: it may have left before it came to what would have set the name.
        return block_cause(call, _after(call, since), call.path.exit, goal)
    shared = set(map(id, _trail(call, point)))
    causes = []
    for step in _after(call, since):
        if step is point:
            break
        if id(step) in shared:
            causes += [block_cause(call, block, None, goal) for block in step.blocks]
            break
        causes.append(skipped(call, step, goal))
    return strongest(causes)


def unset_in(call: Call, name: str) -> Cause | None:
    """The tests that kept a call from setting or filling a name."""
    goal = Goal(wants=name, recursion=call.frame.name)
    return block_cause(call, call.path.steps, call.path.exit, goal) if _may_set(call, name) else None


def _may_set(call: Call, name: str) -> bool:
    body = call.function.body if isinstance(call.function, ast.FunctionDef) else []
    return any(changes(node, name) for node in own_nodes(*body))


def _trail(call: Call, point: Step | None) -> tuple[Step, ...]:
    """The statements around one."""
    last: tuple[Step, ...] = ()
    for step, around in call.steps():
        last = around
        if step is point:
            break
    return last


def _after(call: Call, since: Step) -> list[Step]:
    """The statements that ran after one in the same block, and after those around it."""
    found: list[Step] = []
    inner = since
    for outer in (*reversed(_trail(call, since)), None):
        for block in outer.blocks if outer is not None else [call.path.steps]:
            index = next((i for i, step in enumerate(block) if step is inner), None)
            if index is not None:
                found += block[index + 1 :]
        if outer is not None:
            inner = outer
    return found


def own_parts(step: Step) -> Iterator[ast.AST]:
    """The nodes of a statement without those of the blocks inside."""
    match step.node:
        case ast.If():
            return own_nodes(*(arm.node.test for arm in step.arms if isinstance(arm.node, ast.If)))
        case ast.While(test=test):
            return own_nodes(test)
        case ast.For(iter=iterable):
            return own_nodes(iterable)
        case ast.With(items=items):
            return own_nodes(*(item.context_expr for item in items))
        case ast.Try() | ast.Match():
            return iter(())
    return own_nodes(step.node)


def _bound_value(node: ast.stmt, name: str) -> ast.expr | None:
    match node:
        case ast.Assign(targets=targets, value=value):
            parts = (_part(target, value, name) for target in targets)
            return next((part for part in parts if part is not None), None)
        case ast.AnnAssign(target=target, value=ast.expr() as value) if dotted(target) == name:
            return value
        case ast.AugAssign(value=value):
            return None if isinstance(value, ast.Constant) else value
    for each in own_nodes(node):
        if isinstance(each, ast.NamedExpr) and each.target.id == name:
            return each.value
    return None


def _part(target: ast.expr, value: ast.expr, name: str) -> ast.expr | None:
    """The part of `value` that lands in `name`."""
    if dotted(target) == name:
        return value
    if isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else None
        for index, each in enumerate(target.elts):
            whole = values[index] if values is not None and index < len(values) else value
            found = _part(each, whole, name)
            if found is not None:
                return found
    return None
