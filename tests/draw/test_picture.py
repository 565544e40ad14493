import re
import time

import pytest
from handmade import Graph, hoisted, slices_graph
from msgspec.structs import replace

from qdqviz.draw.cells import draw_cells
from qdqviz.draw.dot import MAX_COLUMNS
from qdqviz.draw.engine import LayoutEngine
from qdqviz.draw.picture import Presence, picture
from qdqviz.draw.union import Mark
from qdqviz.ir.graph import Body
from qdqviz.ir.labels import short_name
from qdqviz.ir.node import OpInfo
from qdqviz.ir.order import between
from qdqviz.ir.position import ordinal
from qdqviz.ir.roles import Role
from qdqviz.ir.values import ListArg, Ref


@pytest.fixture
def rewrite(engine):
    """The hoist of one quantize above a permute and two slices, everything shown."""
    graph = slices_graph()
    before = graph.body()
    return picture(before, hoisted(graph, before), range(101), {}, engine=engine)


def by_id(shown):
    return {box.id: box for box in shown.boxes}


def test_views_share_one_layout_so_that_nothing_moves(rewrite):
    views = [rewrite.with_view(view) for view in ("before", "after", "union")]
    assert len({tuple((box.id, box.rect) for box in view.boxes) for view in views}) == 1
    assert views[1] is rewrite


def test_marks_say_what_the_rewrite_does(rewrite):
    marks = {node: box.mark for node, box in by_id(rewrite).items()}
    assert marks == {
        0: Mark.NONE,
        100: Mark.ADDED,
        1: Mark.REWIRED,
        2: Mark.CHANGED,
        3: Mark.CHANGED,
        4: Mark.REMOVED,
        5: Mark.REMOVED,
        6: Mark.REWIRED,
        7: Mark.REWIRED,
        8: Mark.NONE,
        9: Mark.NONE,
    }


def test_what_is_removed_is_a_ghost_and_what_is_added_a_gap(rewrite):
    def presences(view):
        boxes = by_id(rewrite.with_view(view))
        return boxes[4].presence, boxes[100].presence, boxes[1].presence

    assert presences("before") == (Presence.SOLID, Presence.GAP, Presence.SOLID)
    assert presences("after") == (Presence.GHOST, Presence.SOLID, Presence.SOLID)
    assert presences("union") == (Presence.SOLID, Presence.SOLID, Presence.SOLID)


def test_a_box_says_what_it_is_in_its_view(rewrite):
    assert by_id(rewrite.with_view("before"))[1].lines == ("permute [0,2,1]", "fp32 1×16×64  4 KiB")
    assert by_id(rewrite)[1].lines == ("permute [0,2,1]", "int8 1×16×64  1 KiB")
    assert by_id(rewrite)[100].role is Role.QUANTIZE


def test_edges_come_and_go_with_the_view(rewrite):
    def edges(view):
        return {
            (edge.source, edge.target): (edge.presence, edge.mark)
            for edge in rewrite.with_view(view).edges
            if edge.presence is not Presence.GAP
        }

    before, after, union = edges("before"), edges("after"), edges("union")
    assert before[0, 1] == (Presence.SOLID, Mark.REMOVED)
    assert (0, 100) not in before
    assert after[0, 100] == (Presence.SOLID, Mark.ADDED)
    assert (0, 1) not in after, "between nodes that stay, an edge that is gone is in the way"
    assert after[2, 4] == (Presence.GHOST, Mark.REMOVED), "a ghost keeps its edges"
    assert union[0, 1] == (Presence.SOLID, Mark.REMOVED)
    assert union[0, 100] == (Presence.SOLID, Mark.ADDED)
    assert union[1, 2] == (Presence.SOLID, Mark.NONE)


def test_edges_carry_the_dtype_of_their_view(rewrite):
    def dtype(view):
        edges = rewrite.with_view(view).edges
        return next(edge.dtype for edge in edges if (edge.source, edge.target) == (1, 2))

    assert (dtype("before"), dtype("after")) == ("float32", "int8")


def test_a_picture_of_one_state_has_no_marks(engine):
    body = slices_graph().body()
    for one in (picture(body, None, [1], {}, engine=engine), picture(None, body, [1], {}, engine=engine)):
        assert {box.mark for box in one.boxes} == {Mark.NONE}
        assert {
            box.presence for view in ("before", "after", "union") for box in one.with_view(view).boxes
        } == {Presence.SOLID}


def test_a_picture_of_nothing_is_empty(engine):
    assert picture(None, None, [], {}, engine=engine).boxes == ()
    assert picture(Body(), Body(), [1], {}, engine=engine).boxes == ()


def test_boxes_are_found_by_any_of_their_nodes(engine):
    graph = Graph()
    node = graph.call("aten.relu.default", Ref(graph.input("x", 4)), name="relu", shape=(4,))
    for index in range(4):
        node = graph.view(node, 4, name=f"view_{index}")
    graph.output(node)
    shown = picture(graph.body(), None, [1], {}, engine=engine)
    assert shown.box(4).members == (2, 3, 4, 5)
    assert shown.box(4).lines[0] == "4 moves: view view view view"
    assert shown.box(77) is None


def test_no_box_is_wider_than_the_widest_and_each_holds_its_lines(engine):
    graph = Graph()
    x = graph.input("x" * 300, *range(1, 60))
    graph.view(x, *range(1, 60), name="v" * 300)
    boxes = picture(graph.body(), None, [x], {}, engine=engine).boxes
    assert {round(box.rect.width * 10) for box in boxes} == {MAX_COLUMNS}
    assert {round(box.rect.height * 5) for box in boxes} == {4}


def test_parameter_names_come_from_the_schema(engine):
    graph = Graph()
    graph.call("mine.permute.default", Ref(graph.input("x", 4)), 0, ListArg((1, 0)), name="p", shape=(4,))
    ops = {"mine.permute.default": OpInfo("mine.permute.default", ("self", "flag", "dims"))}
    assert picture(graph.body(), None, [1], ops, engine=engine).box(1).lines[0] == "mine.permute [1,0]"


def test_a_moved_node_that_keeps_its_identity_has_its_last_place(engine):
    """A pass that moves a node by rewiring makes a cycle in the union; the last state decides."""
    graph = Graph()
    x = graph.input("x", 4)
    view = graph.view(x, 2, 2, name="view")
    q = graph.quantize(view, 0.1, 0, name="q")
    relu = graph.call("aten.relu.default", Ref(q), name="relu", shape=(2, 2))
    before = graph.body()
    after = before.with_node(replace(graph.nodes[q], args=(Ref(x), *graph.nodes[q].args[1:])))
    after = after.with_node(replace(graph.nodes[view], args=(Ref(q), graph.nodes[view].args[1])))
    after = after.with_node(replace(graph.nodes[relu], args=(Ref(view),)))
    shown = picture(before, after, [q], {}, engine=engine)
    tops = [shown.box(node).rect.y for node in (x, q, view, relu)]
    assert tops == sorted(tops)


def test_text_from_the_graph_is_safe_in_every_box(engine):
    graph = Graph()
    x = graph.input("a\nb\x1b]0;title\x07", 4)
    graph.call("aten.\x1b[31mred.default", Ref(x), name="[bold]\u202e", shape=(4,))
    for box in picture(graph.body(), None, [1], {}, engine=engine).boxes:
        text = "".join((box.name, box.full_name, *box.lines))
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", text)


def test_a_picture_of_60_nodes_is_laid_out_quickly():
    graph = Graph()
    nodes = [graph.input("x", 4)]
    for index in range(60):
        sources = [Ref(nodes[-1]), Ref(nodes[max(0, index - 4)])]
        nodes.append(graph.call("aten.add.Tensor", *sources, name=f"add_{index}", shape=(4,)))
    body = graph.body()
    engine = LayoutEngine(remembered=0)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        shown = picture(body, None, [30], {}, radius=99, engine=engine)
        times.append(time.perf_counter() - start)
    assert len(shown.boxes) == 61
    # The budget is 0.03 s on a quiet machine (see benchmarks).
    assert min(times) < 0.3


def moved(body, node, low, high):
    """The body with a node between two others."""
    return body.with_node(replace(body[node], order=between(body[low].order, body[high].order)))


@pytest.mark.parametrize(("node", "low", "high"), [(4, 8, 9), (7, 3, 4), (5, 0, 1), (8, 9, 10)])
def test_a_node_that_only_moves_says_where_it_stood_and_where_it_stands(engine, node, low, high):
    graph = slices_graph()
    graph.output(8)
    before = graph.body()
    after = moved(before, node, low, high)
    shown = picture(before, after, [node], {}, radius=9, engine=engine)
    old, new = (by_id(shown.with_view(view))[node] for view in ("before", "after"))
    in_front = [short_name(each.name) for each in before.in_order()[: before.position(node)]][-1]
    assert old.lines[:-1] == new.lines[:-2]
    assert old.lines[-1] == f"runs {ordinal(before.position(node) + 1)}, after {in_front}" == new.lines[-2]
    assert new.lines[-1] == f"→ {ordinal(after.position(node) + 1)}, after {short_name(before[low].name)}"
    for view in ("before", "after"):
        text = draw_cells(shown.with_view(view)).plain()
        lines = by_id(shown.with_view(view))[node].lines
        assert all(line in text for line in lines)
    others = [box for box in shown.boxes if box.id != node]
    assert not any("runs" in line for box in others for line in box.lines)
