"""Values, ops and records of a trace to and from compact JSON; exact, and nothing in it can run."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from qdqviz.ir.node import OpInfo
from qdqviz.ir.values import Atom, DictArg, ListArg, NodeSeen, Ref, SliceArg, TextRef, Value

_PLAIN = frozenset({type(None), bool, int, float, str})


_to_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def pack(data: Any) -> bytes:
    """JSON data as compressed bytes."""
    return zlib.compress(_to_text(data).encode(), 1)


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
    raise ValueError(f"unknown value tag {tag!r}")


def _pairs_to_json(pairs: Sequence[tuple[str, Value]]) -> Any:
    return [part for key, value in pairs for part in (key, value_to_json(value))]


def _pairs_from_json(data: Any) -> tuple[tuple[str, Value], ...]:
    return tuple(zip(data[::2], map(value_from_json, data[1::2]), strict=True))


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
