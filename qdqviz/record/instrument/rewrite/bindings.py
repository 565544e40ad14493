"""Where a function binds its names, and which calls had a hand in it.

A guard often tests a name that a helper bound a few lines before. The recorder notes every call; this says,
from the source alone, which of them belong to a tested name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from qdqviz.record.instrument.rewrite.reads import called, dotted, reads

MOST_CALLS = 16
"""How many calls are kept for one test."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(slots=True)
class _Binding:
    calls: dict[str, None] = field(default_factory=dict)
    """Calls in what was bound, and calls that got the name as argument."""
    lines: dict[int, None] = field(default_factory=dict)
    """Lines that bind it."""


class Bindings:
    """The bindings of one function's body."""

    def __init__(self, body: Iterable[ast.stmt]) -> None:
        nodes = [node for statement in body for node in _walk(statement)]
        self._bound: dict[str, _Binding] = {}
        for node in nodes:
            self._bind(node)
        for node in nodes:
            if isinstance(node, ast.Call):
                self._hand_over(node)

    def calls(self, names: Iterable[str]) -> tuple[str, ...]:
        """Functions that had a hand in what these names are bound to."""
        found: dict[str, None] = {}
        for name in names:
            if name in self._bound:
                found.update(self._bound[name].calls)
        return tuple(found)[:MOST_CALLS]

    def lines(self, names: Iterable[str]) -> tuple[int, ...]:
        """Lines that bind any of these names, sorted."""
        return tuple(
            sorted({line for name in names if name in self._bound for line in self._bound[name].lines})
        )

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self._add(targets, value, node.lineno)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._add([target], value, node.lineno)
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                self._add([target], value, node.lineno)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                self._add([target], value, node.lineno)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                self._add([target], value, target.lineno)

    def _add(self, targets: list[ast.expr], value: ast.expr, line: int) -> None:
        calls = reads(value).calls
        for target in targets:
            for name in _targets(target):
                binding = self._bound.setdefault(name, _Binding())
                binding.calls.update(dict.fromkeys(calls))
                binding.lines.setdefault(line)

    def _hand_over(self, call: ast.Call) -> None:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            given.append(call.func.value)
        for value in given:
            name = dotted(value)
            if name in self._bound:
                self._bound[name].calls.setdefault(called(call))


def _targets(target: ast.expr) -> Iterator[str]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _targets(element)
    elif isinstance(target, ast.Starred):
        yield from _targets(target.value)
    else:
        holder = target.value if isinstance(target, ast.Subscript) else target
        name = dotted(holder)
        if name is not None:
            yield name


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of one scope, in source order; functions and classes inside are left out."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, _SCOPES):
            continue
        yield current
        pending.extend(reversed(list(ast.iter_child_nodes(current))))
