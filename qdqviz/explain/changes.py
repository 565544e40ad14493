"""Single changes as text: what was created, erased, or set from what to what."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from qdqviz.explain.arguments import differences
from qdqviz.ir.change import Change, Erase, Insert, Update
from qdqviz.ir.computed import ComputedSpecs
from qdqviz.ir.labels import op_label
from qdqviz.ir.node import Constant, NodeState, Spec
from qdqviz.ir.position import position_text
from qdqviz.ir.text import spec_text, value_text
from qdqviz.ir.values import Value
from qdqviz.trace.model import Rewrite
from qdqviz.trace.reader import Trace


def change_text(trace: Trace, rewrite: Rewrite, change: Change) -> str:
    """One change of a rewrite as a line: `create q_9: quantize s=0.1 z=0`, `rewire add_2: other x, was y`.

    Args:
        trace: The trace.
        rewrite: The rewrite that holds the change.
        change: The change.
    """
    name = node_name(trace, rewrite, change)
    if isinstance(change, Insert | Erase):
        label = op_label(change.node, trace.ops, lambda ref: _name_of(trace, rewrite, change.path, ref))
        made = spec_text(_made(trace, rewrite, change))
        return f"{change.kind} {name}: {label}" + (f", {made}" if made else "")
    detail = _detail(trace, rewrite, change)
    return f"{change.kind.replace('_', ' ')} {name}" + (f": {detail}" if detail else "")


def node_name(trace: Trace, rewrite: Rewrite, change: Change) -> str:
    """The name of the node that a change is about."""
    if isinstance(change, Update):
        return _name_of(trace, rewrite, change.path, change.node)
    return change.node.name


def _made(trace: Trace, rewrite: Rewrite, change: Insert | Erase) -> Spec:
    """What the node makes: worked out where it stands after the rewrite, else as recorded."""
    body = trace.after(rewrite.step).bodies.get(change.path)
    found = None if body is None else ComputedSpecs(body).spec(change.node.id)
    return found or change.node.spec


def _detail(trace: Trace, rewrite: Rewrite, change: Update) -> str:
    match change.field:
        case "args" | "kwargs":
            return _arguments(trace, rewrite, change)
        case "order":
            word = "earlier" if change.new < change.old else "later"
            return f"{word}{_positions(trace, rewrite, change)}"
        case "meta":
            return _metadata(change)
        case "spec":
            return f"{spec_text(change.new) or 'nothing'}, was {spec_text(change.old) or 'nothing'}"
        case "constant":
            return f"{_constant(change.new)}, was {_constant(change.old)}"
        case "shares_meta":
            return (
                "shares its metadata dictionary with another node"
                if change.new is not None
                else "has its own"
            )
    return f"{change.new}, was {change.old}"


def _positions(trace: Trace, rewrite: Rewrite, change: Update) -> str:
    """Where a node stands now and stood before; empty where one of the states does not hold it."""
    states = (trace.after(rewrite.step), trace.before(rewrite.step))
    now, was = (state.bodies.get(change.path) for state in states)
    if now is None or was is None or change.node not in now or change.node not in was:
        return ""
    return f"; {position_text(now, change.node)}, was {position_text(was, change.node)}"


def _arguments(trace: Trace, rewrite: Rewrite, change: Update) -> str:
    node = trace.before(rewrite.step).bodies[change.path].get(change.node)
    node = node or trace.after(rewrite.step).bodies[change.path][change.node]
    old, new = (_with(node, change.field, value) for value in (change.old, change.new))
    found = differences(
        old, new, trace.ops, lambda ref: _name_of(trace, rewrite, change.path, ref), literals=False
    )
    return ", ".join(
        f"{each.name} {each.new or '(left out)'}, was {each.old or 'left out'}" for each in found
    )


def _with(node: NodeState, field: str, value: Any) -> NodeState:
    """The node with the changed field only, so that what else it has is no difference."""
    empty = replace(node, args=(), kwargs=())
    return replace(empty, **{field: value})


def _metadata(change: Update) -> str:
    old, new = dict(change.old), dict(change.new)
    keys = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
    return ", ".join(f"{key} {_short(new.get(key))}, was {_short(old.get(key))}" for key in keys)


def _short(value: Value) -> str:
    text = "nothing" if value is None else value_text(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _constant(constant: Constant | None) -> str:
    if constant is None:
        return "no constant"
    content = f" {constant.fingerprint[:8]}" if constant.fingerprint else ""
    return f"{constant.kind} {constant.target}{content}"


def _name_of(trace: Trace, rewrite: Rewrite, path: str, node: int) -> str:
    """The node's name before the rewrite, else after it; `#7` for one that came and went within it."""
    for state in (trace.before(rewrite.step), trace.after(rewrite.step)):
        body = state.bodies.get(path)
        found = None if body is None else body.get(node)
        if found is not None:
            return found.name
    return next(
        (c.node.name for c in rewrite.changes if isinstance(c, Insert) and c.node.id == node), f"#{node}"
    )
