"""Several changes at once lead where they lead one by one."""

from typing import Any

import pytest
from handmade import slices_graph
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from qdqviz.ir.change import Erase, Insert, Update
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.order import between

EDITS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "insert inside", "erase", "erase inside", "name", "meta", "order"]),
        st.integers(0, 30),
    ),
    max_size=25,
)


def _state() -> GraphState:
    return GraphState.of({"": slices_graph().body().in_order()})


def _change(state: GraphState, edit: str, at: int, number: int) -> Any:
    path = "inner" if edit.endswith("inside") else ""
    nodes = state.body(path).in_order() if path in state.paths() else ()
    if edit.startswith("insert"):
        like = state.root.in_order()[0]
        key = between(nodes[-1].order if nodes else None, None)
        return Insert(path, replace(like, id=1000 + number, order=key, name=f"new_{number}"))
    if not nodes:
        return None
    node = nodes[at % len(nodes)]
    if edit.startswith("erase"):
        return Erase(path, node)
    new: Any = {"name": f"name_{number}", "meta": (("n", number),), "order": node.order + b"\x01"}[edit]
    return Update(path, node.id, edit, getattr(node, edit), new)


def _contents(state: GraphState) -> dict[str, list[Any]]:
    return {path: list(state.body(path).in_order()) for path in state.paths()}


@given(EDITS, st.booleans())
def test_changes_at_once_give_the_state_that_they_give_one_by_one(edits: Any, order_known: bool) -> None:
    start = _state()
    start.root.user_sets()
    if order_known:
        start.root.in_order()
    one_by_one, changes = start, []
    for number, (edit, at) in enumerate(edits):
        change = _change(one_by_one, edit, at, number)
        if change is not None and not (edit == "erase" and len(one_by_one.root) < 2):
            changes.append(change)
            one_by_one = one_by_one.apply(change)
    at_once = start.apply_all(changes)
    assert _contents(at_once) == _contents(one_by_one)
    for node in one_by_one.root:
        assert at_once.root.users(node.id) == one_by_one.root.users(node.id)
    assert _contents(at_once.undo_all(changes)) == _contents(start)


@pytest.mark.parametrize("one_by_one", [True, False])
def test_a_change_of_what_is_not_there_is_refused(one_by_one: bool) -> None:
    state = _state()
    node = state.root.in_order()[0]
    for change in (
        Update("", 999, "name", "a", "b"),
        Update("gone", node.id, "name", "a", "b"),
        Erase("gone", node),
        Erase("", replace(node, id=999)),
    ):
        with pytest.raises(KeyError):
            state.apply(change) if one_by_one else state.apply_all([change])


def test_a_body_knows_the_order_of_nodes_that_come_in_it_and_only_then() -> None:
    nodes = list(_state().root.in_order())
    assert Body.of(nodes).in_order() == tuple(nodes)
    assert Body.of(reversed(nodes)).in_order() == tuple(nodes)
    twice = [*nodes, replace(nodes[-1], order=nodes[-1].order + b"\x01")]
    assert len(Body.of(twice).in_order()) == len(nodes)
