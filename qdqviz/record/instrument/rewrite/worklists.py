"""Find the expressions in a `while` loop that take the next item from its worklist.

`while work: node = work.pop()` looks at `node` until it takes the next one. A container counts as the loop's
worklist if the loop's test reads it; where the test reads none that items are taken from (`while True`),
every container counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_METHODS = frozenset({"pop", "popleft", "popitem", "get", "get_nowait"})
_FUNCTIONS = frozenset({"heappop", "heapreplace", "heappushpop", "next"})
_CLOSED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def takes(loop: ast.While) -> list[ast.expr]:
    """The expressions whose value is the loop's next item."""
    found = [
        taken
        for part in (loop.test, *loop.body)
        for node in _walk(part)
        if (taken := _worklist(node)) is not None
    ]
    tested = {_key(node) for node in ast.walk(loop.test) if isinstance(node, (ast.Name, ast.Attribute))}
    named = [item for item, holder in found if _key(holder) in tested]
    if named:
        return named
    return [item for item, _ in found if isinstance(item, ast.Call)]


def _worklist(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The expression in or at `node` that takes an item, and the container that it takes it from."""
    match node:
        case ast.Call(func=ast.Attribute(value=holder, attr=name), args=arguments, keywords=[]) if (
            name in _METHODS
        ):
            # `meta.pop("val")` takes no next item; `work.pop(0)` does.
            if len(arguments) == 0 or (len(arguments) == 1 and _is_index(arguments[0])):
                return node, holder
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[holder, *_]) if (
            name in _FUNCTIONS
        ):
            return node, holder
        case ast.Assign(value=ast.Subscript(value=ast.Name() as holder, slice=index) as item):
            # A cursor: `node = nodes[position]`. Not `node.args[0]`, which walks a graph.
            if _is_index(index) or isinstance(index, ast.Name):
                return item, holder
    return None


def _is_index(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _key(node: ast.expr) -> str:
    return ast.unparse(node)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, (*_CLOSED, *_COMPREHENSIONS)):
            continue
        yield current
        pending.extend(reversed(list(ast.iter_child_nodes(current))))
