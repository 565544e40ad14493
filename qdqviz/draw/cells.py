"""A picture in character cells: boxes in box characters, edges as braille splines.

What a step does is told without colour too: a heavy frame with `+` is added, a dashed one with `-` removed,
a double one with `~` rewired; `*` makes something else, `↕` runs earlier or later. `↑2` and `↓3` in a frame
are inputs and users that the picture does not show, `▸` is a fold. Thick edges carry real values, thin ones
integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qdqviz.draw.braille import BrailleCanvas
from qdqviz.draw.grid import CellRect, Cells, Grid
from qdqviz.draw.layout import COLUMN, ROW
from qdqviz.draw.legend import value_kind
from qdqviz.draw.picture import Box, Edge, Picture, Presence
from qdqviz.draw.text import center, cut_middle
from qdqviz.draw.union import Mark
from qdqviz.ir.text import is_real

_LEFT, _TOP = 1, 0
"""Free columns and rows around the picture."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The strokes of a box."""

    corners: str
    """Top left, top right, bottom left, bottom right."""
    across: str
    """Horizontal stroke."""
    down: str
    """Vertical stroke."""


PLAIN = Frame("╭╮╰╯", "─", "│")
FRAMES: Mapping[Mark, Frame] = {
    Mark.NONE: PLAIN,
    Mark.CHANGED: PLAIN,
    Mark.MOVED: PLAIN,
    Mark.ADDED: Frame("┏┓┗┛", "━", "┃"),
    Mark.REMOVED: Frame("┌┐└┘", "╌", "╎"),
    Mark.REWIRED: Frame("╔╗╚╝", "═", "║"),
}
"""Strokes by what the step does to a box."""

FOLDED = "▸"
"""Stands in the frame of a fold: there is more inside."""

_GHOST_FRAME = Frame("┌┐└┘", "┄", "┆")


def draw_cells(picture: Picture, *, selected: int | None = None) -> Cells:
    """Draw a picture in its view.

    Args:
        picture: What to draw.
        selected: A box to highlight (style `selected`).
    """
    rects = {box.id: _cell_rect(box) for box in picture.boxes}
    columns = (
        max([round(picture.width / COLUMN), *(rect.column + rect.columns for rect in rects.values())]) + 1
    )
    rows = max([round(picture.height / ROW), *(rect.row + rect.rows for rect in rects.values())])
    grid = Grid(columns, rows)
    canvas = BrailleCanvas()
    for edge in sorted(picture.edges, key=_edge_order):
        if edge.presence is not Presence.GAP:
            _draw_edge(canvas, edge)
    for column, row, character, style in canvas.cells():
        grid.put(column, row, character, style)
    for box in picture.boxes:
        if box.presence is not Presence.GAP:
            _draw_box(grid, rects[box.id], box, box.id == selected)
    shown = {box.id: rects[box.id] for box in picture.boxes if box.presence is not Presence.GAP}
    return grid.cells(shown)


def _cell_rect(box: Box) -> CellRect:
    rect = box.rect
    return CellRect(
        column=round(rect.x / COLUMN) + _LEFT,
        row=round(rect.y / ROW) + _TOP,
        columns=round(rect.width / COLUMN),
        rows=round(rect.height / ROW),
    )


def edge_style(edge: Edge) -> str:
    """Style of an edge: by what the step does to it, else by what it carries."""
    if edge.presence is Presence.GHOST:
        return "ghost"
    if edge.mark is not Mark.NONE:
        return f"mark.{edge.mark.name.lower()}"
    return f"edge.{value_kind(edge.dtype)}"


def _edge_order(edge: Edge) -> int:
    """Ghosts lowest, then what stays, then what is added or removed."""
    return -1 if edge.presence is Presence.GHOST else int(edge.mark is not Mark.NONE)


def _draw_edge(canvas: BrailleCanvas, edge: Edge) -> None:
    thick = edge.dtype is not None and is_real(edge.dtype) and not edge.is_faint
    canvas.curve(edge.points, edge_style(edge), thick=thick, dotted=edge.is_faint)


def _draw_box(grid: Grid, rect: CellRect, box: Box, is_selected: bool) -> None:
    is_ghost = box.presence is Presence.GHOST
    frame = _GHOST_FRAME if is_ghost else FRAMES[box.mark]
    stroke = _frame_style(box, is_selected)
    inside = rect.columns - 2
    bottom = rect.row + rect.rows - 1
    right = rect.column + rect.columns - 1
    grid.write(rect.column, rect.row, frame.corners[0] + frame.across * inside + frame.corners[1], stroke)
    grid.write(rect.column, bottom, frame.corners[2] + frame.across * inside + frame.corners[3], stroke)
    for index in range(rect.rows - 2):
        row = rect.row + 1 + index
        text = box.lines[index] if index < len(box.lines) else ""
        grid.put(rect.column, row, frame.down, stroke)
        grid.write(rect.column + 1, row, f" {center(text, inside - 2)} ", _line_style(box, index))
        grid.put(right, row, frame.down, stroke)
    _write_title(grid, rect, box, stroke)
    if box.more_users:
        more = f"↓{box.more_users}"
        grid.write(right - 1 - len(more), bottom, more, "ghost" if is_ghost else "more")


def _write_title(grid: Grid, rect: CellRect, box: Box, stroke: str) -> None:
    """Mark, name and hidden inputs, in the top frame."""
    more = f"↑{box.more_inputs}" if box.more_inputs else ""
    mark = f"{box.mark} " if box.mark is not Mark.NONE else ""
    room = rect.columns - 4 - len(mark) - (len(more) + 1 if more else 0)
    is_ghost = box.presence is Presence.GHOST
    column = rect.column + 1
    if mark:
        grid.write(column, rect.row, f" {mark}", stroke)
        column += 1 + len(mark)
    name = cut_middle(box.name, room) if box.kind == "node" else FOLDED
    if name:
        lead = "" if mark else " "
        grid.write(column, rect.row, f"{lead}{name} ", "ghost" if is_ghost else "name")
    if more:
        grid.write(
            rect.column + rect.columns - 2 - len(more), rect.row, more, "ghost" if is_ghost else "more"
        )


def _frame_style(box: Box, is_selected: bool) -> str:
    if is_selected:
        return "selected"
    if box.presence is Presence.GHOST:
        return "ghost"
    return f"frame.{box.role}" if box.mark is Mark.NONE else f"mark.{box.mark.name.lower()}"


def _line_style(box: Box, index: int) -> str:
    if box.presence is Presence.GHOST:
        return "ghost"
    return f"{'title' if index == 0 else 'detail'}.{box.role}"
