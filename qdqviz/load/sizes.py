"""Tells symbolic sizes from code: the deserializers of `.pt2` files hand these strings to sympy's eval."""

from __future__ import annotations

import ast
import re

ALLOWED = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.Tuple,
    ast.Load,
    ast.keyword,
)
"""What may stand in a size besides constants, names and calls."""

LOWER_CASE_FUNCTIONS = frozenset({"floor", "ceiling", "sqrt", "log", "exp"})
"""Sympy functions that are not capitalized; all of Python's own functions are lower-case too."""

WORD = re.compile(r"[\w.+-]*")
"""What a string may hold: the name of a symbol, a number."""


def is_size(text: str) -> bool:
    """Whether evaluating `text` in sympy's namespace can only make an expression.

    `2*s0 + 1`, `Max(1, u0)` and `Symbol('s77', positive=True)` are sizes; attributes, subscripts,
    comprehensions, and calls of functions that are not sympy's are not.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_is_harmless(node) for node in ast.walk(tree))


def _is_harmless(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return name in LOWER_CASE_FUNCTIONS or name[:1].isupper()
    if isinstance(node, ast.Name):
        return "__" not in node.id
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str) or WORD.fullmatch(node.value) is not None
    return isinstance(node, ALLOWED)
