"""The order of a body is that of its keys, however the body was made."""

from handmade import slices_graph
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from qdqviz.ir import graph
from qdqviz.ir.graph import Body
from qdqviz.ir.order import between

EDITS = st.lists(
    st.tuples(st.sampled_from(["insert", "erase", "move", "rename", "ask"]), st.integers(0, 30)), max_size=40
)


def sorted_nodes(body):
    return sorted(body._nodes.values(), key=lambda node: node.order)


@given(EDITS)
def test_an_order_made_from_an_earlier_one_is_the_sorted_one(edits):
    body = slices_graph().body()
    body.in_order()
    for number, (edit, at) in enumerate(edits):
        nodes = sorted_nodes(body)
        if edit == "ask" or not nodes:
            assert list(body.in_order()) == nodes
            continue
        node = nodes[at % len(nodes)]
        low = nodes[(at * 7) % len(nodes)]
        following = nodes[(at * 7) % len(nodes) + 1 :][:1]
        key = between(low.order, following[0].order if following else None)
        if edit == "insert":
            body = body.with_node(replace(node, id=1000 + number, order=key, name=f"new_{number}"))
        elif edit == "erase":
            body = body.without_node(node.id)
        elif edit == "move":
            body = body.with_node(replace(node, order=key))
        else:
            body = body.with_node(replace(node, name=f"renamed_{number}"))
    assert list(body.in_order()) == sorted_nodes(body)


def test_two_nodes_may_have_the_same_key_for_a_while():
    body = slices_graph().body()
    first, second, third = body.in_order()[1:4]
    for node, key in ((first, second.order), (second, third.order), (third, first.order)):
        body = body.with_node(replace(node, order=key))
    assert [node.id for node in body.in_order()[1:4]] == [third.id, first.id, second.id]


def test_an_order_is_sorted_anew_after_very_many_edits(monkeypatch):
    monkeypatch.setattr(graph, "MOST_EDITS", 3)
    body = slices_graph().body()
    body.in_order()
    for number in range(10):
        body = body.with_node(replace(body[4], name=f"renamed_{number}"))
        assert (body._since is None) == (number >= 3)
    assert [node.name for node in body.in_order()][4] == "renamed_9"


def test_a_body_made_node_by_node_is_sorted():
    nodes = slices_graph().nodes
    body = Body()
    for node in reversed(nodes):
        body = body.with_node(node)
    assert [node.id for node in body.in_order()] == [node.id for node in nodes]
