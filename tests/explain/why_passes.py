"""Private passes that show one verdict each."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager

ATEN = torch.ops.aten


def is_relu(node: torch.fx.Node) -> bool:
    """It is a relu."""
    return node.op == "call_function" and node.target == ATEN.relu.default


def replace(node: torch.fx.Node, target: Any) -> torch.fx.Node:
    with node.graph.inserting_after(node):
        new = node.graph.call_function(target, node.args)
    node.replace_all_uses_with(new)
    node.graph.erase_node(node)
    return new


class ReluToTanh(PassBase):
    """Replaces relus with one user."""

    def call(self, module):
        for node in module.graph.nodes:
            if is_relu(node) and len(node.users) == 1:
                replace(node, ATEN.tanh.default)
        return PassResult(module, True)


class FirstReluOnly(PassBase):
    """Replaces the first relu and stops."""

    def call(self, module):
        for node in module.graph.nodes:
            if is_relu(node):
                replace(node, ATEN.tanh.default)
                break
        return PassResult(module, True)


class StopsAtSigmoid(PassBase):
    """Looks no further than the first sigmoid."""

    def call(self, module):
        for node in module.graph.nodes:
            if node.target == ATEN.sigmoid.default:
                break
            if is_relu(node) and len(node.users) == 1:
                replace(node, ATEN.tanh.default)
        return PassResult(module, True)


class OnlyWithTanh(PassBase):
    """Does nothing unless there is a tanh."""

    def call(self, module):
        if not any(node.target == ATEN.tanh.default for node in module.graph.nodes):
            return PassResult(module, False)
        for node in module.graph.nodes:
            if is_relu(node):
                replace(node, ATEN.tanh.default)
        return PassResult(module, True)


class Filtered(PassBase):
    """Collects what it will replace in a comprehension."""

    def call(self, module):
        chosen = [node for node in module.graph.nodes if is_relu(node) and len(node.users) == 1]
        for node in chosen:
            replace(node, ATEN.tanh.default)
        return PassResult(module, bool(chosen))


class FiltersAll(PassBase):
    """Its comprehension keeps nothing: no loop looks at a node."""

    def call(self, gm):
        for node in [n for n in gm.graph.nodes if n.target is ATEN.relu.default and len(n.users) == 9]:
            replace(node, ATEN.tanh.default)
        return PassResult(gm, False)


class LooksOnly(PassBase):
    """Tests nodes and does nothing."""

    def call(self, gm):
        for node in gm.graph.nodes:
            if is_relu(node):
                pass
        return PassResult(gm, False)


class Raises(PassBase):
    """Raises at the first sigmoid."""

    def check(self, node):
        if node.target == ATEN.sigmoid.default:
            raise ValueError("no sigmoid, please")

    def call(self, module):
        for node in module.graph.nodes:
            self.check(node)
        return PassResult(module, False)


class AssertsShape(PassBase):
    """Asserts what it takes for granted."""

    def call(self, module):
        for node in module.graph.nodes:
            if node.target == ATEN.add.Tensor:
                assert len(node.users) > 7, "add is shared"
        return PassResult(module, False)


class SetsSameArgs(PassBase):
    """Writes the arguments that are there already."""

    def call(self, module):
        for node in module.graph.nodes:
            if is_relu(node):
                node.args = node.args
        return PassResult(module, True)


class Outer(PassBase):
    """Leaves everything to another pass."""

    def call(self, module):
        return ReluToTanh()(module)


class Managed(PassBase):
    """Leaves everything to another pass, through a pass manager."""

    def call(self, module):
        return PassManager([ReluToTanh()])(module)


class FoldsNegIntoAdd(PassBase):
    """Looks at adds, and takes a neg in front of them away."""

    def call(self, module):
        graph = module.graph
        for node in graph.find_nodes(op="call_function", target=ATEN.add.Tensor):
            left, right = node.args
            if left.target != ATEN.neg.default:
                continue
            with graph.inserting_before(node):
                new = graph.call_function(ATEN.sub.Tensor, (right, left.args[0]))
            node.replace_all_uses_with(new)
            graph.erase_node(node)
            if not left.users:
                graph.erase_node(left)
        return PassResult(module, True)


class Memo(PassBase):
    """Remembers what it found out about each op."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def is_wanted(self, target):
        if target in self.known:
            return self.known[target]
        wanted = self.find_out(target)
        self.known[target] = wanted
        return wanted

    def find_out(self, target):
        return target == ATEN.tanh.default

    def call(self, module):
        for node in module.graph.nodes:
            if node.op == "call_function" and self.is_wanted(node.target):
                replace(node, ATEN.relu.default)
        return PassResult(module, False)


class RootOnly(PassBase):
    """Looks at the outermost graph only."""

    def call(self, module):
        for node in module.graph.nodes:
            if is_relu(node) and len(node.users) == 1:
                replace(node, ATEN.tanh.default)
        return PassResult(module, False)


class Collects(PassBase):
    """Collects relus and does nothing with them."""

    def call(self, module):
        found = []
        for node in module.graph.nodes:
            if is_relu(node):
                found.append(node)
        return PassResult(module, False)


class NeedsZeroPoint(PassBase):
    """Asks for one of the arguments of the node before a relu, and for nothing else of it."""

    def call(self, module):
        for node in module.graph.nodes:
            if "relu" not in str(node.target):
                continue
            producer = node.args[0]
            if producer.args[2] != 0:
                replace(node, ATEN.tanh.default)
        return PassResult(module, False)
