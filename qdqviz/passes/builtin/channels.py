"""Where a channel dimension goes when data is moved: which output dimension carries which input dimension.

A per-channel dequantize scales each index of one dimension, its `axis`, by a factor of its own. Moved across
a permute it must name another axis; moved across a view that merges the channels with something else there
is no axis left to name. The answer here is the same for both directions, so that a quantize can be moved up
by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from torch.fx import Node

from qdqviz.passes.builtin.ops import argument, op_name, tensor_input
from qdqviz.passes.builtin.sizes import Size, is_static, normal_dimension, product, same_size, shape_of

Shape: TypeAlias = tuple[Size, ...]
Carried: TypeAlias = list[int | None]
"""For each output dimension the input dimension whose indices it carries, all of them in order; or None."""


def carried_dimensions(node: Node) -> Carried | None:
    """Returns which input dimension each output dimension of an op carries; None if shapes are unknown."""
    source = tensor_input(node)
    before = shape_of(source) if source is not None else None
    after = shape_of(node)
    rule = _RULES.get(op_name(node).split(".")[1].removesuffix("_copy")) if op_name(node) else None
    if before is None or after is None or rule is None:
        return None
    return rule(node, before, after)


def axis_below(node: Node, axis: int) -> int | None:
    """Returns the axis that names the channels in the op's output, given the axis in its input."""
    carried = carried_dimensions(node)
    source = tensor_input(node)
    before = shape_of(source) if source is not None else None
    if carried is None or before is None:
        return None
    axis = normal_dimension(axis, len(before))
    return carried.index(axis) if axis in carried else None


def axis_above(node: Node, axis: int) -> int | None:
    """Returns the axis that names the channels in the op's input, given the axis in its output."""
    carried = carried_dimensions(node)
    if carried is None or not carried:
        return None
    return carried[normal_dimension(axis, len(carried))]


def sliced_axis(node: Node) -> int | None:
    """Returns the dimension that a slice cuts, counted from the front; None for any other op."""
    source = tensor_input(node)
    before = shape_of(source) if source is not None else None
    if before is None or op_name(node) not in ("aten.slice.Tensor", "aten.slice_copy.Tensor"):
        return None
    return normal_dimension(argument(node, "dim"), len(before))


def _same(node: Node, before: Shape, after: Shape) -> Carried:
    return list(range(len(before)))


def _permute(node: Node, before: Shape, after: Shape) -> Carried:
    return [normal_dimension(dim, len(before)) for dim in argument(node, "dims")]


def _transpose(node: Node, before: Shape, after: Shape) -> Carried:
    first, second = (normal_dimension(argument(node, name), len(before)) for name in ("dim0", "dim1"))
    order: Carried = list(range(len(before)))
    order[first], order[second] = second, first
    return order


def _unsqueeze(node: Node, before: Shape, after: Shape) -> Carried:
    order: Carried = list(range(len(before)))
    order.insert(normal_dimension(argument(node, "dim"), len(after)), None)
    return order


def _squeeze(node: Node, before: Shape, after: Shape) -> Carried:
    """Only sizes of 1 go; a symbolic size was not 1 when the graph was made, and stays."""
    dims: list[int] = list(range(len(before)))
    if not op_name(node).endswith(".default"):
        given = argument(node, "dim")
        dims = [
            normal_dimension(dim, len(before))
            for dim in (given if isinstance(given, list | tuple) else [given])
        ]
    return [dim for dim in range(len(before)) if dim not in dims or not same_size(before[dim], 1)]


def _expand(node: Node, before: Shape, after: Shape) -> Carried:
    """A repeated dimension carries its one index many times: its channel has no place of its own."""
    added = len(after) - len(before)
    kept: Carried = [dim if same_size(size, after[dim + added]) else None for dim, size in enumerate(before)]
    return [None] * added + kept


def _slice(node: Node, before: Shape, after: Shape) -> Carried:
    return [dim if same_size(before[dim], after[dim]) else None for dim in range(len(before))]


def _select(node: Node, before: Shape, after: Shape) -> Carried:
    gone = normal_dimension(argument(node, "dim"), len(before))
    return [dim for dim in range(len(before)) if dim != gone]


def _unfold(node: Node, before: Shape, after: Shape) -> Carried:
    """The windowed dimension becomes two (which window, where in it); neither carries it whole."""
    windowed = normal_dimension(argument(node, "dimension"), len(before))
    return [None if dim == windowed else dim for dim in range(len(before))] + [None]


def _view(node: Node, before: Shape, after: Shape) -> Carried:
    """A dimension survives a view if it is as long, and each of its indices holds as many elements.

    In row-major order the index along a dimension is `flat // inner % size`, with `inner` the product of the
    sizes after it; the view keeps `flat`.
    """
    if any(is_static(size) and size == 0 for size in before):
        return [None] * len(after)
    return [_viewed(before, after, dim) for dim in range(len(after))]


def _viewed(before: Shape, after: Shape, dim: int) -> int | None:
    inner = product(after[dim + 1 :])
    for candidate, size in enumerate(before):
        if same_size(size, after[dim]) and same_size(product(before[candidate + 1 :]), inner):
            return candidate
    return None


_RULES: dict[str, Callable[[Node, Shape, Shape], Carried]] = {
    "clone": _same,
    "contiguous": _same,
    "expand": _expand,
    "flatten": _view,
    "permute": _permute,
    "reshape": _view,
    "select": _select,
    "slice": _slice,
    "squeeze": _squeeze,
    "transpose": _transpose,
    "unfold": _unfold,
    "unsqueeze": _unsqueeze,
    "view": _view,
}
