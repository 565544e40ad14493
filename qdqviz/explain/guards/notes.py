"""Whether a statement keeps a node for later, or only a note about it: its name in a list, a count, a log."""

from __future__ import annotations

import ast

from qdqviz.explain.guards.code import Code, call_name, dotted, has_blocks, own_nodes
from qdqviz.explain.guards.effects import Effect, Goal, effect

_WRITING = frozenset({"str", "repr", "format", "len", "int", "get"})
"""Calls that give a text or a number."""

_HELPERS = (ast.FunctionDef, ast.AsyncFunctionDef)


def keeps(statement: ast.stmt, goal: Goal, code: Code, handling: bool = False) -> bool:
    """Whether a statement edits, collects or sets a flag, itself or in a function of the same file.

    What a handler of exceptions puts into a container is a note, whatever it is, if no loop comes back to it.
    """
    found = effect([statement], goal)
    if found >= Effect.ACTS:
        return not _is_note(statement, code, handling and found is Effect.ACTS)
    helper = _helper(statement, code)
    return helper is not None and any(
        isinstance(each, ast.stmt)
        and not has_blocks(each)
        and not isinstance(each, ast.Return)
        and effect([each], Goal()) >= Effect.ACTS
        and not _is_note(each, code, False)
        for each in own_nodes(*helper.body)
    )


def _helper(statement: ast.stmt, code: Code) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The only function of the file that goes by the name that a statement calls."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            name = call_name(call)
        case _:
            return None
    found = [node for node in ast.walk(code.tree) if isinstance(node, _HELPERS) and node.name == name]
    return found[0] if len(found) == 1 else None


def _is_note(statement: ast.stmt, code: Code, whatever: bool) -> bool:
    """Whether all that a statement keeps is text and numbers, in what the file never looks into again."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder), args=kept)):
            pass
        case ast.Assign(targets=[ast.Subscript(value=holder, slice=key)], value=value):
            kept = [key, value]
        case _:
            return False
    name = dotted(holder)
    return bool(name) and (whatever or all(map(_is_text, kept))) and not _read_back(name, code)


def _is_text(value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.JoinedStr() | ast.Attribute(attr="name"):
            return True
        case ast.Call():
            return call_name(value) in _WRITING
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_is_text, parts))
        case ast.BinOp(left=left, right=right):
            return _is_text(left) or _is_text(right)
    return False


def _read_back(name: str, code: Code) -> bool:
    """Whether something is asked to be in a container, or a loop runs over it."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Compare(ops=ops, comparators=sides):
                read = [
                    side for op, side in zip(ops, sides, strict=True) if isinstance(op, ast.In | ast.NotIn)
                ]
            case ast.For(iter=over) | ast.comprehension(iter=over):
                read = [over]
            case _:
                continue
        if any(dotted(part) == name for side in read for part in ast.walk(side)):
            return True
    return False
