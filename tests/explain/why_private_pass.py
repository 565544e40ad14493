"""A private pass in a user's file, written from source text, and the graph that it runs on."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import torch
from why_recording import aten_graph

HELPER = '''
"""Predicates of a private pass."""
import torch


def has_one_user(node):
    """It has one user."""
    return len(node.users) == 1


def is_relu(node):
    """It is a relu."""
    return node.op == "call_function" and node.target == torch.ops.aten.relu.default
'''

HEADER = """
import functools
import torch
import private_predicates as predicates
from torch.fx.passes.infra.pass_base import PassBase, PassResult

RELU = torch.ops.aten.relu.default
NEG = torch.ops.aten.neg.default


def replace(node):
    with node.graph.inserting_after(node):
        new = node.graph.call_function(NEG, node.args)
    node.replace_all_uses_with(new)
    node.graph.erase_node(node)
"""


def private_module(folder: Path, name: str, source: str) -> ModuleType:
    """The module of that name in a user's folder, next to a module of predicates."""
    (folder / "private_predicates.py").write_text(HELPER)
    path = folder / f"{name}.py"
    path.write_text(HEADER + textwrap.dedent(source))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def graph() -> torch.fx.GraphModule:
    """relu(x) has two users, neg and sigmoid; their sum is doubled by an add with itself."""
    aten = torch.ops.aten

    def build(g, x):
        relu = g.call_function(aten.relu.default, (x,))
        neg = g.call_function(aten.neg.default, (relu,))
        sigmoid = g.call_function(aten.sigmoid.default, (relu,))
        total = g.call_function(aten.add.Tensor, (neg, sigmoid))
        return g.call_function(aten.add.Tensor, (total, total))

    return aten_graph(build, x=torch.randn(2, 3))
