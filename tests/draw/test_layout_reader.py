import pytest

from qdqviz.draw.dot import layout_source
from qdqviz.draw.layout import BoxSize, Link, Point, Rect, parse_plain
from qdqviz.errors import LayoutError

PLAIN = """graph 1 3 2
node n7 1 1.5 2 1 "" solid box black lightgrey
node n8 1 0.25 2 0.5 "" solid box black lightgrey
edge n7 n8 4 1 1 1 0.9 1 0.6 1 0.5 solid black
stop
"""


def test_plain_text_gives_boxes_and_splines_with_the_origin_at_the_top_left():
    layout = parse_plain(PLAIN)
    assert (layout.width, layout.height) == (3, 2)
    assert layout.boxes == {7: Rect(0, 0, 2, 1), 8: Rect(0, 1.5, 2, 0.5)}
    assert layout.splines == {(7, 8): (Point(1, 1), Point(1, 1.1), Point(1, 1.4), Point(1, 1.5))}
    assert layout.boxes[7].center == Point(1, 0.5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "graph 1 3",
        "graph 1 x 2",
        "graph 1 3 2\nnode n7 1",
        "graph 1 3 2\nnode x 1 1 1 1",
        "graph 1 3 2\nedge n1 n2 4 1",
    ],
)
def test_what_is_no_plain_text_is_a_layout_error(text):
    with pytest.raises(LayoutError, match="not Graphviz plain text"):
        parse_plain(text)


def test_the_layout_source_holds_sizes_and_edges_and_no_text_from_the_graph():
    source = layout_source(
        [BoxSize(1, 20, 4), BoxSize(2, 8, 3)], [Link(1, 2), Link(2, 1, ranks=False, weight=3)]
    )
    assert "n1 [height=0.80 width=2.00]" in source
    assert "n1 -> n2\n" in source
    assert "n2 -> n1 [constraint=false weight=3]" in source


def test_the_engine_keeps_the_sizes_that_it_is_given(engine):
    layout = engine.layout(layout_source([BoxSize(1, 20, 4), BoxSize(2, 8, 3)], [Link(1, 2)]))
    assert (layout.boxes[1].width, layout.boxes[1].height) == (2.0, 0.8)
    assert (layout.boxes[2].width, layout.boxes[2].height) == pytest.approx((0.8, 0.6))
    assert layout.boxes[1].y < layout.boxes[2].y
    points = layout.splines[1, 2]
    assert len(points) % 3 == 1
    assert points[0].y == pytest.approx(0.8, abs=0.01)
