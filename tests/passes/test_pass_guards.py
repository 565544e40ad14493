"""Each guard of each built-in pass turns down what it should, is the one that does, and gives its reason."""

from __future__ import annotations

import ast
import contextlib
import inspect
from typing import Any
from unittest import mock

import pytest
from pass_case import Case
from pass_guarding import CASES, IDS, asked_in, guards_in, pass_module, predicate, run_pass
from pass_structure import copy_of, same_order
from torch.fx import GraphModule

from qdqviz.passes.names import BUILTIN_MODULES


def state(module: GraphModule) -> list[Any]:
    return [(node.name, str(node.args), sorted(node.meta)) for node in module.graph.nodes]


@pytest.mark.parametrize("each", CASES, ids=IDS)
def test_a_guard_keeps_the_pass_from_firing_and_alone(each: Case):
    module = each.build()
    before = copy_of(module)
    result = run_pass(each.name, module)
    assert result.modified is False
    assert same_order(before, module) and state(before) == state(module)
    assert True in answers(each)
    assert fires_without(each, each.guard, *each.behind)
    assert not any(fires_without(each, guard) for guard in each.behind)


def answers(each: Case) -> list[bool]:
    """What the guard says while the pass runs."""
    module = pass_module(each.name)
    guard = getattr(module, each.guard)
    said: list[bool] = []

    def listened(*args: Any) -> bool:
        said.append(bool(guard(*args)))
        return said[-1]

    with mock.patch.object(module, each.guard, listened):
        run_pass(each.name, each.build())
    return said


def fires_without(each: Case, *guards: str) -> bool:
    """Whether the pass rewrites, or fails in trying, when these guards let everything pass."""
    with contextlib.ExitStack() as stack:
        for guard in guards:
            stack.enter_context(mock.patch.object(pass_module(each.name), guard, lambda *_args: False))
        try:
            return bool(run_pass(each.name, each.build()).modified)
        except Exception:
            return True


@pytest.mark.parametrize("name", BUILTIN_MODULES)
def test_every_guard_has_a_case(name: str):
    covered = {each.guard for each in CASES if each.name == name}
    assert set(guards_in(name)) == covered


@pytest.mark.parametrize("name", BUILTIN_MODULES)
def test_no_guard_is_without_a_name(name: str):
    """What turns a node down is a predicate, or predicates joined by and/or: nothing else could say why."""
    assert asked_in(name)
    for test in asked_in(name):
        assert predicate(test), ast.unparse(test)


@pytest.mark.parametrize("name", BUILTIN_MODULES)
def test_every_guard_gives_its_reason_in_one_line(name: str):
    module = pass_module(name)
    for guard in guards_in(name):
        reason = inspect.getdoc(getattr(module, guard)).splitlines()[0]
        assert reason.endswith(".") and len(reason) > 20, guard
        assert not reason.startswith(("Return", "Tell", "Whether", "Check")), guard
