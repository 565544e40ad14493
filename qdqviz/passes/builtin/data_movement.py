"""Ops that only move data: they can work on int8 as well as on fp32, and move a quarter of the bytes."""

from __future__ import annotations

from torch.fx import Node

from qdqviz.passes.builtin.ops import op_name, tensor_input
from qdqviz.passes.builtin.sizes import product, same_size, shape_of


def _both_forms(*names: str) -> frozenset[str]:
    """Each op as a view (aten graphs) and as a copy (edge graphs)."""
    forms = set()
    for name in names:
        op, overload = name.rsplit(".", 1)
        forms |= {f"aten.{op}.{overload}", f"aten.{op}_copy.{overload}"}
    return frozenset(forms)


SLICES = _both_forms("slice.Tensor", "select.int")
"""Ops that keep a part of a tensor."""

MOVEMENT = (
    _both_forms(
        "expand.default",
        "permute.default",
        "squeeze.default",
        "squeeze.dim",
        "squeeze.dims",
        "transpose.int",
        "unfold.default",
        "unsqueeze.default",
        "view.default",
    )
    | SLICES
    | {"aten.clone.default", "aten.contiguous.default", "aten.flatten.using_ints", "aten.reshape.default"}
)
"""Ops with one tensor in and one out whose every element is an element of the input, in the input's dtype.

Overloads count: `view.dtype` reinterprets bits. `chunk` and `split` return several tensors and are left out.
"""


def only_moves_data(node: Node) -> bool:
    """It only moves data itself: what can be gained starts at the op above it."""
    return op_name(node) in MOVEMENT


def does_more_than_move_data(node: Node) -> bool:
    """The op is not on the list of those that only move data (view, permute, slice, clone and the like)."""
    return op_name(node) not in MOVEMENT


def is_no_slice(node: Node) -> bool:
    """The op is neither a slice nor a select."""
    return op_name(node) not in SLICES


def keeps_only_a_part(node: Node) -> bool:
    """The slice keeps only a part: above it, the quantize would also work on what is thrown away."""
    if op_name(node) not in SLICES:
        return False
    source = tensor_input(node)
    before = shape_of(source) if source is not None else None
    after = shape_of(node)
    if before is None or after is None:
        return True
    return not same_size(product(before), product(after))
