"""What an expression reads and calls, by name."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reads:
    """Names in an expression, in order of appearance, each once."""

    names: tuple[str, ...]
    """Names read, plain or dotted."""
    calls: tuple[str, ...]
    """Names of functions called, plain or dotted."""


NOTHING = Reads((), ())
"""What a statement without an expression reads."""


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` for a chain of attributes of a name; `super().b` keeps its call; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    elif parts and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        parts.append("super()")
    else:
        return None
    return ".".join(reversed(parts))


def reads(*nodes: ast.AST) -> Reads:
    """What these expressions read and call."""
    names: dict[str, None] = {}
    calls: dict[str, None] = {}
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            calls.setdefault(called(node))
            rest: list[ast.AST] = [*node.args, *(keyword.value for keyword in node.keywords)]
            if isinstance(node.func, ast.Attribute):
                rest.insert(0, node.func.value)
            elif not isinstance(node.func, ast.Name):
                rest.insert(0, node.func)
            pending.extend(reversed(rest))
            continue
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = dotted(node)
            if name is not None:
                names.setdefault(name)
                continue
        pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return Reads(tuple(names), tuple(calls))


def called(call: ast.Call) -> str:
    """The name of the function that is called; for a computed one, the last attribute or `?`."""
    name = dotted(call.func)
    if name is None:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else "?"
    return name
