import re
import time

import pytest
from handmade import Graph, hoisted, slices_graph
from msgspec.structs import replace
from rpds import HashTrieMap

from qdqviz.draw.axis import merged_axis
from qdqviz.draw.lane_choice import choose_lanes
from qdqviz.draw.lanes import draw_lanes, live_lanes
from qdqviz.draw.theme import load_themes
from qdqviz.draw.union import Mark
from qdqviz.ir.graph import Body
from qdqviz.ir.liveness import liveness
from qdqviz.ir.order import spread
from qdqviz.ir.values import Ref


@pytest.fixture
def states():
    graph = slices_graph()
    before = graph.body()
    return before, hoisted(graph, before)


def test_the_lanes_of_the_hoist_look_like_this(states, golden):
    golden("lanes.txt", live_lanes(*states, columns=100).plain())


def test_lanes_in_80_columns_look_like_this(states, golden):
    golden("lanes-80.txt", live_lanes(*states, which="qdq", columns=80).plain())


def test_one_state_has_no_before_and_after(states, golden):
    golden("lanes-one.txt", live_lanes(None, states[1], columns=80).plain())


def test_the_totals_are_those_of_the_live_ranges(states):
    text = live_lanes(*states, which="all").plain()
    assert "peak 8 KiB → 6 KiB (−25 %)" in text
    before, after = (liveness(body, "all").byte_steps / 1024 for body in states)
    found = re.search(r"byte-steps ([\d.]+) KiB → ([\d.]+) KiB", text)
    assert [float(number) for number in found.groups()] == pytest.approx([before, after], abs=0.5)


def test_what_did_not_move_stays_in_its_column(states):
    axis = merged_axis(*states)
    assert axis.length == 11
    before = {node.id: axis.before[index] for index, node in enumerate(states[0].in_order())}
    after = {node.id: axis.after[index] for index, node in enumerate(states[1].in_order())}
    assert all(before[node] == after[node] for node in before.keys() & after.keys())
    assert list(axis.before) == sorted(axis.before)


def test_lanes_start_and_end_where_the_values_do(states):
    cells = live_lanes(*states, columns=100)
    lines = cells.plain().split("\n")
    row = cells.rects[1].row
    assert lines[row].startswith("~ permute")
    first, last = (re.search(r"├[█▒]*┤", lines[row + index]).span() for index in (0, 1))
    assert first == last, "permute lives as long before as after, on the axis of both"
    assert set(lines[row][slice(*first)]) == {"├", "█", "┤"}
    assert set(lines[row + 1][slice(*last)]) == {"├", "▒", "┤"}


def test_returned_and_unused_values_have_marks_of_their_own():
    graph = Graph()
    x = graph.input("x", 4)
    kept = graph.call("aten.relu.default", Ref(x), name="kept", shape=(4,))
    graph.call("aten.relu.default", Ref(x), name="dead", shape=(4,))
    graph.output(kept)
    lines = live_lanes(None, graph.body(), which="all", columns=80).plain().split("\n")
    by_name = {line.split()[0]: line for line in lines if line.strip()}
    assert by_name["kept"].endswith("▶")
    assert set(re.sub(r"[^×]", "", by_name["dead"])) == {"×"}
    assert "├" not in by_name["dead"]


def test_a_node_that_comes_within_a_range_does_not_change_the_range(states):
    before, after = states
    lanes = choose_lanes(liveness(before, "all"), liveness(after, "all"), merged_axis(before, after), (), 50)
    marks = {lane.node: lane.mark for lane in lanes}
    assert marks[100] is Mark.ADDED
    assert marks[4] is marks[5] is Mark.REMOVED
    assert marks[1] is marks[2] is marks[3] is Mark.REWIRED
    assert marks[6] is marks[7] is Mark.NONE


def test_changed_values_come_first_where_there_is_no_room_for_all(states):
    before, after = states
    lanes = choose_lanes(liveness(before, "all"), liveness(after, "all"), merged_axis(before, after), (), 4)
    assert len(lanes) == 4
    assert Mark.NONE not in {lane.mark for lane in lanes}


def test_a_focus_is_shown_though_nothing_changed():
    graph = slices_graph()
    body = graph.body()
    live = liveness(body, "all")
    lanes = choose_lanes(live, live, merged_axis(body, body), {8}, 3)
    assert 8 in {lane.node for lane in lanes}


@pytest.mark.parametrize("columns", [10, 40, 57, 80, 200])
def test_lanes_have_exactly_the_columns_asked_for(states, columns):
    cells = live_lanes(*states, columns=columns)
    assert cells.width == max(columns, 40)
    assert {len(row) for row in cells.glyphs} == {cells.width}


def test_names_with_controls_and_wide_characters_are_safe_and_aligned():
    graph = Graph()
    x = graph.input("日本語日本語日本語日本語\x1b[31m", 4)
    graph.output(x)
    cells = live_lanes(None, graph.body(), which="all", columns=60)
    assert "\x1b" not in cells.plain()
    assert {len(row) for row in cells.glyphs} == {60}


def test_a_graph_without_values_has_lanes_all_the_same():
    text = live_lanes(Body(), Body(), columns=60).plain()
    assert "peak 0 B" in text


def test_nothing_at_all_is_nothing():
    assert live_lanes(None, None).plain().strip() == ""


def test_every_style_of_the_lanes_is_in_every_theme(states):
    cells = live_lanes(*states)
    styles = {style for row in cells.styles for style in row}
    assert {"lane.real", "lane.integer", "mark.added", "faint", "bold"} <= styles
    for theme in load_themes()[0].values():
        plain = theme.style("")
        assert {style for style in styles if theme.style(style) == plain} == {""}


def test_lanes_of_20000_nodes_are_quick():
    graph = Graph()
    graph.input("x", 64)
    template = graph.nodes[graph.quantize(0, 0.1, 0, name="q")]
    orders = spread(20_000)
    nodes = [replace(graph.nodes[0], order=orders[0])]
    for index in range(1, 20_000):
        args = (Ref(index - 1), *template.args[1:])
        nodes.append(replace(template, id=index, order=orders[index], name=f"q_{index}", args=args))
    before = Body(HashTrieMap({node.id: node for node in nodes}))
    after = before.without_node(10_000).with_node(
        replace(nodes[10_001], args=(Ref(9_999), *template.args[1:]))
    )
    start = time.process_time()
    live = [liveness(body, "all") for body in (before, after)]
    found = time.process_time()
    cells = draw_lanes(*live, merged_axis(before, after), columns=120)
    # A tenth of what finding them takes, which is linear: a measure for machines of any speed.
    assert time.process_time() - found < 2 * (found - start)
    assert 10_000 in cells.rects
