"""A small program, and three versions of a pass on it, as files that the command line takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TARGET = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        first = torch.relu(x)
        second = torch.relu(first)
        third = torch.relu(second)
        return second + 1.0, third * 2.0, torch.relu(x - 1.0) * 3.0


def build():
    inputs = (torch.linspace(-2.0, 2.0, 16).reshape(4, 4),)
    return torch.export.export(Model(), inputs, strict=True)


def broken():
    raise RuntimeError("no such model")
"""

OLD = '''
import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult


def is_no_relu(node):
    """It is no relu."""
    return node.target is not torch.ops.aten.relu.default


def has_other_users(node):
    """Others read it, too."""
    return len(node.users) > 1


class DropRelu(PassBase):
    """Drops a relu behind a relu."""

    def call(self, graph_module):
        for node in list(graph_module.graph.nodes):
            if is_no_relu(node):
                continue
            if is_no_relu(node.args[0]):
                continue
            if has_other_users(node):
                continue
            node.replace_all_uses_with(node.args[0])
            graph_module.graph.erase_node(node)
        return PassResult(graph_module, True)
'''

GUARD = "            if has_other_users(node):\n                continue\n"
TEST = "            if is_no_relu(node.args[0]):\n                continue\n"
RAISING = '            raise RuntimeError("half way")\n'


@dataclass(frozen=True)
class Tiny:
    """What the command line takes."""

    target: str
    """By hand: relu of x, read by relu_1, read by an add and relu_2, which a mul reads; relu_3 of a sub."""
    broken: str
    """A target that does not load."""
    old: str
    """Drops relu_2: relu and relu_3 read no relu, relu_1 has two users."""
    new: str
    """Without the guard about other users: drops relu_1 and relu_2, both to no effect on the values."""
    wrong: str
    """Without the test that a relu is read: drops relu and relu_3, too, of which only relu_3 matters."""
    raising: str
    """Raises where it would drop relu_2."""


def write_tiny(folder: Path) -> Tiny:
    """Write the files."""

    def write(name: str, text: str) -> str:
        (folder / name).write_text(text, encoding="utf-8")
        return f"{folder / name}"

    assert OLD.count(GUARD) == OLD.count(TEST) == 1
    target = write("tiny_target.py", TARGET)
    return Tiny(
        f"{target}:build",
        f"{target}:broken",
        f"{write('tiny_old.py', OLD)}:DropRelu",
        f"{write('tiny_new.py', OLD.replace(GUARD, ''))}:DropRelu",
        f"{write('tiny_wrong.py', OLD.replace(TEST, ''))}:DropRelu",
        f"{write('tiny_raising.py', OLD.replace(GUARD, GUARD + RAISING))}:DropRelu",
    )
