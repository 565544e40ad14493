"""The guards of the built-in passes: found in their source, and listened to while a pass runs."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from typing import Any
from unittest import mock

import pass_cases_other
import pass_cases_reorder
from pass_case import Case
from torch.fx import GraphModule

from qdqviz.passes.names import builtin_path

CASES = [*pass_cases_reorder.CASES.all, *pass_cases_other.CASES.all]
IDS = [f"{each.name}-{each.guard}" for each in CASES]


def pass_module(name: str) -> Any:
    return importlib.import_module(builtin_path(name).partition(":")[0])


def run_pass(name: str, module: GraphModule) -> Any:
    return getattr(pass_module(name), name)()(module)


def asked_in(name: str) -> list[ast.expr]:
    """The tests of a pass that end in `continue`, in its source's order, each operand by itself."""
    tree = ast.parse(inspect.getsource(pass_module(name)))
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.If) and _continues(node)]
    parts = [part for test in tests for part in (test.values if isinstance(test, ast.BoolOp) else [test])]
    return sorted(parts, key=lambda part: (part.lineno, part.col_offset))


def _continues(node: ast.If) -> bool:
    return len(node.body) == 1 and isinstance(node.body[0], ast.Continue)


def predicate(test: ast.expr) -> str:
    """The predicate that a test asks, of one node or of any of several; empty for any other test."""
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Name):
        return ""
    if test.func.id == "any" and isinstance(test.args[0], ast.GeneratorExp):
        return predicate(test.args[0].elt)
    return test.func.id


def guards_in(name: str) -> list[str]:
    """The predicates that a pass tests before a `continue`, each once, in its source's order."""
    return list(dict.fromkeys(map(predicate, asked_in(name))))


def reason_of(each: Case) -> str:
    """The first line of the guard's docstring."""
    return inspect.getdoc(getattr(pass_module(each.name), each.guard)).splitlines()[0]


def turned_down(each: Case) -> list[str]:
    """The nodes that the guard turns down, by name, in the order in which the pass comes to them."""
    module = pass_module(each.name)
    guard = getattr(module, each.guard)
    found: dict[str, None] = {}

    def listened(*args: object) -> bool:
        said = bool(guard(*args))
        frame = sys._getframe(1)
        while "node" not in frame.f_locals and frame.f_back is not None:  # a generator expression
            frame = frame.f_back
        if said:
            found[frame.f_locals["node"].name] = None
        return said

    with mock.patch.object(module, each.guard, listened):
        run_pass(each.name, each.build())
    return list(found)


def case_node(each: Case) -> str:
    """The node that a case is about."""
    return next(name for name in turned_down(each) if each.focus in name)
