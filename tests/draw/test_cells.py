import re

import pytest
from handmade import Graph, hoisted, slices_graph

from qdqviz.draw.ansi import ansi_text
from qdqviz.draw.cells import draw_cells
from qdqviz.draw.picture import picture
from qdqviz.draw.text import width
from qdqviz.draw.theme import load_theme
from qdqviz.ir.values import Ref

NASTY = [
    "[bold]x[/bold]",
    "\x1b[31mred\x1b]0;t\x07",
    "a\nb\tc",
    "日本語テキスト",
    "e\u0301\u0301\u0301 zalgo",
    "y" * 300,
    "\u202eabc",
]


@pytest.fixture
def rewrite(engine):
    graph = slices_graph()
    before = graph.body()
    return picture(before, hoisted(graph, before), range(101), {}, engine=engine)


@pytest.mark.parametrize("view", ["before", "after", "union"])
def test_the_hoist_of_a_quantize_looks_like_this(rewrite, golden, view):
    golden(f"hoist-{view}.txt", draw_cells(rewrite.with_view(view)).plain())


def test_folds_and_hidden_neighbours_look_like_this(engine, golden):
    graph = Graph()
    x = graph.input("x", 4)
    constants = [graph.constant(name, 4) for name in ("weight", "scale", "zero_point")]
    relu = graph.call("aten.relu.default", Ref(x), name="relu", shape=(4,))
    node = relu
    for index in range(4):
        node = graph.view(node, 4, name=f"view_{index}")
    target = "quantized_decomposed.dequantize_per_channel.default"
    weight = graph.call(target, *map(Ref, constants), 0, name="dequantize_per_channel", shape=(4,))
    linear = graph.call("aten.linear.default", Ref(node), Ref(weight), name="linear", shape=(4,))
    for index in range(3):
        graph.call("aten.relu.default", Ref(linear), name=f"user_{index}", shape=(4,))
    graph.call("aten.relu.default", Ref(relu), name="elsewhere", shape=(4,))
    shown = picture(graph.body(), None, [weight], {}, radius=3, limit=6, engine=engine)
    golden("folds.txt", draw_cells(shown).plain())


def test_a_surviving_node_has_the_same_cells_in_every_view(rewrite):
    drawn = [draw_cells(rewrite.with_view(view)).rects for view in ("before", "after", "union")]
    for node in drawn[0].keys() & drawn[1].keys():
        assert drawn[0][node] == drawn[1][node] == drawn[2][node]


def test_a_gap_is_left_empty_and_cannot_be_clicked(rewrite):
    cells = draw_cells(rewrite.with_view("before"))
    place = draw_cells(rewrite).rects[100]
    assert 100 not in cells.rects
    inside = [
        cells.glyphs[row][place.column + 1 : place.column + place.columns - 1]
        for row in range(place.row, place.row + place.rows)
    ]
    assert {glyph for row in inside for glyph in row} == {" "}


def test_a_cell_tells_its_box(rewrite):
    cells = draw_cells(rewrite)
    for node, rect in cells.rects.items():
        assert cells.at(rect.column, rect.row) == node
        assert cells.at(rect.column + rect.columns - 1, rect.row + rect.rows - 1) == node
    assert cells.at(0, 0) is None
    assert cells.at(-1, -1) is None


def test_no_two_boxes_overlap(rewrite):
    rects = list(draw_cells(rewrite.with_view("union")).rects.values())
    taken = [
        (c, r)
        for rect in rects
        for c in range(rect.column, rect.column + rect.columns)
        for r in range(rect.row, rect.row + rect.rows)
    ]
    assert len(taken) == len(set(taken))


@pytest.mark.parametrize("text", NASTY)
def test_nasty_text_is_drawn_literally_cut_and_aligned(engine, text):
    graph = Graph()
    x = graph.input(text, 4)
    graph.call(f"aten.{text}.default", Ref(x), text, name=text, shape=(4,))
    cells = draw_cells(picture(graph.body(), None, [x], {}, engine=engine))
    lines = cells.plain().split("\n")
    assert len(lines) == cells.height
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", cells.plain())
    for rect in cells.rects.values():
        frame = {_column(lines[row], rect.column) for row in range(rect.row + 1, rect.row + rect.rows - 1)}
        assert frame == {"│"}
        frame = {
            _column(lines[row], rect.column + rect.columns - 1)
            for row in range(rect.row, rect.row + rect.rows)
        }
        assert frame <= {"╮", "│", "╯"}
    if text == "y" * 300:
        assert "…" in cells.plain()
    if text.startswith("[bold]"):
        assert "[bold]x[/bold]" in cells.plain()


def _column(line, column):
    """The character that a terminal shows in a column."""
    at = 0
    for character in line:
        if at == column and width(character):
            return character
        at += width(character)
    return " "


def test_runs_are_exactly_as_wide_as_asked_for_also_through_wide_characters(engine):
    graph = Graph()
    graph.input("日本語テキスト", 4)
    graph.view(0, 4, name="view")
    cells = draw_cells(picture(graph.body(), None, [0], {}, engine=engine))
    for start in range(-2, cells.width + 2):
        for stop in (start, start + 1, start + 7, cells.width + 5):
            for row in (-1, *range(cells.height), cells.height + 3):
                text = "".join(part for part, _ in cells.runs(row, start, stop))
                assert width(text) == max(0, stop - start)


def test_a_selected_box_is_highlighted(rewrite):
    cells = draw_cells(rewrite, selected=1)
    rect = cells.rects[1]
    assert cells.styles[rect.row][rect.column] == "selected"
    assert "selected" not in {style for row in draw_cells(rewrite).styles for style in row}


def test_every_style_is_known_to_every_theme(rewrite):
    styles = {
        style
        for view in ("before", "after", "union")
        for row in draw_cells(rewrite.with_view(view), selected=2).styles
        for style in row
    }
    theme = load_theme("dark")
    plain = theme.style("")
    assert {style for style in styles if theme.style(style) == plain} == {""}


def test_text_with_colours_is_the_same_text(rewrite):
    cells = draw_cells(rewrite)
    for depth in ("true", "256", "16", "none"):
        text = ansi_text(cells, load_theme("dark"), depth)
        assert re.sub(r"\x1b\[[0-9;]*m", "", text) == cells.plain()
    assert "38;2;" in ansi_text(cells, load_theme("dark"), "true")
    assert not re.search(r"\x1b\[[0-9;]*[34]8;", ansi_text(cells, load_theme("dark"), "16"))
    assert set(re.findall(r"\x1b\[([0-9;]*)m", ansi_text(cells, load_theme("dark"), "none"))) <= {
        "0",
        "1",
        "2",
    }


def test_marks_are_told_apart_without_colour(rewrite):
    cells = draw_cells(rewrite.with_view("union"))

    def corner_and_sign(node):
        rect = cells.rects[node]
        return cells.glyphs[rect.row][rect.column], cells.glyphs[rect.row][rect.column + 2]

    assert corner_and_sign(100) == ("┏", "+")
    assert corner_and_sign(4) == ("┌", "-")
    assert corner_and_sign(1) == ("╔", "~")
    assert corner_and_sign(2) == ("╭", "*")


def test_an_empty_picture_is_an_empty_drawing(engine):
    assert draw_cells(picture(None, None, [], {}, engine=engine)).plain().strip() == ""
