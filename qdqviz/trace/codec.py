"""Trace data to and from compact JSON; exact, and nothing in it can run."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from rpds import HashTrieMap

from qdqviz.ir.change import Change, Erase, Insert, Update
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.node import Constant, NodeState, OpInfo, ScalarSpec, Spec, SymDim, TensorSpec
from qdqviz.ir.values import Atom, DictArg, ListArg, NodeSeen, Ref, SliceArg, TextRef, Value

_PLAIN = frozenset({type(None), bool, int, float, str})

_SMALL = 1 << 12
"""Bytes that fit a small window; to make room for a large one takes twenty times as long as to fill it."""

_to_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def pack(data: Any) -> bytes:
    """JSON data as compressed bytes."""
    text = _to_text(data).encode()
    if len(text) > _SMALL:
        return zlib.compress(text, 1)
    small = zlib.compressobj(1, zlib.DEFLATED, 12, 5)
    return small.compress(text) + small.flush()


def unpack(blob: bytes) -> Any:
    """The JSON data that `pack` was given.

    Raises:
        ValueError: If the bytes are not what `pack` makes.
    """
    try:
        return json.loads(zlib.decompress(blob))
    except (zlib.error, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error


def value_to_json(value: Value) -> Any:
    """Encode an argument value; what is not plain becomes a tagged list."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    item: Any = value
    if kind is Ref:
        return ["r", item.node]
    if kind is tuple:
        return ["t", *map(value_to_json, item)]
    if kind is ListArg:
        return ["l", *map(value_to_json, item.items)]
    if kind is Atom:
        return ["a", item.kind, item.text]
    if kind is NodeSeen:
        return ["n", item.node, item.name]
    if kind is TextRef:
        return ["x", item.id]
    if kind is DictArg:
        return ["d", *(value_to_json(part) for pair in item.items for part in pair)]
    if kind is SliceArg:
        return ["s", *(value_to_json(part) for part in (item.start, item.stop, item.step))]
    if kind is complex:
        return ["c", item.real, item.imag]
    raise TypeError(f"not an argument value: {kind.__name__}")


def value_from_json(data: Any) -> Value:
    """Decode an argument value.

    Raises:
        ValueError: If a tag is unknown.
    """
    if type(data) is not list:
        return data  # type: ignore[no-any-return]
    tag = data[0]
    if tag == "r":
        return Ref(data[1])
    if tag == "t":
        return tuple(map(value_from_json, data[1:]))
    if tag == "l":
        return ListArg(tuple(map(value_from_json, data[1:])))
    if tag == "a":
        return Atom(data[1], data[2])
    if tag == "n":
        return NodeSeen(data[1], data[2])
    if tag == "x":
        return TextRef(data[1])
    if tag == "d":
        parts = [value_from_json(part) for part in data[1:]]
        return DictArg(tuple(zip(parts[::2], parts[1::2], strict=True)))
    if tag == "s":
        return SliceArg(*map(value_from_json, data[1:]))
    if tag == "c":
        return complex(data[1], data[2])
    raise ValueError(f"unknown value tag {tag!r}")


def spec_to_json(spec: Spec) -> Any:
    """Encode what is known of a node's value."""
    if spec is None:
        return None
    if isinstance(spec, TensorSpec):
        return ["T", spec.dtype, *([d.expr, d.hint] if isinstance(d, SymDim) else d for d in spec.shape)]
    if isinstance(spec, ScalarSpec):
        return ["S", spec.type, spec.text]
    return ["M", *map(spec_to_json, spec)]


def spec_from_json(data: Any) -> Spec:
    """Decode what is known of a node's value."""
    if data is None:
        return None
    if data[0] == "T":
        return TensorSpec(data[1], tuple(SymDim(*d) if type(d) is list else d for d in data[2:]))
    if data[0] == "S":
        return ScalarSpec(data[1], data[2])
    return tuple(map(spec_from_json, data[1:]))


def _constant_to_json(constant: Constant | None) -> Any:
    if constant is None:
        return None
    fields = [constant.kind, constant.target, constant.fingerprint, spec_to_json(constant.spec)]
    return fields if constant.extent is None else [*fields, *constant.extent]


def _constant_from_json(data: Any) -> Constant | None:
    if data is None:
        return None
    spec = spec_from_json(data[3])
    extent = (data[4], data[5]) if len(data) > 4 else None
    return Constant(data[0], data[1], data[2], spec if isinstance(spec, TensorSpec) else None, extent)


def _pairs_to_json(pairs: Sequence[tuple[str, Value]]) -> Any:
    return [part for key, value in pairs for part in (key, value_to_json(value))]


def _pairs_from_json(data: Any) -> tuple[tuple[str, Value], ...]:
    return tuple(zip(data[::2], map(value_from_json, data[1::2]), strict=True))


def node_to_json(node: NodeState) -> list[Any]:
    """Encode a node."""
    return [
        node.id,
        node.order.hex(),
        node.name,
        node.op,
        node.target,
        [value_to_json(arg) for arg in node.args],
        _pairs_to_json(node.kwargs),
        spec_to_json(node.spec),
        _pairs_to_json(node.meta),
        node.shares_meta,
        _constant_to_json(node.constant),
    ]


def node_from_json(data: list[Any]) -> NodeState:
    """Decode a node."""
    return NodeState(
        data[0],
        bytes.fromhex(data[1]),
        data[2],
        data[3],
        data[4],
        tuple(map(value_from_json, data[5])),
        _pairs_from_json(data[6]) if data[6] else (),
        spec_from_json(data[7]),
        _pairs_from_json(data[8]) if data[8] else (),
        data[9],
        _constant_from_json(data[10]),
    )


_FIELDS = {
    "args": (value_to_json, value_from_json),
    "kwargs": (_pairs_to_json, _pairs_from_json),
    "meta": (_pairs_to_json, _pairs_from_json),
    "spec": (spec_to_json, spec_from_json),
    "constant": (_constant_to_json, _constant_from_json),
    "order": (bytes.hex, bytes.fromhex),
}


def change_to_json(change: Change) -> list[Any]:
    """Encode a change."""
    if isinstance(change, Insert):
        return ["+", change.path, node_to_json(change.node)]
    if isinstance(change, Erase):
        return ["-", change.path, node_to_json(change.node)]
    encode: Any = _FIELDS.get(change.field, (value_to_json,))[0]
    return ["u", change.path, change.node, change.field, encode(change.old), encode(change.new)]


def change_from_json(data: list[Any]) -> Change:
    """Decode a change.

    Raises:
        ValueError: If its tag is unknown.
    """
    tag = data[0]
    if tag == "+":
        return Insert(data[1], node_from_json(data[2]))
    if tag == "-":
        return Erase(data[1], node_from_json(data[2]))
    if tag == "u":
        decode: Any = _FIELDS.get(data[3], (None, value_from_json))[1]
        return Update(data[1], data[2], data[3], decode(data[4]), decode(data[5]))
    raise ValueError(f"unknown change tag {tag!r}")


def state_to_json(state: GraphState) -> dict[str, Any]:
    """Encode a whole state."""
    return {path: [node_to_json(node) for node in state.body(path)] for path in state.paths()}


def state_from_json(data: dict[str, Any]) -> GraphState:
    """Decode a whole state."""
    bodies = {
        path: Body(HashTrieMap({row[0]: node_from_json(row) for row in rows})) for path, rows in data.items()
    }
    return GraphState(HashTrieMap(bodies))


def op_to_json(op: OpInfo) -> Any:
    """Encode what is known of a call target."""
    return [op.target, list(op.params), _pairs_to_json(op.defaults), op.mutates]


def op_from_json(data: Any) -> OpInfo:
    """Decode what is known of a call target."""
    return OpInfo(data[0], tuple(data[1]), _pairs_from_json(data[2]), data[3])


def record_to_json(record: Any) -> Any:
    """Encode a dataclass of the trace model (subject, pass run, site) and those in its fields."""
    names = getattr(record, "__dataclass_fields__", None)
    if names is not None:
        return {name: record_to_json(getattr(record, name)) for name in names}
    return list(map(record_to_json, record)) if type(record) is tuple else record
