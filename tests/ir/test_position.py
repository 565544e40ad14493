import pytest
from handmade import slices_graph

from qdqviz.ir.position import ordinal, position_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th")),
        *((21, "21st"), (102, "102nd"), (111, "111th"), (113, "113th"), (1023, "1,023rd")),
    ],
)
def test_ordinals_end_as_they_are_spoken(number, text):
    assert ordinal(number) == text


def test_a_position_names_the_node_in_front():
    body = slices_graph().body()
    assert position_text(body, 0) == "1st"
    assert position_text(body, 3, str.upper) == "4th, after ATEN_SLICE_COPY_TENSOR_0"


def test_where_a_node_stands_does_not_depend_on_what_is_known_of_the_order():
    fresh, sorted_ = slices_graph().body(), slices_graph().body()
    nodes = sorted_.in_order()
    for index, node in enumerate(nodes):
        expected = (index, nodes[index - 1].id if index else None)
        for body in (fresh, sorted_):
            position, before = body.standing(node.id)
            assert (position, None if before is None else before.id) == expected
