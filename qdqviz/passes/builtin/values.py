"""What an op would compute: its dtype and shape, found by running it on fake tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Node
from torch.fx.node import map_arg


@dataclass(frozen=True)
class Computed:
    """The outcome of running an op on fake tensors."""

    value: Any = None
    """The fake result; None where it is unknown."""

    error: str = ""
    """What the op said, if it cannot run on these inputs."""

    @property
    def failed(self) -> bool:
        """Whether the op refused its inputs; an unknown value is no failure."""
        return bool(self.error)


UNKNOWN = Computed()
"""Some input has no value in its metadata, so nothing can be said of the result."""


def value_of(node: Node) -> Any:
    """Returns a node's value: from its metadata, or the constant that it fetches; None if unknown."""
    value = node.meta.get("val")
    return fetched(node) if value is None else value


def fetched(node: Node) -> torch.Tensor | None:
    """Returns the tensor that a get_attr node fetches; None for any other node."""
    found: Any = node.graph.owning_module if node.op == "get_attr" else None
    for part in str(node.target).split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, torch.Tensor) else None


def compute(
    target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], known: Mapping[Node, Any] | None = None
) -> Computed:
    """Runs an op on the fake values of its arguments.

    Args:
        target: The op, of either dialect.
        args: Its arguments, with nodes for values.
        kwargs: The same, by name.
        known: Values to use instead of what the nodes' metadata says: how the graph will be.

    Returns:
        The result, unknown if a value is missing, or what the op said if it refused.
    """
    replaced = known or {}
    values: dict[Node, Any] = {}

    def collect(node: Node) -> Node:
        values[node] = replaced[node] if node in replaced else value_of(node)
        return node

    map_arg((args, dict(kwargs)), collect)
    if any(value is None for value in values.values()):
        return UNKNOWN
    with _fake_mode(values) as mode:
        fake = {node: _as_fake(mode, value) for node, value in values.items()}
        try:
            named = map_arg(dict(kwargs), fake.__getitem__)
            return Computed(target(*map_arg(args, fake.__getitem__), **named))
        except Exception as error:  # noqa: BLE001  an op may refuse in any way; what it said is kept
            return Computed(error=f"{type(error).__name__}: {error}".splitlines()[0])


def compute_node(node: Node, known: Mapping[Node, Any]) -> Computed:
    """Runs a node's op as it stands, with other values for some of its inputs."""
    return compute(node.target, node.args, node.kwargs, known)


@contextlib.contextmanager
def _fake_mode(values: Mapping[Node, Any]) -> Iterator[FakeTensorMode]:
    mode = detect_fake_mode(list(values.values())) or FakeTensorMode()
    with torch.no_grad(), mode, enable_python_dispatcher():
        yield mode


def _as_fake(mode: FakeTensorMode, value: Any) -> Any:
    if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor):
        return mode.from_tensor(value, static_shapes=True)
    return value
