"""States and changes come back from a trace file exactly as they were put there."""

from __future__ import annotations

import math
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from qdqviz.ir.change import Erase, Insert, Update, same
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import Constant, NodeState, ScalarSpec, SymDim, TensorSpec
from qdqviz.ir.values import DEEPEST, Atom, DictArg, ListArg, NodeSeen, Ref, SliceArg, TextRef
from qdqviz.trace.states import pack_changes, pack_state, unpack_changes, unpack_state

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    TEXT,
    st.builds(Ref, st.integers(0, 9)),
    st.builds(Atom, TEXT, TEXT),
    st.builds(TextRef, st.integers(-9, 9)),
    st.builds(NodeSeen, st.integers(0, 9), TEXT),
)


def _held(inner: Any) -> Any:
    several = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        several,
        st.builds(ListArg, several),
        st.builds(DictArg, st.lists(st.tuples(inner, inner), max_size=2).map(tuple)),
        st.builds(SliceArg, inner, inner, inner),
    )


VALUES = st.recursive(LEAVES, _held, max_leaves=6)
DIMS = st.one_of(st.integers(0, 9), st.builds(SymDim, TEXT, st.one_of(st.none(), st.integers(0, 9))))
TENSORS = st.builds(TensorSpec, TEXT, st.lists(DIMS, max_size=3).map(tuple))
SPECS = st.recursive(
    st.one_of(st.none(), TENSORS, st.builds(ScalarSpec, TEXT, TEXT)),
    lambda inner: st.lists(inner, max_size=2).map(tuple),
    max_leaves=3,
)
NUMBERS = st.one_of(st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False))
CONSTANTS = st.builds(
    Constant,
    TEXT,
    TEXT,
    st.one_of(st.none(), TEXT),
    st.one_of(st.none(), TENSORS),
    st.one_of(st.none(), st.tuples(NUMBERS, NUMBERS)),
)
PAIRS = st.lists(st.tuples(TEXT, VALUES), max_size=2).map(tuple)
NODES = st.builds(
    NodeState,
    st.integers(0, 99),
    st.binary(max_size=4),
    TEXT,
    TEXT,
    TEXT,
    st.lists(VALUES, max_size=3).map(tuple),
    PAIRS,
    SPECS,
    PAIRS,
    st.one_of(st.none(), st.integers(0, 9)),
    st.one_of(st.none(), CONSTANTS),
)
FIELDS = (
    ("args", st.lists(VALUES, max_size=3).map(tuple)),
    ("kwargs", PAIRS),
    ("target", TEXT),
    ("name", TEXT),
    ("order", st.binary(max_size=4)),
    ("spec", SPECS),
    ("meta", PAIRS),
    ("shares_meta", st.one_of(st.none(), st.integers(0, 9))),
    ("constant", st.one_of(st.none(), CONSTANTS)),
)
UPDATES = st.one_of(
    *(st.builds(Update, TEXT, st.integers(0, 9), st.just(field), held, held) for field, held in FIELDS)
)
CHANGES = st.one_of(st.builds(Insert, TEXT, NODES), st.builds(Erase, TEXT, NODES), UPDATES)


def _alike(left: Any, right: Any) -> bool:
    """Equality down to the types of numbers, field by field."""
    names = getattr(left, "__struct_fields__", None)
    if names is None or type(left) is not type(right):
        return same(left, right) if not isinstance(left, tuple) else _tuples_alike(left, right)
    return all(_alike(getattr(left, name), getattr(right, name)) for name in names)


def _tuples_alike(left: Any, right: Any) -> bool:
    return type(right) is tuple and len(left) == len(right) and all(map(_alike, left, right))


@given(st.lists(CHANGES, max_size=4))
def test_changes_come_back_with_the_types_of_all_that_they_hold(changes: list[Any]) -> None:
    back = unpack_changes(pack_changes(changes))
    assert _tuples_alike(tuple(changes), back)


@given(st.lists(NODES, max_size=4, unique_by=lambda node: node.id), st.lists(NODES, min_size=1, max_size=1))
def test_a_state_comes_back_with_its_sub_graphs(root: list[NodeState], inner: list[NodeState]) -> None:
    back = unpack_state(pack_state(GraphState.of({"": root, "true_graph_0": inner})))
    assert set(back.paths()) == {"", "true_graph_0"}
    for path, nodes in (("", root), ("true_graph_0", inner)):
        assert len(back.body(path)) == len(nodes)
        assert all(_alike(node, back.body(path)[node.id]) for node in nodes)


@pytest.mark.parametrize("value", [0.0, -0.0, math.inf, -math.inf, math.nan, 1, 1.0, True, 2**63, -(2**63)])
def test_numbers_keep_their_kind_and_sign(value: Any) -> None:
    (back,) = unpack_changes(pack_changes([Update("", 1, "args", (value,), ())]))
    assert repr(back.old) == repr((value,))


def test_little_is_kept_as_it_is_and_much_is_compressed() -> None:
    for count in range(1, 200):
        changes = [Update("", node, "name", "before", "after") for node in range(count)]
        blob = pack_changes(changes)
        plain = zlib.decompress(blob) if blob[0] < 0x80 else blob
        assert len(msgpack.decode(plain)) == count
        assert (len(plain) > len(blob)) == (len(plain) > 1024)
        assert unpack_changes(blob) == tuple(changes)


def test_an_integer_that_no_machine_word_holds_comes_back_as_its_digits() -> None:
    (back,) = unpack_changes(pack_changes([Update("", 1, "args", (2**64, (-(2**70),)), ())]))
    assert back.old == (Atom("int", str(2**64)), (Atom("int", str(-(2**70))),))


def test_half_a_surrogate_pair_is_written_out() -> None:
    (back,) = unpack_changes(pack_changes([Update("", 1, "name", "a\ud800", "b")]))
    assert back.old == "a\\ud800"


def test_tuples_in_tuples_come_back_as_deep_as_is_said() -> None:
    deep: Any = Ref(1)
    for _ in range(DEEPEST):
        deep = (deep,)
    (back,) = unpack_changes(pack_changes([Update("", 1, "args", deep, ())]))
    assert back.old == deep


@pytest.mark.parametrize(
    "blob", [b"", b"nothing", zlib.compress(b"\x01"), zlib.compress(b'{"":[]}'), zlib.compress(b"")]
)
def test_what_is_no_state_is_refused(blob: bytes) -> None:
    with pytest.raises(ValueError):
        unpack_state(blob)
    with pytest.raises(ValueError):
        unpack_changes(blob)
