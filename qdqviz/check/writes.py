"""Which nodes write to their inputs: graphs that hold one are run whole, since order counts in them."""

from __future__ import annotations

from collections.abc import Mapping

from qdqviz.ir.change import Insert, Update
from qdqviz.ir.node import NodeState, OpInfo
from qdqviz.trace.model import Rewrite

_IN_PLACE = frozenset(
    f"operator.{name}"
    for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "setitem")
)


def writes_to_inputs(node: NodeState, ops: Mapping[str, OpInfo]) -> bool:
    """Whether a node changes a value that others may see."""
    if node.op == "call_function":
        known = ops.get(node.target)
        return node.target in _IN_PLACE or (known is not None and known.mutates)
    if node.op == "call_method":
        return node.target.endswith("_") and not node.target.endswith("__")
    return False


def begins_to_write(rewrite: Rewrite, ops: Mapping[str, OpInfo]) -> bool:
    """Whether a rewrite brings in a node that writes to its inputs."""
    for change in rewrite.changes:
        if isinstance(change, Insert) and writes_to_inputs(change.node, ops):
            return True
        if isinstance(change, Update) and change.field == "target":
            known = ops.get(str(change.new))
            if known is not None and known.mutates:
                return True
    return False
