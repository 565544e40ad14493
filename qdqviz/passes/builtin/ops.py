"""Names of ops without their dialect: `aten.view_copy.default` is one op in aten and in edge graphs."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any

import torch
from torch.fx import Node

SIZE_QUERIES = frozenset({"aten.sym_size.int", "aten.sym_stride.int", "aten.sym_numel.default"})
"""Ops that read a tensor's shape and none of its values."""


def op_name(node: Node) -> str:
    """Returns `namespace.op.overload` of what a node calls; nothing for what is no op."""
    return _name(node.target)


def changes_its_input(kind: str, target: Any) -> bool:
    """Tells whether nodes of a kind (`call_function`, `call_method`) and target change a value in place."""
    if kind == "call_method":
        return str(target).endswith("_") and not str(target).endswith("__")
    overload = _overload(target)
    return overload is not None and bool(overload._schema.is_mutable)


def is_edge_op(node: Node) -> bool:
    """Tells whether a node calls an op of the edge dialect."""
    return type(node.target).__name__ == "EdgeOpOverload"


def same_dialect(node: Node, name: str) -> Any:
    """Returns the op of a name such as `aten.add.Tensor`, in the dialect of what `node` calls."""
    if is_edge_op(node):
        from executorch.exir.dialects._ops import ops as edge_ops

        found = edge_ops.edge
    else:
        found = torch.ops
    for part in name.split("."):
        found = getattr(found, part)
    return found


def argument(node: Node, name: str) -> Any:
    """Returns an argument by its name in the op's schema, however it was passed; its default if it was not.

    Raises:
        KeyError: The op has no such argument.
    """
    if name in node.kwargs:
        return node.kwargs[name]
    parameters = _parameters(node.target)
    if name not in parameters:
        raise KeyError(f"{op_name(node)} has no argument {name}")
    position, default = parameters[name]
    return node.args[position] if position < len(node.args) else default


def arguments_with(node: Node, **new: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns a node's args and kwargs with some of them replaced, each passed the way that it was."""
    args = list(node.args)
    kwargs = dict(node.kwargs)
    parameters = _parameters(node.target)
    for name, value in new.items():
        position, _ = parameters.get(name, (len(args), None))
        if name in kwargs or position >= len(args):
            kwargs[name] = value
        else:
            args[position] = value
    return tuple(args), kwargs


def tensor_input(node: Node) -> Node | None:
    """Returns the node whose value an op works on: its first argument, by position or by name."""
    first = node.args[0] if node.args else node.kwargs.get(next(iter(_parameters(node.target)), ""))
    return first if isinstance(first, Node) else None


def source_of(node: Node) -> Node:
    """Returns the node whose value an op works on, where there is one."""
    source = tensor_input(node)
    assert source is not None, node
    return source


def _overload(target: Any) -> Any:
    op = target._op if type(target).__name__ == "EdgeOpOverload" else target
    return op if isinstance(op, torch._ops.OpOverload) else None


@lru_cache(maxsize=4096)
def _name(target: Any) -> str:
    overload = _overload(target)
    if overload is None:
        return "getitem" if target is operator.getitem else ""
    return f"{overload._schema.name.replace('::', '.')}.{overload._overloadname}"


@lru_cache(maxsize=4096)
def _parameters(target: Any) -> dict[str, tuple[int, Any]]:
    """Names of an op's parameters, each with its position and its default; to be read only."""
    overload = _overload(target)
    parameters = () if overload is None else overload._schema.arguments
    return {each.name: (position, each.default_value) for position, each in enumerate(parameters)}
