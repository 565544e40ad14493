"""Values that a guard saw, as Python would write them: a list and a tuple are told apart."""

from __future__ import annotations

import re

from qdqviz.ir.text import short_dtype, slice_text
from qdqviz.ir.values import Atom, DictArg, ListArg, NodeSeen, SliceArg, Value

_EDGE_PACKET = re.compile(r"executorch\.exir\.dialects\._ops\.(?:\w+\.)?(\w+\.\w+)$")
"""How an edge op without an overload calls itself: `…_ops.aten.aten.permute_copy`."""

NO_CONTENT = frozenset({"opaque", "module", "type"})
"""Kinds of values that say nothing of what a call asked about: a trace holds no more than their type."""

LONGEST = 160
"""Characters of a value that are shown."""


def seen_text(value: Value) -> str:
    """A value as text, at most 160 characters."""
    text = _text(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def op_text(target: str) -> str:
    """A target as people write it: `edge.aten.permute_copy` for an edge op without an overload."""
    return _EDGE_PACKET.sub(r"edge.\1", target)


def foreign_text(name: str) -> str:
    """A node that is none of the program's, such as a pattern's: nothing to go to."""
    return f"{name} of another graph"


def seen_nodes(value: Value) -> list[NodeSeen]:
    """The nodes in a value, in order."""
    found: list[NodeSeen] = []
    stack: list[Value] = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, NodeSeen):
            found.append(top)
        elif isinstance(top, tuple):
            stack.extend(reversed(top))
        elif isinstance(top, ListArg):
            stack.extend(reversed(top.items))
        elif isinstance(top, DictArg):
            stack.extend(part for pair in reversed(top.items) for part in reversed(pair))
    return found


def seen_targets(value: Value) -> list[str]:
    """The call targets in a value: ops and functions."""
    if isinstance(value, Atom):
        return [value.text] if value.kind == "function" else []
    items = value.items if isinstance(value, ListArg) else value if isinstance(value, tuple) else ()
    return [target for item in items for target in seen_targets(item)]


def _text(value: Value) -> str:
    if isinstance(value, NodeSeen):
        return value.name
    if isinstance(value, ListArg):
        return f"[{', '.join(map(_text, value.items))}]"
    if isinstance(value, tuple):
        return f"({_text(value[0])},)" if len(value) == 1 else f"({', '.join(map(_text, value))})"
    if isinstance(value, DictArg):
        return f"{{{', '.join(f'{_text(key)}: {_text(item)}' for key, item in value.items)}}}"
    if isinstance(value, SliceArg):
        return slice_text(value.start, value.stop, value.step)
    if isinstance(value, Atom):
        return _atom(value)
    return repr(value) if isinstance(value, str | float) else str(value)


def _atom(atom: Atom) -> str:
    if atom.kind == "dtype":
        return short_dtype(atom.text)
    if atom.kind == "function":
        return op_text(atom.text)
    if atom.kind == "node":
        return foreign_text(atom.text)
    return f"<{atom.text}>" if atom.kind in ("opaque", "module") else atom.text
