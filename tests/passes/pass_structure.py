"""Graphs compared by structure: the same ops on the same data, whatever the nodes are called."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import GraphModule, Node


@dataclass(frozen=True)
class Structure:
    """What a graph computes and in which order, without names."""

    nodes: tuple[int, ...]
    """One number for each node in execution order; equal numbers compute the same from the same inputs."""

    outputs: Any
    """The outputs' numbers."""

    labels: dict[int, str]
    """What the numbers stand for, for messages."""

    @property
    def dataflow(self) -> tuple[Any, Any]:
        """The structure without the order."""
        return Counter(self.nodes), self.outputs


class Structures:
    """Numbers the nodes of several graphs alike."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def of(self, module: GraphModule) -> Structure:
        """The structure of a graph's live part."""
        live = live_nodes(module)
        placeholders = itertools.count()
        numbers: dict[Node, int] = {}
        labels = {}
        order = []
        outputs: Any = None
        for node in module.graph.nodes:
            if node.op == "placeholder":
                key: Any = ("placeholder", next(placeholders))
            elif node.op == "output":
                outputs = _frozen(node.args[0], numbers)
                continue
            elif node not in live:
                continue
            elif node.op == "get_attr":
                key = ("constant", _content(module, node.target))
            else:
                key = (_name(node.target), _bound(node, numbers))
            numbers[node] = self._numbers.setdefault(key, len(self._numbers))
            labels[numbers[node]] = str(key)
            order.append(numbers[node])
        return Structure(tuple(order), outputs, labels)


def same_dataflow(first: GraphModule, second: GraphModule) -> bool:
    """Whether two graphs compute the same in the same way."""
    structures = Structures()
    return structures.of(first).dataflow == structures.of(second).dataflow


def same_order(first: GraphModule, second: GraphModule) -> bool:
    """Whether two graphs compute the same in the same way and order."""
    structures = Structures()
    left, right = structures.of(first), structures.of(second)
    return (left.nodes, left.outputs) == (right.nodes, right.outputs)


def live_nodes(module: GraphModule) -> set[Node]:
    """The nodes that an output depends on."""
    todo = [node for node in module.graph.nodes if node.op == "output"]
    live: set[Node] = set()
    while todo:
        node = todo.pop()
        if node not in live:
            live.add(node)
            todo.extend(node.all_input_nodes)
    return live


def copy_of(module: GraphModule) -> GraphModule:
    """A copy whose graph can be edited; tensors and fake values are shared."""
    graph = torch.fx.Graph()
    values: dict[Node, Node] = {}
    output = graph.graph_copy(module.graph, values)
    graph.output(output)
    for old, new in zip(module.graph.nodes, graph.nodes, strict=True):
        new.meta = dict(old.meta)
    return GraphModule(module, graph)


def _name(target: Any) -> str:
    return f"{type(target).__name__} {getattr(target, '__name__', target)}"


def _bound(node: Node, numbers: dict[Node, int]) -> Any:
    """All arguments by name, defaults included."""
    op = getattr(node.target, "_op", node.target)
    if not isinstance(op, torch._ops.OpOverload):
        return _frozen((node.args, node.kwargs), numbers)
    bound = {}
    for position, parameter in enumerate(op._schema.arguments):
        given = node.args[position] if position < len(node.args) else parameter.default_value
        bound[parameter.name] = node.kwargs.get(parameter.name, given)
    return _frozen(bound, numbers)


def _frozen(value: Any, numbers: dict[Node, int]) -> Any:
    if isinstance(value, Node):
        return ("node", numbers[value])
    if isinstance(value, list | tuple):
        return tuple(_frozen(item, numbers) for item in value)
    if isinstance(value, dict):
        return tuple(sorted((key, _frozen(item, numbers)) for key, item in value.items()))
    if isinstance(value, float | int | bool | str | None):
        return (type(value).__name__, value)
    return str(value)


def _content(module: GraphModule, target: str) -> Any:
    found: Any = module
    for part in target.split("."):
        found = getattr(found, part)
    if isinstance(found, torch.Tensor) and not isinstance(found, FakeTensor):
        return (str(found.dtype), tuple(found.shape), bytes(found.detach().contiguous().numpy()))
    return target


def run(module: GraphModule, inputs: tuple[Any, ...]) -> list[Any]:
    """A graph's outputs on real inputs, in a flat list."""
    module.recompile()
    with torch.no_grad():
        return torch.utils._pytree.tree_flatten(module(*inputs))[0]


def equal_bits(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists of outputs agree in dtype, shape and every bit."""
    pairs = list(zip(first, second, strict=True))
    return all(
        left.dtype == right.dtype and left.shape == right.shape and torch.equal(left, right)
        for left, right in pairs
    )


def wrong_values(module: GraphModule) -> list[str]:
    """The nodes whose metadata disagrees with what their op computes, found by running every op in turn."""
    from torch._dispatch.python import enable_python_dispatcher
    from torch._guards import detect_fake_mode

    computed: dict[Node, Any] = {}
    wrong = []
    mode = detect_fake_mode([node.meta.get("val") for node in module.graph.nodes])
    for node in module.graph.nodes:
        stored = node.meta.get("val")
        if node.op != "call_function":
            computed[node] = stored
            continue
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), computed.__getitem__)
        with mode or contextlib.nullcontext(), enable_python_dispatcher():
            computed[node] = node.target(*args, **kwargs)
        if _kind(stored) != _kind(computed[node]):
            wrong.append(f"{node.name}: says {_kind(stored)}, computes {_kind(computed[node])}")
    return wrong


def shared_metadata(module: GraphModule) -> list[str]:
    """The nodes that share their metadata, or a dictionary in it, with another."""
    seen: dict[int, str] = {}
    shared = []
    for node in module.graph.nodes:
        for held in (node.meta, *(item for item in node.meta.values() if isinstance(item, dict))):
            if id(held) in seen and seen[id(held)] != node.name:
                shared.append(f"{node.name} and {seen[id(held)]}")
            seen[id(held)] = node.name
    return shared


def _kind(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return (value.dtype, [str(size) for size in value.shape])
    return str(value)
