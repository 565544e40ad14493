"""Find what a call asks about whose answer is tested: `isinstance(x, T)`, `node.target.startswith("aten")`.

The answer alone, False, says little; what was asked about is noted beside it. Of a helper of the pass nothing
is: its own tests tell what it was given.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Set

_ASKING = frozenset({"isinstance", "issubclass", "hasattr", "callable"})
"""Built-in functions that ask something about their first argument."""

_OWN = frozenset({"self", "cls"})
"""Names of a pass itself: what is called on them are its helpers."""

_BUILT_IN = frozenset(dir(builtins))

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def asked_about(node: ast.expr, globals_: Set[str]) -> Iterator[ast.expr]:
    """The operands of a test that is a call: what its method is called on, and what with.

    Args:
        node: The test.
        globals_: Names that the module binds: modules, classes, helpers.
    """
    match node:
        case ast.Call(func=ast.Name(id=name), args=[operand, *_]) if name in _ASKING:
            yield from _telling(operand)
        case ast.Call(func=ast.Attribute(value=receiver), args=arguments):
            if _is_helper(receiver, globals_):
                return
            yield from _telling(receiver)
            for operand in arguments[:1]:
                yield from _telling(operand)


def _telling(operand: ast.expr) -> Iterator[ast.expr]:
    """An operand, unless its source says it all."""
    if isinstance(operand, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        yield operand


def _is_helper(receiver: ast.expr, globals_: Set[str]) -> bool:
    """Whether a method is the pass's own, its base class's, or a function of some module."""
    if isinstance(receiver, ast.Name) and receiver.id in _OWN:
        return True
    root = receiver
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if isinstance(root, ast.Call):
        return isinstance(root.func, ast.Name) and root.func.id == "super"
    return not isinstance(root, ast.Name) or root.id in globals_ or root.id in _BUILT_IN


def global_names(tree: ast.Module) -> frozenset[str]:
    """The names that a module's own statements bind."""
    found: set[str] = set()
    pending: list[ast.AST] = [*tree.body]
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update((each.asname or each.name).partition(".")[0] for each in names)
        if not isinstance(node, _SCOPES):
            pending.extend(ast.iter_child_nodes(node))
    return frozenset(found)
