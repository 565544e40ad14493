"""Builds the torch.fx graphs of a state, with constants, sub-graphs and metadata in place."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from qdqviz.errors import NotCheckableError
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.ir.node import NodeState
from qdqviz.ir.values import TextRef, Value
from qdqviz.live.decode import Decoder
from qdqviz.live.store import Store
from qdqviz.trace.reader import Trace


@dataclass(frozen=True)
class Built:
    """The modules of one state."""

    root: Any
    """The torch.fx.GraphModule of the outermost graph; the others are its attributes."""
    modules: dict[str, Any]
    """GraphModule by path."""
    nodes: dict[int, Node]
    """Built node by identity."""


class Builder:
    """Builds one state of one subject."""

    def __init__(self, state: GraphState, store: Store, trace: Trace, subject: int, decoder: Decoder) -> None:
        self._state = state
        self._store = store
        self._trace = trace
        self._subject = subject
        self._decoder = decoder
        self._modules: dict[str, Any] = {}
        self._nodes: dict[int, Node] = {}

    def build(self) -> Built:
        """Build all graphs, inner ones first.

        Raises:
            NotCheckableError: A constant, target or argument is not held by the session.
        """
        for path in self._inner_first():
            self._modules[path] = self._module(path)
        return Built(self._modules[ROOT], self._modules, self._nodes)

    def _inner_first(self) -> list[str]:
        """Paths of the graphs reachable from the outermost, each after those that it names."""
        found: list[str] = []
        stack = [(ROOT, False)]
        while stack:
            path, done = stack.pop()
            if done:
                found.append(path)
            elif path not in found:
                stack.append((path, True))
                stack.extend((child, False) for child in children(self._state, path))
        return list(dict.fromkeys(found))

    def _module(self, path: str) -> Any:
        module = GraphModule(torch.nn.Module(), Graph())
        graph = Graph()
        body = self._state.body(path)
        for state in body:
            self._nodes[state.id] = self._node(graph, state)
        for state in body:
            self._set_arguments(state)
            if state.op in ("get_attr", "call_module"):
                _set_attribute(module, state.target, self._constant(state))
        self._set_metadata(list(body))
        module.graph = graph
        return module

    def _node(self, graph: Graph, state: NodeState) -> Node:
        target: Any = state.target
        if state.op == "call_function":
            if state.target not in self._store.targets:
                raise NotCheckableError(f"{state.target} of {state.name} is not held by this session")
            target = self._store.targets[state.target]
        node = graph.create_node(state.op, target, name=state.name)
        if node.name != state.name:
            node.name = state.name
        return node

    def _set_arguments(self, state: NodeState) -> None:
        node = self._nodes[state.id]
        known = self._store.nodes.get(state.id)
        args, kwargs = (None, None) if known is None else (known.args, known.kwargs or {})
        try:
            node.args = self._decoder.value(state.args, self._nodes.__getitem__, args)
            node.kwargs = {
                key: self._decoder.value(value, self._nodes.__getitem__, (kwargs or {}).get(key))
                for key, value in state.kwargs
            }
        except KeyError as error:
            raise NotCheckableError(f"{state.name} uses a node that does not exist at this step") from error
        except NotCheckableError as error:
            raise NotCheckableError(f"{state.name} ({state.target}): {error}") from error

    # -- constants ---------------------------------------------------------------------------------

    def _constant(self, state: NodeState) -> Any:
        constant = state.constant
        if constant is not None:
            if constant.kind == "graph":
                return self._modules[constant.target]
            if constant.kind == "delegate":
                found = self._store.delegates.get((self._subject, constant.target))
            elif constant.fingerprint is not None:
                found = _as_held(constant.kind, self._store.tensor(constant))
            else:
                found = self._store.objects.get(constant.target)
            if found is not None:
                return found
        raise NotCheckableError(f"what {state.name} fetches ({state.target}) is not held by this session")

    # -- metadata ----------------------------------------------------------------------------------

    def _set_metadata(self, states: list[NodeState]) -> None:
        for state in states:
            node = self._nodes[state.id]
            if state.shares_meta is not None and state.shares_meta in self._nodes:
                node.meta = self._nodes[state.shares_meta].meta
                continue
            remembered = self._store.nodes.get(state.id)
            for key, value in state.meta:
                known, found = self._meta_value(key, value, remembered.meta if remembered else {})
                if known:
                    node.meta[key] = found

    def _meta_value(self, key: str, value: Value, remembered: dict[str, Any]) -> tuple[bool, Any]:
        """A metadata value: plain ones as the trace has them, others as they are remembered."""
        if value is None or type(value) in (bool, int, float, str):
            return True, value
        if isinstance(value, TextRef) and key != "nn_module_stack":
            return True, self._trace.text(value.id)
        return key in remembered, copy.copy(remembered.get(key))


def children(state: GraphState, path: str) -> list[str]:
    """Paths of the graphs that the graph at `path` names, and that run here (no insides of delegates)."""
    constants = (node.constant for node in state.body(path))
    return [
        found.target
        for found in constants
        if found is not None and found.kind == "graph" and found.target in state.bodies
    ]


def _as_held(kind: str, tensor: Any) -> Any:
    if tensor is None or kind != "parameter":
        return tensor
    return torch.nn.Parameter(tensor, requires_grad=False)


def _set_attribute(module: Any, target: str, value: Any) -> None:
    """Set a dotted attribute, with plain modules on the way to it."""
    *outer, name = target.split(".")
    for part in outer:
        if not hasattr(module, part):
            module.add_module(part, torch.nn.Module())
        module = getattr(module, part)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        module.register_buffer(name, value, persistent=False)
    else:
        setattr(module, name, value)
