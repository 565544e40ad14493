"""A picture as SVG: the same layout as in cells, with the theme's colours and a legend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import hypot

from qdqviz.draw.colour import Colour
from qdqviz.draw.layout import COLUMN, ROW, Point, Rect
from qdqviz.draw.legend import LegendEntry, legend, value_kind
from qdqviz.draw.picture import Box, Edge, Picture, Presence
from qdqviz.draw.text import cut, cut_middle, width, wrapped
from qdqviz.draw.theme import Theme
from qdqviz.draw.union import Mark
from qdqviz.ir.roles import Role
from qdqviz.ir.text import safe_text

SCALE = 84.0
"""Pixels per inch: a column is 8.4 wide, what a monospace font of size 14 takes."""

_FONT = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
_SIZE, _SMALL = 14, 11
_COLUMN, _ROW = COLUMN * SCALE, ROW * SCALE
_FAINT = ' stroke-dasharray="1.5 5" stroke-linecap="round"'
_MARGIN = 20.0
_LINE = 22.0
_TITLE = 80
"""Columns that a line of a title may have, where the picture is not wider."""


@dataclass(frozen=True, slots=True)
class _Look:
    """How a box is drawn."""

    stroke: Colour
    fill: Colour | None
    title: Colour
    detail: Colour
    width: float
    dash: str


def svg_text(picture: Picture, theme: Theme, *, title: str = "", with_legend: bool = True) -> str:
    """The picture as one self-contained SVG document.

    Args:
        picture: What to draw, in its view.
        theme: Its colours.
        title: What stands above it, in lines as wide as the picture; from anywhere, it is made safe.
        with_legend: Explain colours and signs below it.
    """
    entries = legend(picture) if with_legend else ()
    lines = wrapped(safe_text(title), max(_TITLE, int(picture.width / COLUMN) - 2)) if title else []
    head = len(lines) * _LINE + 8 if lines else 0.0
    wide = max(picture.width * SCALE, 46 * _COLUMN, *((width(line) + 2) * _COLUMN for line in lines))
    rows = _legend_rows(entries, wide)
    high = picture.height * SCALE + head + (len(rows) * _LINE + 18 if rows else 0)
    parts = [svg_open(wide + 2 * _MARGIN, high + 2 * _MARGIN, theme, title)]
    for index, line in enumerate(lines):
        y = _MARGIN + 14 + index * _LINE
        parts.append(svg_label(line, _MARGIN, y, theme.ui["foreground"], bold=True))
    shift = (wide - picture.width * SCALE) / 2
    parts.append(f'<g transform="translate({_MARGIN + shift:.1f} {_MARGIN + head:.1f})">')
    parts += svg_body(picture, theme)
    parts.append("</g>")
    parts += _legend(rows, theme, _MARGIN + head + picture.height * SCALE + 30)
    parts.append("</svg>\n")
    return "\n".join(parts)


def svg_open(wide: float, high: float, theme: Theme, title: str, css: str = "") -> str:
    """The start of a document: size, title, style, ground."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}"'
        f' viewBox="0 0 {wide:.0f} {high:.0f}" font-family="{_FONT}" font-size="{_SIZE}">\n'
        f"<title>{escape(safe_text(title) or 'graph')}</title>\n"
        f"{f'<style>{css}</style>' if css else ''}"
        f'<rect width="100%" height="100%" fill="{theme.background.hex}"/>'
    )


def svg_body(picture: Picture, theme: Theme) -> list[str]:
    """Edges and boxes, without a document around them; what is drawn later lies above."""
    return [*svg_edges(picture, theme), *svg_boxes(picture, theme)]


def svg_edges(picture: Picture, theme: Theme) -> list[str]:
    """Each edge of the view as a fragment."""
    edges = sorted(picture.edges, key=lambda edge: (not edge.is_faint, edge.mark is not Mark.NONE))
    return [_edge(edge, theme) for edge in edges if edge.presence is not Presence.GAP and edge.points]


def svg_boxes(picture: Picture, theme: Theme) -> list[str]:
    """Each box of the view as a fragment."""
    return [_box(box, theme) for box in picture.boxes if box.presence is not Presence.GAP]


def svg_label(
    text: str,
    x: float,
    y: float,
    colour: Colour,
    *,
    bold: bool = False,
    size: float = _SIZE,
    anchor: str = "start",
) -> str:
    """One line of text whose width is what a monospace font makes it, whatever font there is."""
    shown = safe_text(text)
    length = width(shown) * _COLUMN * size / _SIZE
    weight = ' font-weight="bold"' if bold else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour.hex}" font-size="{size:g}" textLength="{length:.1f}"'
        f' lengthAdjust="spacingAndGlyphs" xml:space="preserve"{weight}{place}>{escape(shown)}</text>'
    )


def _scaled(rect: Rect) -> Rect:
    return Rect(rect.x * SCALE, rect.y * SCALE, rect.width * SCALE, rect.height * SCALE)


def _look(box: Box, theme: Theme) -> _Look:
    muted, text = theme.ui["muted"], theme.ui["foreground"]
    if box.presence is Presence.GHOST:
        return _Look(muted, None, muted, muted, 1.2, "2 4")
    role = theme.roles[box.role]
    if box.mark is Mark.NONE:
        return _Look(role, theme.tint(box.role), role, text, 1.3, "")
    stroke = theme.marks[box.mark.name.lower()]
    heavy = {Mark.ADDED: 2.8, Mark.REMOVED: 1.8, Mark.REWIRED: 1.4, Mark.CHANGED: 1.4, Mark.MOVED: 1.4}[
        box.mark
    ]
    return _Look(stroke, theme.tint(box.role), role, text, heavy, "7 4" if box.mark is Mark.REMOVED else "")


def _box(box: Box, theme: Theme) -> str:
    rect, look = _scaled(box.rect), _look(box, theme)
    parts = [f'<g id="n{box.id}"><title>{escape(box.full_name)}</title>', _frame(rect, look, box)]
    columns = round(box.rect.width / COLUMN)
    middle = rect.x + rect.width / 2
    top = rect.y + (rect.height - (len(box.lines) - 1) * _ROW) / 2 + (9 if box.name else 5)
    for index, line in enumerate(box.lines):
        colour = look.title if index == 0 else look.detail
        shown = cut(line, columns - 2)
        parts.append(svg_label(shown, middle, top + index * _ROW, colour, bold=index == 0, anchor="middle"))
    parts += _signs(box, rect, theme, columns)
    parts.append("</g>")
    return "".join(parts)


def _frame(rect: Rect, look: _Look, box: Box) -> str:
    fill = look.fill.hex if look.fill is not None else "none"
    dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
    frame = _rounded(rect, 0, f'fill="{fill}" stroke="{look.stroke.hex}" stroke-width="{look.width}"{dash}')
    if box.mark is Mark.REWIRED and box.presence is Presence.SOLID:
        frame += _rounded(rect, 3.5, f'fill="none" stroke="{look.stroke.hex}" stroke-width="1"')
    if box.kind != "node":
        # A second sheet behind it says that there is more inside.
        behind = Rect(rect.x + 4, rect.y + 4, rect.width, rect.height)
        frame = _rounded(behind, 0, f'fill="{fill}" stroke="{look.stroke.hex}" stroke-width="1"') + frame
    return frame


def _rounded(rect: Rect, inset: float, attributes: str) -> str:
    return (
        f'<rect x="{rect.x + inset:.1f}" y="{rect.y + inset:.1f}" width="{rect.width - 2 * inset:.1f}"'
        f' height="{rect.height - 2 * inset:.1f}" rx="{7 - inset:g}" {attributes}/>'
    )


def _signs(box: Box, rect: Rect, theme: Theme, columns: int) -> Iterable[str]:
    """Name, mark and hidden neighbours, along the frame."""
    muted = theme.ui["muted"]
    ghost = box.presence is Presence.GHOST
    left = rect.x + 9.0
    if box.mark is not Mark.NONE:
        yield _badge(
            box.mark, rect.x + 1, rect.y + 1, muted if ghost else theme.marks[box.mark.name.lower()], theme
        )
        left += 5.0
    name_y = rect.y + 0.82 * _ROW
    if box.name:
        yield svg_label(
            cut_middle(box.name, int((columns - 6) * _SIZE / _SMALL)), left, name_y, muted, size=_SMALL
        )
    right = rect.x + rect.width - 8
    if box.more_inputs:
        yield svg_label(f"↑{box.more_inputs}", right, name_y, muted, size=_SMALL, anchor="end")
    if box.more_users:
        yield svg_label(
            f"↓{box.more_users}", right, rect.y + rect.height - 5, muted, size=_SMALL, anchor="end"
        )


def _badge(mark: Mark, x: float, y: float, colour: Colour, theme: Theme) -> str:
    sign = {Mark.REMOVED: "−", Mark.CHANGED: "∗"}.get(mark, str(mark))
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{colour.hex}"/>'
        f'<text x="{x:.1f}" y="{y + 5:.1f}" fill="{theme.background.hex}" font-weight="bold"'
        f' text-anchor="middle">{escape(sign)}</text>'
    )


def edge_colour(edge: Edge, theme: Theme) -> Colour:
    """Colour of an edge: by what the step does to it, else by what it carries."""
    if edge.presence is Presence.GHOST:
        return theme.ui["muted"]
    return (
        theme.values[value_kind(edge.dtype)]
        if edge.mark is Mark.NONE
        else theme.marks[edge.mark.name.lower()]
    )


def _edge(edge: Edge, theme: Theme) -> str:
    colour = edge_colour(edge, theme).hex
    wide = {"real": 2.6, "integer": 1.5, "other": 1.0}[value_kind(edge.dtype)]
    points = [Point(point.x * SCALE, point.y * SCALE) for point in edge.points]
    end = points[-1]
    back = _unit(points)
    neck = Point(end.x - 8 * back.x, end.y - 8 * back.y)
    curve = " ".join(f"{point.x:.1f} {point.y:.1f}" for point in (*points[1:-1], neck))
    dash = _FAINT if edge.is_faint else ""
    line = (
        f'<path d="M {points[0].x:.1f} {points[0].y:.1f} C {curve}" fill="none" stroke="{colour}"'
        f' stroke-width="{1.4 if edge.is_faint else wide}"{dash}/>'
    )
    half = 3.2 + wide / 2
    corners = (
        (end.x, end.y),
        (neck.x - half * back.y, neck.y + half * back.x),
        (neck.x + half * back.y, neck.y - half * back.x),
    )
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'{line}<polygon points="{head}" fill="{colour}"/>'


def _unit(points: Sequence[Point]) -> Point:
    """Direction in which a curve arrives at its end."""
    end = points[-1]
    for point in reversed(points[:-1]):
        length = hypot(end.x - point.x, end.y - point.y)
        if length > 1:
            return Point((end.x - point.x) / length, (end.y - point.y) / length)
    return Point(0, 1)


def _legend_rows(entries: Sequence[LegendEntry], wide: float) -> list[list[tuple[float, LegendEntry]]]:
    """Entries in rows no wider than the picture, each with its x."""
    rows: list[list[tuple[float, LegendEntry]]] = []
    x = wide
    for entry in entries:
        space = 30 + (width(entry.text) + 2) * _COLUMN
        if x + space > wide:
            rows.append([])
            x = 0
        rows[-1].append((x, entry))
        x += space
    return rows


def _legend(rows: Sequence[Sequence[tuple[float, LegendEntry]]], theme: Theme, top: float) -> Iterable[str]:
    for index, row in enumerate(rows):
        y = top + index * _LINE
        for x, entry in row:
            yield _swatch(entry, _MARGIN + x, y, theme)
            yield svg_label(entry.text, _MARGIN + x + 30, y + 4, theme.ui["muted"], size=12)


def _swatch(entry: LegendEntry, x: float, y: float, theme: Theme) -> str:
    muted = theme.ui["muted"]
    place = Rect(x + 1, y - 7, 22, 14)
    if entry.kind == "role":
        role = Role(entry.key)
        return _rounded(place, 0, f'fill="{theme.tint(role).hex}" stroke="{theme.roles[role].hex}"')
    if entry.kind == "mark":
        mark = Mark(entry.key)
        return _badge(mark, x + 12, y, theme.marks[mark.name.lower()], theme)
    if entry.kind == "ghost":
        return _rounded(place, 0, f'fill="none" stroke="{muted.hex}" stroke-dasharray="2 4"')
    if entry.kind == "edge":
        colour = theme.marks[Mark(entry.key).name.lower()]
        return (
            f'<path d="M {x:.1f} {y:.1f} h 24" stroke="{colour.hex}"'
            f' stroke-width="{1.4 if entry.is_faint else 2.6}"{_FAINT if entry.is_faint else ""}/>'
        )
    if entry.kind == "value":
        wide = {"real": 2.6, "integer": 1.5}.get(entry.key, 1.0)
        line = f"M {x:.1f} {y:.1f} h 24"
        return f'<path d="{line}" stroke="{theme.values[entry.key].hex}" stroke-width="{wide}"/>'
    return svg_label("↑↓", x + 3, y + 4, muted, size=12)
