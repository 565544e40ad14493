"""Metadata that names nodes, brought over to a copy of their graph."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from torch.fx import Node


def remapped(value: Any, nodes: Mapping[Node, Node]) -> Any:
    """The value with every node in it replaced by its copy; the value itself where it names none.

    Looks into tuples, lists, sets, dicts and dataclasses (a quantization annotation's `input_qspec_map` has
    nodes as keys, a shared quantization spec has a node or a pair of nodes).

    Args:
        value: A value of `node.meta`.
        nodes: The copy of each node of the graph.
    """
    if isinstance(value, Node):
        return nodes.get(value, value)
    if type(value) in (tuple, list, set):
        items = [remapped(item, nodes) for item in value]
        changed = any(new is not old for new, old in zip(items, value, strict=True))
        return type(value)(items) if changed else value
    if type(value) is dict:
        pairs = [(remapped(key, nodes), remapped(item, nodes)) for key, item in value.items()]
        changed = any(k is not a or v is not b for (k, v), (a, b) in zip(pairs, value.items(), strict=True))
        return dict(pairs) if changed else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _remapped_fields(value, nodes)
    return value


def _remapped_fields(value: Any, nodes: Mapping[Node, Node]) -> Any:
    result = value
    for field in dataclasses.fields(value):
        old = getattr(value, field.name, None)
        new = remapped(old, nodes)
        if new is not old:
            result = copy.copy(value) if result is value else result
            object.__setattr__(result, field.name, new)
    return result
