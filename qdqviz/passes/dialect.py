"""Which dialect's ops a pass looks for, told from its source: a best effort, for a warning only."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from typing import Any

from qdqviz.passes.entry import Dialect

_FRAMEWORK = ("torch.fx", "executorch.exir.pass_base", "abc", "builtins", "typing")


def dialect_of(subject: Any) -> Dialect | None:
    """Returns `edge` or `aten` if a pass class or function mentions ops of only that dialect, else None.

    The source of the class and of its bases outside the framework is read; if it names no ops, the
    module-level names that it uses are followed once.
    """
    kinds = inspect.getmro(subject) if inspect.isclass(subject) else (subject,)
    for kind in kinds:
        if str(getattr(kind, "__module__", "")).startswith(_FRAMEWORK):
            continue
        tree = _source_tree(kind)
        if tree is None:
            continue
        mentioned = _mentions(tree) or _mentions_of_globals(tree, sys.modules.get(kind.__module__))
        if mentioned:
            return mentioned.pop() if len(mentioned) == 1 else None
    return None


def _source_tree(kind: Any) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError, SyntaxError):
        return None


def _mentions(tree: ast.AST) -> set[Dialect]:
    found: set[Dialect] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            text = ast.unparse(node)
            if text.endswith("ops.edge"):
                found.add("edge")
            elif text == "torch.ops":
                found.add("aten")
    return found


def _mentions_of_globals(tree: ast.AST, module: Any) -> set[Dialect]:
    file = getattr(module, "__file__", None)
    if not file:
        return set()
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    try:
        with open(file, "rb") as source:
            body = ast.parse(source.read()).body
    except (OSError, SyntaxError, ValueError):
        return set()
    return {dialect for node in body if _assigned(node) & used for dialect in _mentions(node)}


def _assigned(node: ast.stmt) -> set[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Assign):
        targets = node.targets
    return {target.id for target in targets if isinstance(target, ast.Name)}
