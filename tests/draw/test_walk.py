import re
import xml.etree.ElementTree as ET

import pytest
from handmade import hoisted, slices_graph
from msgspec.structs import replace

from qdqviz.draw.layout import COLUMN, ROW
from qdqviz.draw.picture import Presence
from qdqviz.draw.theme import load_theme
from qdqviz.draw.union import Mark
from qdqviz.draw.walk import walk, walk_svg
from qdqviz.ir.order import between
from qdqviz.ir.values import Ref

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def shown(engine):
    """Two rewrites: the hoist, then an undo of it."""
    graph = slices_graph()
    before = graph.body()
    after = hoisted(graph, before)
    focus = [1, 2, 3, 4, 5, 6, 7, 100]
    return walk([before, after, before], [focus, focus], ["hoist <quantize>\x1b", "undo"], {}, engine=engine)


def test_a_walk_has_the_first_state_and_one_frame_for_each_rewrite(shown):
    assert [frame.caption for frame in shown.frames] == ["before", "hoist <quantize>␛", "undo"]
    assert not shown.cut


def test_no_node_moves_from_one_frame_to_another(shown):
    places = {}
    for frame in shown.frames:
        for box in frame.picture.boxes:
            places.setdefault(box.id, set()).add(box.rect)
    assert set(map(len, places.values())) == {1}


def test_each_frame_marks_its_own_rewrite(shown):
    def marks(index):
        return {box.id: box.mark for box in shown.frames[index].picture.boxes}

    assert set(marks(0).values()) == {Mark.NONE}
    assert 100 not in marks(0)
    assert (marks(1)[100], marks(1)[4]) == (Mark.ADDED, Mark.REMOVED)
    assert (marks(2)[100], marks(2)[4]) == (Mark.REMOVED, Mark.ADDED)
    assert {box.presence for box in shown.frames[2].picture.boxes} == {Presence.SOLID, Presence.GHOST}


def test_a_box_has_room_for_what_it_says_in_every_frame(engine):
    """A node that moves in one frame and is rewired in the next says more in the first."""
    graph = slices_graph()
    first = graph.body()
    second = first.with_node(replace(first[4], order=between(first[7].order, first[8].order)))
    third = second.with_node(replace(second[4], args=(Ref(1), *first[4].args[1:])))
    shown = walk([first, second, third], [[4], [4]], ["moved", "rewired"], {}, engine=engine)
    said = [next(box for box in frame.picture.boxes if box.id == 4) for frame in shown.frames]
    assert [box.mark for box in said] == [Mark.NONE, Mark.MOVED, Mark.REWIRED]
    assert said[1].lines[-1] == "→ 8th, after dequantize_1"
    for box in said:
        assert len(box.lines) + 2 <= round(box.rect.height / ROW)
        assert max(map(len, box.lines)) + 4 <= round(box.rect.width / COLUMN)


def visible(svg, frame, frames):
    """Texts that a browser shows in a frame, worked out from the CSS of the document."""
    root = ET.fromstring(svg)
    css = root.find(f"{SVG}style").text
    states = {}
    for name, body in re.findall(r"@keyframes (\w+)\{((?:[^{}]*\{[^{}]*\})*)\}", css):
        at = sorted((float(p), state) for p, state in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", body))
        states[name] = [state for percent, state in at if percent <= 100 * frame / frames + 0.01][-1]
    found = []

    def visit(element):
        if states.get(element.get("class"), "visible") == "hidden":
            return
        if element.tag == f"{SVG}text":
            found.append(element.text)
        for child in element:
            visit(child)

    visit(root)
    return found


def test_every_moment_of_the_animation_shows_the_boxes_of_its_frame(shown):
    svg = walk_svg(shown, load_theme("dark"), title="a walk")
    for index, frame in enumerate(shown.frames):
        texts = visible(svg, index, len(shown.frames))
        for box in frame.picture.boxes:
            if box.presence is not Presence.GAP:
                assert all(line in texts for line in box.lines)
        assert sum(text.startswith(f"{index}/2") for text in texts) == 1
        assert "a walk" in texts
        boxes = sum(box.presence is not Presence.GAP for box in frame.picture.boxes)
        names = {box.name for box in frame.picture.boxes if box.name}
        assert len([text for text in texts if text in names]) <= boxes


def test_a_walk_is_self_contained_and_has_no_scripts_and_each_id_once(shown):
    svg = walk_svg(shown, load_theme("light"), title="</title><script>")
    root = ET.fromstring(svg)
    assert {element.tag for element in root.iter()}.isdisjoint({f"{SVG}script", f"{SVG}image"})
    assert "href" not in svg
    assert 'id="' not in svg
    assert "prefers-reduced-motion" in svg


def test_what_stays_the_same_is_drawn_once(shown):
    svg = walk_svg(shown, load_theme("dark"))
    assert svg.count(">add_tensor<") == 1
