"""States and changes to and from compressed MessagePack; exact, and nothing in it can run.

The nodes of a large graph are many objects: `msgspec` writes them and makes them, checked against their
types, without a line of Python for each.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from qdqviz.ir.change import Change, Erase, Insert, Update
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import Constant, NodeState, ScalarSpec, TensorSpec
from qdqviz.ir.values import DEEPEST, Atom, Leaf

_Field: Any = Leaf | TensorSpec | ScalarSpec | Constant
for _ in range(DEEPEST):
    _Field = Leaf | TensorSpec | ScalarSpec | Constant | tuple[_Field, ...]


class _Update(Struct, frozen=True, gc=False, tag_field="t", tag="u"):
    """An `Update` as a file has it: sort keys are in hexadecimal digits."""

    path: str
    node: int
    field: str
    old: _Field
    new: _Field


_LITTLE = 1 << 10
"""Bytes that are left as they are: to set up a compression takes many times as long as to write them."""

_COMPRESSED = b"\x80"
"""What compressed bytes come before, by their first one: lists and dictionaries in MessagePack do not."""

_SMALL = 1 << 12
"""Bytes that fit a small window; to make room for a large one takes twenty times as long as to fill it."""

_encode = msgspec.msgpack.Encoder().encode
_states = msgspec.msgpack.Decoder(dict[str, list[NodeState]])
_changes = msgspec.msgpack.Decoder(list[Insert | Erase | _Update])


def _squeeze(plain: bytes) -> bytes:
    """Compress bytes, quickly, if that is worth it."""
    if len(plain) <= _LITTLE:
        return plain
    if len(plain) > _SMALL:
        return zlib.compress(plain, 1)
    small = zlib.compressobj(1, zlib.DEFLATED, 12, 5)
    return small.compress(plain) + small.flush()


def pack_state(state: GraphState) -> bytes:
    """A whole state."""
    return pack_nodes(nodes_by_path(state))


def nodes_by_path(state: GraphState) -> dict[str, list[NodeState]]:
    """All nodes of a state in order, by the path of their graph."""
    return {path: list(state.body(path)) for path in state.paths()}


def pack_nodes(nodes: Mapping[str, list[NodeState]]) -> bytes:
    """A whole state, by its nodes in order."""
    return _pack(nodes)


def unpack_state(blob: bytes) -> GraphState:
    """The state that `pack_state` was given.

    Raises:
        ValueError: If the bytes are not what it makes.
    """
    return GraphState.of(_unpack(_states, blob))


def pack_changes(changes: Iterable[Change]) -> bytes:
    """Changes, in order."""
    return _pack([_hexed(change) if _is_move(change) else change for change in changes])


def unpack_changes(blob: bytes) -> tuple[Change, ...]:
    """The changes that `pack_changes` was given.

    Raises:
        ValueError: If the bytes are not what it makes.
    """
    return tuple([_change(change) for change in _unpack(_changes, blob)])


def _is_move(change: Change) -> bool:
    return type(change) is Update and change.field == "order"


def _hexed(change: Any) -> Update:
    return Update(change.path, change.node, change.field, change.old.hex(), change.new.hex())


def _change(change: Any) -> Change:
    if type(change) is not _Update:
        return change  # type: ignore[no-any-return]
    old, new = change.old, change.new
    if change.field == "order":
        old, new = bytes.fromhex(old), bytes.fromhex(new)
    return Update(change.path, change.node, change.field, old, new)


def _pack(data: Any) -> bytes:
    return _squeeze(encoded(data))


def encoded(data: Any) -> bytes:
    """The MessagePack of values and what holds them, different for different ones."""
    try:
        return _encode(data)
    except (OverflowError, UnicodeEncodeError):
        return _encode(_fitted(data))


def _fitted(data: Any) -> Any:
    """The data with integers of more than 64 bits as atoms, and lone surrogates in texts written out."""
    kind = type(data)
    if kind is int:
        return data if -(2**63) <= data < 2**64 else Atom("int", str(data))
    if kind is str:
        return data.encode("utf-8", "backslashreplace").decode()
    if kind in (tuple, list):
        return kind(map(_fitted, data))
    if kind is dict:
        return {_fitted(key): _fitted(value) for key, value in data.items()}
    if isinstance(data, Struct):
        return kind(*(_fitted(getattr(data, name)) for name in data.__struct_fields__))
    return data


def _unpack(decoder: Any, blob: bytes) -> Any:
    try:
        return decoder.decode(zlib.decompress(blob) if blob < _COMPRESSED else blob)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error
