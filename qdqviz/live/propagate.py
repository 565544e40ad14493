"""Computes `meta['val']` anew, on fake tensors, so that no value that a pass left stale survives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

InputValue = Callable[[Node], Any]
"""The fake value of a placeholder; None where nothing is known of it."""


class Propagator:
    """Runs graphs on fake tensors of one mode."""

    def __init__(self, mode: Any, known: Callable[[Node], Any]) -> None:
        """Take the fake mode that the program was traced in, and what `val` a node is remembered to have had.

        Args:
            mode: The FakeTensorMode.
            known: The `val` remembered of the node that a built node stands for, or None.
        """
        self._mode = mode
        self._known = known
        self.failed: dict[str, str] = {}
        """Why some values could not be computed, by the node's name."""

    def run(self, module: GraphModule, inputs: InputValue) -> None:
        """Set `val` on every node of a graph; what cannot be computed keeps what is remembered."""
        values: dict[Node, Any] = {}
        for node in module.graph.nodes:
            value = self._value(module, node, values, inputs)
            if value is _NOTHING:
                continue
            values[node] = value
            if not isinstance(value, torch.nn.Module):
                node.meta["val"] = value

    def _value(self, module: GraphModule, node: Node, values: dict[Node, Any], inputs: InputValue) -> Any:
        known = self._known(node)
        if node.op == "placeholder":
            return self._fake(inputs(node))
        if node.op == "get_attr":
            return self._fake(_attribute(module, str(node.target)))
        try:
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
            if node.op == "output":
                return args[0]
            with self._mode, torch.no_grad():
                found = _call(module, node, args, kwargs)
        except Exception as error:  # noqa: BLE001  a state that cannot be computed is still to be looked at
            self.failed[node.name] = str(error).splitlines()[0] if str(error) else type(error).__name__
            return _NOTHING if known is None else known
        # A fresh unbacked symbol stands for the same size as the one of the first tracing.
        return known if known is not None and _has_unbacked(found) else found

    def _fake(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor):
            return self._mode.from_tensor(value, static_shapes=True)
        return value


_NOTHING = object()
"""Stands for a value that is not known; None is a value."""


def fake_mode_of(values: list[Any]) -> Any | None:
    """The mode of the first fake tensor among values, or None."""
    for value in values:
        for leaf in pytree.tree_leaves(value):
            if isinstance(leaf, FakeTensor):
                return leaf.fake_mode
    return None


def new_fake_mode() -> Any:
    """A mode for programs that hold no fake tensor."""
    return FakeTensorMode(allow_non_fake_inputs=True)


def _call(module: GraphModule, node: Node, args: Any, kwargs: Any) -> Any:
    target: Any = node.target
    if node.op == "call_function":
        return target(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], target)(*args[1:], **kwargs)
    return _attribute(module, target)(*args, **kwargs)


def _attribute(module: Any, target: str) -> Any:
    for part in target.split("."):
        module = getattr(module, part)
    return module


def _has_unbacked(value: Any) -> bool:
    return any(
        bool(free_unbacked_symbols(leaf))
        for leaf in pytree.tree_leaves(value)
        if isinstance(leaf, torch.Tensor | torch.SymInt | torch.SymFloat | torch.SymBool)
    )
