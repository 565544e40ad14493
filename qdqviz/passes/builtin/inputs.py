"""What the passes ask about an op's input."""

from __future__ import annotations

from torch.fx import Node

from qdqviz.passes.builtin.ops import tensor_input


def reads_no_node(node: Node) -> bool:
    """It works on a constant that is written into the call, and on no value of the graph."""
    return tensor_input(node) is None
