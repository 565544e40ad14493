"""Quantization parameters of a node: read by parameter name, with a fallback for nodes without a schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from qdqviz.ir.node import NodeState, OpInfo
from qdqviz.ir.roles import Role, op_name, role
from qdqviz.ir.values import Atom, ListArg, Ref, Value

NO_OPS: Mapping[str, OpInfo] = MappingProxyType({})
"""Says nothing about any target."""


@dataclass(frozen=True, slots=True)
class QParams:
    """How integers stand for real values: real = (integer - zero_point) * scale."""

    scheme: str
    """per_tensor, per_channel, per_channel_group, per_token, or affine (by block)."""
    scale: Value = None
    """A number, or a `Ref` to the node that holds the scales; None where the node computes or lacks it."""
    zero_point: Value = None
    """A number, or a `Ref` to the node that holds the zero points; None where there is none."""
    axis: int | None = None
    """Dimension with a scale of its own for each index; per_channel only."""
    quant_min: Value = None
    """Least integer."""
    quant_max: Value = None
    """Greatest integer."""
    dtype: str | None = None
    """dtype of the integers, without `torch.`."""
    real_dtype: str | None = None
    """dtype of the real values where the node names it."""
    block: tuple[int, ...] | None = None
    """Shape of the block (affine), or the one group size (per_channel_group), that shares a scale."""
    source: QParams | None = None
    """For a requantize: the parameters of its input; its own are those of its output."""

    @property
    def tensor_valued(self) -> bool:
        """True where the scale is the value of another node, not a number."""
        return isinstance(self.scale, Ref)


_RANGE = ("quant_min", "quant_max")
_TENSOR = ("input", "scale", "zero_point", "quant_min", "quant_max", "dtype")
_CHANNEL = ("input", "scales", "zero_points", "axis", "quant_min", "quant_max", "dtype")
_GROUP = ("input", "scales", "zero_points", "quant_min", "quant_max", "dtype", "group_size", "output_dtype")
_TOKEN = ("input", "scales", "zero_points", "quant_min", "quant_max", "dtype", "output_dtype")
_POSITIONAL: Mapping[str, tuple[str, ...]] = {
    "quantize_per_channel_group": _GROUP,
    "dequantize_per_channel_group": _GROUP,
    "quantize_per_channel": _CHANNEL,
    "dequantize_per_channel": _CHANNEL,
    "quantize_per_token": _TOKEN,
    "dequantize_per_token": _TOKEN,
    "quantize_affine": ("input", "block_size", "scale", "zero_point", "output_dtype", *_RANGE),
    "dequantize_affine": (
        "input",
        "block_size",
        "scale",
        "zero_point",
        "input_dtype",
        *_RANGE,
        "output_dtype",
    ),
    "quantize_per_tensor": _TENSOR,
    "dequantize_per_tensor": _TENSOR,
    "choose_qparams_per_token": ("input", "dtype"),
    "choose_qparams": ("input", "quant_min", "quant_max", "eps", "dtype"),
    "requantize": ("input", "in_scale", "in_zero_point", "out_scale", "out_zero_point", "out_dtype"),
    "dequantize": ("X", "X_scale", "X_zero_point"),
}
"""Parameters of `quantized_decomposed`, `torchao` and Cadence ops, from their schemas (torch 2.13).

The first key that an op's name starts with counts."""


def qparams(node: NodeState, ops: Mapping[str, OpInfo] = NO_OPS) -> QParams | None:
    """The quantization parameters that `node` applies, or None where it applies none.

    For a quantize or dequantize those of its integers; for a requantize those of its output, with the
    input's as `source`; for a computation on quantized values (`cadence.quantized_add`) those of its output;
    for `choose_qparams` the range and dtype that it chooses for, without scale.
    """
    kind = role(node)
    reader = _Reader(node, _info(node, ops))
    if kind is Role.REQUANTIZE:
        return _output_side(reader, source=_input_side(reader))
    if kind in (Role.QUANTIZE, Role.DEQUANTIZE, Role.QPARAMS):
        return _own(reader, kind)
    if kind is Role.COMPUTE and "quantized" in node.target:
        found = _output_side(reader, source=None)
        return None if found.scale is None and found.zero_point is None else found
    return None


class _Reader:
    """Reads a node's arguments by the first of several parameter names that it has."""

    def __init__(self, node: NodeState, info: OpInfo) -> None:
        self.node = node
        self.plain = op_name(node.target).plain
        self._info = info

    def any(self, *names: str) -> Value:
        found = (self._info.argument(self.node, name) for name in names)
        return next((value for value in found if value is not None), None)

    def dtype(self, *names: str) -> str | None:
        value = self.any(*names)
        return value.text if isinstance(value, Atom) else None


def _info(node: NodeState, ops: Mapping[str, OpInfo]) -> OpInfo:
    """What is known of the node's parameters: from the trace, else by position."""
    known = ops.get(node.target)
    if known is not None and known.params:
        return known
    plain = op_name(node.target).plain
    params = next((names for start, names in _POSITIONAL.items() if plain.startswith(start)), ())
    return OpInfo(node.target, params)


def _own(reader: _Reader, kind: Role) -> QParams:
    axis = reader.any("axis", "ch_axis")
    integers: tuple[str, ...]
    reals: tuple[str, ...]
    if kind is Role.DEQUANTIZE:
        integers, reals = ("input_dtype", "dtype"), ("out_dtype", "output_dtype")
    else:
        integers, reals = ("dtype", "target_dtype", "output_dtype"), ()
    return QParams(
        scheme=_scheme(reader.plain),
        scale=reader.any("scale", "scales", "X_scale"),
        zero_point=reader.any("zero_point", "zero_points", "X_zero_point"),
        axis=axis if isinstance(axis, int) else None,
        quant_min=reader.any("quant_min"),
        quant_max=reader.any("quant_max"),
        dtype=reader.dtype(*integers),
        real_dtype=reader.dtype(*reals),
        block=_block(reader.any("block_size", "group_size")),
    )


def _input_side(reader: _Reader) -> QParams:
    return QParams("per_tensor", reader.any("in_scale"), reader.any("in_zero_point", "input_zp"))


def _output_side(reader: _Reader, source: QParams | None) -> QParams:
    return QParams(
        scheme="per_tensor",
        scale=reader.any("out_scale", "output_scale"),
        zero_point=reader.any("out_zero_point", "output_zero_point", "output_zp"),
        dtype=reader.dtype("out_dtype", "output_dtype", "dtype"),
        source=source,
    )


def _scheme(plain: str) -> str:
    for scheme in ("per_channel_group", "per_channel", "per_token", "affine"):
        if scheme in plain and not (scheme == "affine" and "per_tensor" in plain):
            return scheme
    return "per_tensor"


def _block(value: Value) -> tuple[int, ...] | None:
    if isinstance(value, int):
        return (value,)
    items = value.items if isinstance(value, ListArg) else value if isinstance(value, tuple) else ()
    sizes = tuple(item for item in items if isinstance(item, int))
    return sizes or None
