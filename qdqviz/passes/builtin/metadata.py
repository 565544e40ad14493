"""Metadata of nodes: copied, never shared, and in agreement with what the node computes."""

from __future__ import annotations

import copy
from typing import Any

from torch.fx import Node
from torch.fx.passes.shape_prop import _extract_tensor_metadata

from qdqviz.passes.builtin.values import Computed


def copied_metadata(node: Node) -> dict[str, Any]:
    """Returns a copy of a node's metadata that shares no dictionary or list with it.

    A node that stands for the same place in the source keeps that place's stack trace, module stack,
    quantization tag and debug handle. None of them has to be there.
    """
    return {
        key: copy.copy(value) if isinstance(value, dict | list) else value for key, value in node.meta.items()
    }


def set_value(node: Node, computed: Computed) -> None:
    """Makes a node's metadata say what it now computes; an unknown value leaves no stale one behind."""
    if computed.value is None:
        for key in ("val", "tensor_meta", "spec"):
            node.meta.pop(key, None)
        return
    node.meta["val"] = computed.value
    if "tensor_meta" in node.meta:
        node.meta["tensor_meta"] = _extract_tensor_metadata(computed.value)
    if "spec" in node.meta:
        # ExecuTorch's TensorSpec, which is there from its SpecPropPass on.
        node.meta["spec"] = type(node.meta["spec"]).from_tensor(computed.value)
