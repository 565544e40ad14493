import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from handmade import Graph, hoisted, slices_graph

from qdqviz.draw import png as png_module
from qdqviz.draw.dot_file import dot_source
from qdqviz.draw.engine import LayoutEngine
from qdqviz.draw.files import format_of, render, write_picture
from qdqviz.draw.legend import legend, legend_text
from qdqviz.draw.picture import picture
from qdqviz.draw.svg import svg_text
from qdqviz.draw.theme import load_theme
from qdqviz.errors import LayoutError, MissingDependencyError, UsageError
from qdqviz.ir.values import Ref

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "</text><script>alert(1)</script>&\"'\x1b[31m\nnew"


@pytest.fixture(scope="module")
def theme():
    return load_theme("dark")


@pytest.fixture
def rewrite(engine):
    graph = slices_graph()
    before = graph.body()
    return picture(before, hoisted(graph, before), range(101), {}, engine=engine)


@pytest.fixture
def nasty(engine):
    graph = Graph()
    graph.call(f"aten.{NASTY}.default", Ref(graph.input(NASTY, 4)), NASTY, name=NASTY + "<b>", shape=(4,))
    return picture(graph.body(), None, [0], {}, engine=engine)


def texts(svg):
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_an_svg_is_one_self_contained_document_that_says_what_the_boxes_say(rewrite, theme):
    svg = svg_text(rewrite, theme, title="step 3")
    shown = texts(svg)
    for line in ("step 3", "permute [0,2,1]", "int8 1×16×64  1 KiB", "quantize s=0.02 z=-3"):
        assert line in shown
    assert "href" not in svg
    assert "url(" not in svg


def test_boxes_of_an_svg_stay_where_they_are_in_every_view(rewrite, theme):
    def places(view):
        root = ET.fromstring(svg_text(rewrite.with_view(view), theme, with_legend=False))
        groups = [group for group in root.iter(f"{SVG}g") if group.get("id")]
        return {
            group.get("id"): (group.find(f"{SVG}rect").get("x"), group.find(f"{SVG}rect").get("y"))
            for group in groups
        }

    before, after, union = map(places, ("before", "after", "union"))
    assert before.keys() == union.keys() - {"n100"}
    assert after == union
    assert before.items() <= union.items()


def test_a_legend_explains_what_is_there_and_nothing_else(rewrite):
    assert {entry.key for entry in legend(rewrite) if entry.kind == "mark"} == {"+", "~", "*"}
    assert {entry.key for entry in legend(rewrite.with_view("union")) if entry.kind == "mark"} == {
        "+",
        "-",
        "~",
        "*",
    }
    assert {entry.kind for entry in legend(rewrite)} == {"role", "mark", "ghost", "value", "edge"}
    assert "constant" not in {entry.key for entry in legend(rewrite)}


@pytest.mark.parametrize(
    ("view", "edges", "dotted"),
    [
        ("before", {"removed"}, set()),
        ("after", {"added"}, set()),
        ("union", {"added", "removed"}, {"removed"}),
    ],
)
def test_every_colour_of_an_edge_is_explained(rewrite, theme, view, edges, dotted):
    shown = rewrite.with_view(view)
    explained = {entry.text: entry for entry in legend(shown) if entry.kind == "edge"}
    assert set(explained) == {f"edge {each}" for each in edges}
    assert {text for text, entry in explained.items() if entry.is_faint} == {f"edge {e}" for e in dotted}
    root = ET.fromstring(svg_text(shown, theme))
    looks = [
        (" C " in path.get("d"), (path.get("stroke"), "stroke-dasharray" in path.attrib))
        for path in root.iter(f"{SVG}path")
    ]
    curves, swatches = ({look for is_curve, look in looks if is_curve is kind} for kind in (True, False))
    # Ghosts of edges are explained with the ghosts of boxes.
    ghosts = {(theme.ui["muted"].hex, True)}
    assert curves - ghosts <= swatches
    assert {(theme.marks[each].hex, each in dotted) for each in edges} <= curves & swatches
    assert ("edge removed" in legend_text(shown)) == bool(dotted)


def test_a_long_title_is_broken_into_lines_as_wide_as_the_picture(rewrite, theme):
    words = [f"word_{number}" for number in range(60)]
    svg = svg_text(rewrite, theme, title=" ".join(words))
    root = ET.fromstring(svg)
    lines = [each for each in root.iter(f"{SVG}text") if (each.text or "").startswith("word_")]
    assert len(lines) > 3
    assert " ".join(each.text for each in lines).split() == words
    ends = [float(each.get("x")) + float(each.get("textLength")) for each in lines]
    assert max(ends) <= float(root.get("width")) - 20
    tops = [float(each.get("y")) for each in lines]
    assert tops == sorted(set(tops))
    shift = ET.fromstring(svg_text(rewrite, theme)).find(f"{SVG}g").get("transform")
    below = root.find(f"{SVG}g").get("transform")
    assert float(below.split()[-1].rstrip(")")) - float(shift.split()[-1].rstrip(")")) >= 22 * len(lines)


def test_text_from_the_graph_cannot_leave_its_place_in_an_svg(nasty, theme):
    svg = svg_text(nasty, theme, title=NASTY)
    root = ET.fromstring(svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "rect", "g", "text", "path", "polygon", "circle"}
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", svg)


@pytest.mark.parametrize("title", ["<b>html</b>", "a\\nb", 'quote"s', "port:n"])
def test_text_from_the_graph_is_literal_in_dot(engine, theme, title):
    graph = Graph()
    graph.input(title, 4)
    source = dot_source(picture(graph.body(), None, [0], {}, engine=engine), theme, title=title)
    drawn = LayoutEngine().run(source, "svg").decode()
    root = ET.fromstring(drawn[drawn.index("<svg") :])
    shown = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert shown.count(title) == 2, "once as the title, once as the box's name"


def test_nasty_text_makes_valid_dot(nasty, theme):
    LayoutEngine().run(dot_source(nasty, theme, title=NASTY), "plain")


def test_the_dot_file_has_the_same_boxes_and_edges(rewrite, theme):
    source = dot_source(rewrite, theme)
    layout = LayoutEngine().layout(source)
    assert set(layout.boxes) == {box.id for box in rewrite.boxes}
    assert (0, 100) in layout.splines
    assert (0, 1) not in layout.splines


def test_a_png_is_drawn_by_cairosvg_at_twice_the_size(rewrite, theme):
    data = render(rewrite, "png", theme)
    assert data.startswith(b"\x89PNG\r\n")
    width = int.from_bytes(data[16:20], "big")
    svg_width = int(ET.fromstring(svg_text(rewrite, theme)).get("width"))
    assert width == 2 * svg_width


def test_without_cairosvg_the_engine_draws_the_png(rewrite, theme, monkeypatch):
    monkeypatch.setattr(png_module, "svg_to_png", lambda svg: None)
    assert render(rewrite, "png", theme).startswith(b"\x89PNG\r\n")


def test_without_either_the_error_names_the_extra(rewrite, theme, monkeypatch):
    monkeypatch.setattr(png_module, "svg_to_png", lambda svg: None)

    class Broken(LayoutEngine):
        def run(self, dot, output, cancel=None):
            raise LayoutError("no png here")

    with pytest.raises(MissingDependencyError, match=r"pip install 'qdqviz\[png\]', or write an .svg"):
        render(rewrite, "png", theme, engine=Broken())


def test_cairosvg_that_does_not_import_is_no_crash(monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    assert png_module.svg_to_png("<svg/>") is None


def test_a_text_file_has_the_picture_and_a_legend(rewrite, theme, tmp_path):
    write_picture(rewrite, tmp_path / "a.txt", theme, title="step\x1b 3")
    text = (tmp_path / "a.txt").read_text()
    assert text.startswith("step␛ 3\n\n")
    assert "┏ + quantize_new" in text
    assert text.rstrip().endswith("⣿ real values ⢸ integers")


@pytest.mark.parametrize("ending", ["svg", "png", "dot", "txt"])
def test_the_ending_of_a_file_gives_its_format(rewrite, theme, tmp_path, ending):
    path = tmp_path / f"a.{ending.upper()}"
    assert format_of(path) == ending
    write_picture(rewrite, path, theme)
    assert path.stat().st_size > 200


def test_unknown_endings_and_folders_that_are_not_there_are_usage_errors(rewrite, theme, tmp_path):
    with pytest.raises(UsageError, match=r"end its name in .svg, .png, .dot or .txt"):
        format_of(Path("a.gif"))
    with pytest.raises(UsageError, match="cannot write"):
        write_picture(rewrite, tmp_path / "missing" / "a.svg", theme)


def test_drawing_imports_no_torch_and_no_cairosvg():
    code = (
        "import sys; import qdqviz.draw.files, qdqviz.draw.lanes, qdqviz.draw.ansi, qdqviz.draw.walk;"
        "print([name for name in ('torch', 'cairosvg', 'textual') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
