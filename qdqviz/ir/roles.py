"""What a node is for: the role that gives it its colour, its lane and its place in a picture.

Decided from the name of what is called, alike for every dialect and namespace: `aten.permute.default`,
`edge.aten.permute_copy.default` and a backend's own `permute` are all data movement.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from qdqviz.ir.node import NodeState, ScalarSpec


class Role(StrEnum):
    """What a node is for."""

    QUANTIZE = "quantize"
    """Real values to integers (or a fake quantize, which does both ways at once)."""
    DEQUANTIZE = "dequantize"
    """Integers to real values."""
    REQUANTIZE = "requantize"
    """Integers to integers of another scale."""
    QPARAMS = "qparams"
    """Computes a scale and a zero point from values, in dynamic quantization."""
    MOVEMENT = "movement"
    """Moves, selects or repeats values without computing any: view, permute, slice, cat."""
    COMPUTE = "compute"
    """Computes new values."""
    CONSTANT = "constant"
    """A parameter, a buffer or another constant."""
    INPUT = "input"
    """What the user passes."""
    OUTPUT = "output"
    """What the graph returns."""
    GETITEM = "getitem"
    """Takes one output of a node that has several."""
    SYMBOLIC = "symbolic"
    """Computes a size or another number that is no tensor, or asserts something about one."""
    CONTROL = "control"
    """Runs sub-graphs: cond, map, while; and the sub-graphs that it runs."""
    DELEGATE = "delegate"
    """A part that was lowered to a backend, and the call of it."""


QUANTIZATION = frozenset({Role.QUANTIZE, Role.DEQUANTIZE, Role.REQUANTIZE})
"""Roles of the nodes whose outputs are the q/dq values."""

_RESHAPING = {
    "view",
    "reshape",
    "unsafe_view",
    "view_as",
    "flatten",
    "unflatten",
    "ravel",
    "squeeze",
    "unsqueeze",
}
_REORDERING = {
    "permute",
    "transpose",
    "t",
    "movedim",
    "moveaxis",
    "swapaxes",
    "flip",
    "roll",
    "rot90",
    "as_strided",
}
_SHUFFLING = {"pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle", "im2row"}
_SELECTING = {"slice", "select", "narrow", "index", "index_select", "gather", "diagonal", "unfold", "take"}
_SPLITTING = {"split", "split_with_sizes", "unsafe_split", "chunk", "unbind", "tensor_split"}
_JOINING = {
    "cat",
    "concat",
    "concatenate",
    "stack",
    "hstack",
    "vstack",
    "slice_scatter",
    "select_scatter",
    "index_put",
}
_REPEATING = {
    "expand",
    "expand_as",
    "repeat",
    "repeat_interleave",
    "tile",
    "broadcast_to",
    "transposed_im2row",
}
_PADDING = {
    "pad",
    "constant_pad_nd",
    "reflection_pad1d",
    "reflection_pad2d",
    "replication_pad1d",
    "replication_pad2d",
}
_COPYING = {
    "clone",
    "copy",
    "alias",
    "contiguous",
    "detach",
    "lift_fresh",
    "clone_dim_order",
    "to_dim_order",
    "nop",
}
_DMA = {"idma_copy", "idma_load", "idma_store", "idma_wait"}
MOVEMENT_OPS = frozenset[str]().union(
    *(
        _RESHAPING,
        _REORDERING,
        _SHUFFLING,
        _SELECTING,
        _SPLITTING,
        _JOINING,
        _REPEATING,
        _PADDING,
        _COPYING,
        _DMA,
    )
)
"""Ops that only move data, by base name without `_copy` and outer underscores."""

_CONTROL_OPS = {"cond", "map", "map_impl", "while_loop", "scan", "associative_scan"}
_SYMBOLIC_OPS = {"local_scalar_dense", "item", "assert_scalar", "assert_async", "assert_tensor_metadata"}
_PYTHON_ROOTS = frozenset({"torch", "operator", "_operator", "math", "builtins", "executorch", "functorch"})


@dataclass(frozen=True, slots=True)
class OpName:
    """A call target, taken apart."""

    namespace: str
    """`aten`, `quantized_decomposed`, `cadence`, ...; empty for a method or a bare function."""
    base: str
    """The op's name without namespace and overload: `view_copy`."""
    overload: str
    """`default`, `Tensor`, ...; empty for what has no overloads."""

    @property
    def plain(self) -> str:
        """The base name without `_copy`, outer underscores and an in-place underscore: `view`."""
        bare = self.base.strip("_")
        return bare.removesuffix("_copy").strip("_") or bare or self.base


@lru_cache(maxsize=4096)
def op_name(target: str) -> OpName:
    """Take a target's text apart, such as `edge.aten.view_copy.default`, `operator.getitem` or `relu`."""
    text = target.replace("::", ".").removeprefix("edge.").removeprefix("torch.ops.")
    parts = text.split(".")
    if len(parts) == 1:
        return OpName("", parts[0], "")
    if len(parts) == 3 and parts[0] not in _PYTHON_ROOTS:
        return OpName(*parts)
    return OpName(parts[0], parts[-1], "")


def role(node: NodeState) -> Role:
    """The role of a node."""
    kind = node.constant.kind if node.constant is not None else None
    match node.op:
        case "output":
            return Role.OUTPUT
        case "placeholder":
            return Role.INPUT if kind in (None, "user_input") else Role.CONSTANT
        case "get_attr":
            return {"graph": Role.CONTROL, "delegate": Role.DELEGATE}.get(kind or "", Role.CONSTANT)
        case "call_module":
            return Role.DELEGATE if "lowered_module" in node.target else Role.COMPUTE
    found = _call_role(op_name(node.target))
    if found is Role.COMPUTE and isinstance(node.spec, ScalarSpec):
        return Role.SYMBOLIC
    return found


def _call_role(name: OpName) -> Role:
    """The role of what is called, from its name alone."""
    plain = name.plain
    quantization = _quantization_role(plain)
    if quantization is not None:
        return quantization
    if plain == "getitem":
        return Role.GETITEM
    if plain in MOVEMENT_OPS:
        return Role.MOVEMENT
    if plain.endswith("call_delegate"):
        return Role.DELEGATE
    if plain in _CONTROL_OPS or name.namespace == "higher_order":
        return Role.CONTROL
    if plain in _SYMBOLIC_OPS or plain.startswith("sym_") or name.namespace == "executorch_prim":
        return Role.SYMBOLIC
    return Role.COMPUTE


def _quantization_role(plain: str) -> Role | None:
    """The role of a quantization op; `quantized_add` is none: it computes on quantized values."""
    if plain.startswith("choose_qparams"):
        return Role.QPARAMS
    for start, found in (
        ("quantize", Role.QUANTIZE),
        ("dequantize", Role.DEQUANTIZE),
        ("requantize", Role.REQUANTIZE),
        ("rescale", Role.REQUANTIZE),
        ("fake_quant", Role.QUANTIZE),
        ("fake_quantize", Role.QUANTIZE),
    ):
        if plain.lower() == start or plain.startswith(start + "_"):
            return found
    return None
