"""What an op would compute: its dtype and shape, found by running it on fake tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Node
from torch.fx.node import map_arg

MOST_DERIVED = 64
"""How many nodes without a value are worked out at most to know one: PT2E leaves out one or two in a row."""


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
"""Some input has no known value, so nothing can be said of the result."""


def value_of(node: Node) -> Any:
    """Returns a node's value: stored, its constant, or worked out from its inputs; None if unknown.

    PT2E leaves the nodes that it inserts without a value, and the constants too.
    """
    if (value := _stored(node)) is not None:
        return value
    missing = _missing_above(node)
    derived: dict[Node, Any] = {}
    for each in sorted(missing):
        derived[each] = _run(each.target, each.args, each.kwargs, derived).value
    return derived.get(node)


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
        known: Values to use instead of what the nodes have now: how the graph will be.

    Returns:
        The result, unknown if a value is missing, or what the op said if it refused.
    """
    return _run(target, args, kwargs, known or {})


def compute_node(node: Node, known: Mapping[Node, Any] | None = None) -> Computed:
    """Runs a node's op as it stands, with other values for some of its inputs if they are given."""
    return compute(node.target, node.args, node.kwargs, known)


def _stored(node: Node) -> Any:
    value = node.meta.get("val")
    return fetched(node) if value is None else value


def _missing_above(node: Node) -> list[Node]:
    """The ops without a value that a node's value depends on, itself included; none if one is unknowable."""
    missing: dict[Node, None] = {}
    todo = [node]
    while todo:
        current = todo.pop()
        if current in missing or _stored(current) is not None:
            continue
        if current.op != "call_function" or len(missing) == MOST_DERIVED:
            return []
        missing[current] = None
        todo.extend(current.all_input_nodes)
    return list(missing)


def _run(target: Any, args: Any, kwargs: Any, known: Mapping[Node, Any]) -> Computed:
    values: dict[Node, Any] = {}

    def collect(node: Node) -> Node:
        values[node] = known[node] if node in known else value_of(node)
        return node

    map_arg((args, dict(kwargs)), collect)
    if any(value is None for value in values.values()):
        return UNKNOWN
    mode = _mode_of(values)
    with torch.no_grad(), mode, enable_python_dispatcher():
        fake = {node: _in_mode(mode, value) for node, value in values.items()}
        try:
            named = map_arg(dict(kwargs), fake.__getitem__)
            return Computed(target(*map_arg(args, fake.__getitem__), **named))
        except Exception as error:  # noqa: BLE001  an op may refuse in any way; what it said is kept
            return Computed(error=f"{type(error).__name__}: {error}".splitlines()[0])


def _mode_of(values: Mapping[Node, Any]) -> FakeTensorMode:
    """The mode of the values, or else of the graph: fake tensors of two modes do not mix."""
    mode = _first_mode(values.values())
    for node in values:
        mode = mode or _first_mode(other.meta.get("val") for other in node.graph.nodes)
    return mode or FakeTensorMode()


def _first_mode(values: Iterable[Any]) -> FakeTensorMode | None:
    return next((value.fake_mode for value in values if isinstance(value, FakeTensor)), None)


def _in_mode(mode: FakeTensorMode, value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or (isinstance(value, FakeTensor) and value.fake_mode is mode):
        return value
    if isinstance(value, FakeTensor):
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=value.device)
    return mode.from_tensor(value, static_shapes=True)
