"""A program and two passes on it, for what needs a real recording: `tiny_program.py:build`."""

import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult


class Net(torch.nn.Module):
    def forward(self, x):
        squares = torch.relu(x * x)
        total = torch.relu(squares + torch.relu(x))
        return total.neg(), total * 2.0


def build():
    return Net(), (torch.linspace(-2.0, 2.0, 8),)


def is_relu(node):
    """The node is a relu."""
    return node.op == "call_function" and node.target is torch.ops.aten.relu.default


class DropRelu(PassBase):
    """Right where the input has no negative values, wrong elsewhere."""

    def call(self, graph_module):
        for node in list(graph_module.graph.nodes):
            if not is_relu(node):
                continue
            if len(node.users) != 1:
                continue
            node.replace_all_uses_with(node.args[0])
            graph_module.graph.erase_node(node)
        graph_module.recompile()
        return PassResult(graph_module, True)


class SwapAdds(PassBase):
    def call(self, graph_module):
        for node in graph_module.graph.nodes:
            if node.target is torch.ops.aten.add.Tensor:
                node.args = node.args[::-1]
        graph_module.recompile()
        return PassResult(graph_module, True)
