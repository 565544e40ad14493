import itertools
import unicodedata

import pytest

from qdqviz.tui.model.arrangement import DETAILS, MIN_HEIGHT, MIN_WIDTH, arrange, split
from qdqviz.tui.model.frame import Frame, PaneFrame, Tab
from qdqviz.tui.model.strokes import stroke

SIZES = [(w, h) for w in (56, 80, 109, 110, 120, 160, 200, 300) for h in (16, 24, 29, 30, 40, 46, 60, 90)]
PANES = ("steps", "graph", "lanes", "details")


def cells(area):
    return {(x, y) for x in range(area.x, area.x + area.width) for y in range(area.y, area.y + area.height)}


@pytest.mark.parametrize("size", SIZES)
def test_panes_never_overlap_and_stay_between_header_and_status(size):
    found = arrange(*size)
    for tab in found.tabs:
        areas = [area for pane in PANES if (area := found.area(pane, tab)) is not None]
        for one, other in itertools.combinations(areas, 2):
            assert not cells(one) & cells(other)
        for area in areas:
            assert area.y >= 2 and area.y + area.height <= found.status.y
            assert area.x >= 0 and area.x + area.width <= size[0]
            assert area.width >= 20 and area.height >= 6


@pytest.mark.parametrize("size", SIZES)
def test_every_pane_and_tab_can_be_reached(size):
    found = arrange(*size)
    for pane in ("steps", "graph", "lanes"):
        assert (pane in found.panes) != (pane in found.tabs)
    assert set(DETAILS) <= set(found.tabs)


def test_a_terminal_that_is_too_small_has_no_arrangement():
    assert arrange(MIN_WIDTH - 1, 60) is None
    assert arrange(200, MIN_HEIGHT - 1) is None
    assert arrange(MIN_WIDTH, MIN_HEIGHT) is not None


def test_at_80_by_24_panes_become_tabs_and_at_200_by_60_all_are_in_view():
    assert set(arrange(80, 24).panes) == set()
    assert set(arrange(120, 40).panes) == set(arrange(200, 60).panes) == {"steps", "graph", "lanes"}
    assert arrange(200, 60).can_split and not arrange(120, 40).can_split


def test_two_panes_side_by_side_share_the_room_with_a_column_between_them():
    area = arrange(200, 60).panes["graph"]
    left, right = split(area)
    assert left.width + 1 + right.width == area.width and abs(left.width - right.width) <= 1
    assert right.x == left.x + left.width + 1


def arms_by_name(character):
    """The weights of the arms of a box-drawing character, read from its Unicode name."""
    weights = {"LIGHT": 1, "HEAVY": 2}
    sides = {"VERTICAL": ("UP", "DOWN"), "HORIZONTAL": ("LEFT", "RIGHT")}
    found = dict.fromkeys(("UP", "RIGHT", "DOWN", "LEFT"), 0)
    groups = [
        group.split() for group in unicodedata.name(character).removeprefix("BOX DRAWINGS ").split(" AND ")
    ]
    own = [[weights[word] for word in group if word in weights] for group in groups]
    for group, weight in zip(groups, own, strict=True):
        for word in group:
            for side in sides.get(word, (word,)):
                if side in found:
                    found[side] = (weight or own[0])[0]
    return found["UP"], found["RIGHT"], found["DOWN"], found["LEFT"]


def test_every_stroke_has_the_arms_that_its_unicode_name_says():
    for arms in itertools.product(range(3), repeat=4):
        if any(arms):
            assert arms_by_name(stroke(arms)) == arms, (arms, stroke(arms))


def drawn(frame):
    lines = frame.lines()
    return ["".join(text for text, _ in frame.row(y, lines)) for y in range(frame.height)]


def test_lines_meet_at_corners_and_the_focused_pane_has_heavy_ones():
    from qdqviz.tui.model.arrangement import Area

    panes = (PaneFrame("a", Area(1, 1, 4, 1), has_focus=True), PaneFrame("b", Area(6, 1, 4, 1)))
    assert drawn(Frame(11, 3, panes, True)) == ["┏━━━━┱────┐", "┃    ┃    │", "┗━━━━┹────┘"]


def test_captions_stand_in_the_upper_line_and_lead_to_their_panes():
    from qdqviz.tui.model.arrangement import Area

    tabs = (Tab("why", "4 Why", False), Tab("node", "5 Node", True))
    frame = Frame(40, 3, (PaneFrame("details", Area(1, 1, 38, 1), note="here", tabs=tabs),), True)
    row = drawn(frame)[0]
    assert row.startswith("┌─ 4 Why  5 Node ─") and row.endswith(" here ─┐")
    assert frame.spot(row.index("Why"), 0) == "why" and frame.spot(row.index("Node"), 0) == "node"
    assert frame.spot(row.index("here"), 0) is None and frame.spot(5, 1) is None


def test_a_note_without_room_is_left_out_and_tabs_lose_their_numbers_first():
    from qdqviz.tui.model.arrangement import Area

    tabs = (Tab("why", "4 Why", False), Tab("node", "5 Node", True))
    frame = Frame(18, 3, (PaneFrame("details", Area(1, 1, 16, 1), note="here", tabs=tabs),), True)
    assert drawn(frame)[0] == "┌─ Why  Node ────┐"
