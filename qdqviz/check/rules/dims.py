"""Where a dimension goes when data is moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeAlias

from qdqviz.ir.node import Dim, NodeState, OpInfo, SymDim
from qdqviz.ir.roles import op_name
from qdqviz.ir.values import ListArg, Value

Shape: TypeAlias = Sequence[Dim]
Carried: TypeAlias = "list[int | None]"
"""For each output dimension the input dimension that it carries whole and in order; or None."""


def dim_after(
    node: NodeState, before: Shape, after: Shape, dim: int, ops: Mapping[str, OpInfo]
) -> int | None:
    """The dimension of an op's output that carries a dimension of its input; None if none, or unknown."""
    carried = _carried(node, before, after, ops)
    return carried.index(dim) if carried is not None and dim in carried else None


def dim_before(
    node: NodeState, before: Shape, after: Shape, dim: int, ops: Mapping[str, OpInfo]
) -> int | None:
    """The dimension of an op's input that a dimension of its output carries; None if none, or unknown."""
    carried = _carried(node, before, after, ops)
    return carried[dim] if carried is not None and dim < len(carried) else None


def _carried(node: NodeState, before: Shape, after: Shape, ops: Mapping[str, OpInfo]) -> Carried | None:
    rule = _RULES.get(op_name(node.target).plain)
    if rule is None:
        return None
    try:
        return rule(_Arguments(node, ops), before, after)
    except (TypeError, IndexError):  # arguments that are no numbers
        return None


class _Arguments:
    def __init__(self, node: NodeState, ops: Mapping[str, OpInfo]) -> None:
        self._node = node
        self._info = ops.get(node.target) or OpInfo(node.target, ())

    def get(self, name: str, position: int) -> Value:
        """An argument by its parameter's name, or by position where the op has no schema."""
        if self._info.params:
            return self._info.argument(self._node, name)
        return self._node.args[position] if position < len(self._node.args) else None

    def dims(self, name: str, rank: int, position: int = 1) -> list[int]:
        value = self.get(name, position)
        items = value.items if isinstance(value, ListArg) else value if isinstance(value, tuple) else (value,)
        return [int(item) % rank for item in items]  # type: ignore[arg-type]


def _same(_: _Arguments, before: Shape, after: Shape) -> Carried:
    return list(range(len(before)))


def _permute(arguments: _Arguments, before: Shape, after: Shape) -> Carried:
    return list(arguments.dims("dims", len(before)))


def _transpose(arguments: _Arguments, before: Shape, after: Shape) -> Carried:
    rank = len(before)
    first, second = arguments.dims("dim0", rank, 1)[0], arguments.dims("dim1", rank, 2)[0]
    order: Carried = list(range(rank))
    order[first], order[second] = second, first
    return order


def _flipped(_: _Arguments, before: Shape, after: Shape) -> Carried:
    return [1, 0] if len(before) == 2 else list(range(len(before)))


def _unsqueeze(arguments: _Arguments, before: Shape, after: Shape) -> Carried:
    order: Carried = list(range(len(before)))
    order.insert(arguments.dims("dim", len(before) + 1)[0], None)
    return order


def _squeeze(arguments: _Arguments, before: Shape, after: Shape) -> Carried:
    given = arguments.get("dim", 1)
    dims = range(len(before)) if given is None else arguments.dims("dim", len(before))
    return [dim for dim in range(len(before)) if not (dim in dims and before[dim] == 1)]


def _expand(_: _Arguments, before: Shape, after: Shape) -> Carried:
    added = len(after) - len(before)
    kept: Carried = [dim if size == after[dim + added] else None for dim, size in enumerate(before)]
    return [None] * added + kept


def _slice(_: _Arguments, before: Shape, after: Shape) -> Carried:
    return [dim if before[dim] == after[dim] else None for dim in range(len(before))]


def _select(arguments: _Arguments, before: Shape, after: Shape) -> Carried:
    gone = arguments.dims("dim", len(before))[0]
    return [dim for dim in range(len(before)) if dim != gone]


def _view(_: _Arguments, before: Shape, after: Shape) -> Carried:
    """A dimension survives where as many elements stand behind it as before, and it is as long."""
    return [_viewed(before, after, dim) for dim in range(len(after))]


def _viewed(before: Shape, after: Shape, dim: int) -> int | None:
    if after[dim] == 1:
        return None
    behind = _product(after[dim + 1 :])
    for candidate, size in enumerate(before):
        if size == after[dim] and _product(before[candidate + 1 :]) == behind:
            return candidate
    return None


def _product(sizes: Shape) -> tuple[int, tuple[str, ...]]:
    """A product of sizes: the known part, and the expressions of the rest."""
    known = prod(size for size in sizes if isinstance(size, int))
    return known, tuple(sorted(size.expr for size in sizes if isinstance(size, SymDim)))


_RULES: Mapping[str, Callable[[_Arguments, Shape, Shape], Carried]] = {
    "clone": _same,
    "clone_dim_order": _same,
    "to_dim_order": _same,
    "contiguous": _same,
    "alias": _same,
    "detach": _same,
    "permute": _permute,
    "transpose": _transpose,
    "t": _flipped,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "expand": _expand,
    "slice": _slice,
    "select": _select,
    "view": _view,
    "reshape": _view,
    "unsafe_view": _view,
    "flatten": _view,
}
