"""Two graphs over each other: what stands in the same order is not said to have moved."""

from hypothesis import given
from hypothesis import strategies as st

from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.ir.order import spread
from qdqviz.tui.compare.sight import with_keys_of

ORDERS = st.lists(st.integers(0, 30), unique=True, max_size=30)


def body(identities):
    made = Body()
    for key, identity in zip(spread(len(identities)), identities, strict=True):
        made = made.with_node(NodeState(identity, key, f"n{identity}", "call_function", "f", (), (), None))
    return made


def longest_common_order(first, last):
    """Length of the longest common subsequence, by the textbook."""
    lengths = [0] * (len(last) + 1)
    for left in first:
        row = [0]
        for index, right in enumerate(last):
            row.append(lengths[index] + 1 if left == right else max(lengths[index + 1], row[-1]))
        lengths = row
    return lengths[-1]


@given(ORDERS, ORDERS)
def test_the_right_graph_keeps_its_own_order_and_shares_as_many_keys_as_can_be(left, right):
    first = body(left)
    last = with_keys_of(first, body(right))
    assert [node.id for node in last.in_order()] == right
    shared = [node for node in last.in_order() if node.id in first and first[node.id].order == node.order]
    assert len(shared) == longest_common_order(left, right)
