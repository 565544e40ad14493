"""A drawn grid of character cells, and one to draw on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qdqviz.draw.text import graphemes


@dataclass(frozen=True, slots=True)
class CellRect:
    """A box's place in cells."""

    column: int
    """Left column."""
    row: int
    """Top row."""
    columns: int
    """Width, frame included."""
    rows: int
    """Height, frame included."""

    def __contains__(self, cell: tuple[int, int]) -> bool:
        column, row = cell
        return 0 <= column - self.column < self.columns and 0 <= row - self.row < self.rows


@dataclass(frozen=True)
class Cells:
    """A drawn grid. All its text is safe to write to a terminal."""

    width: int
    """Columns."""
    height: int
    """Rows."""
    glyphs: tuple[tuple[str, ...], ...]
    """Text of each cell by row and column; the cell behind a wide character is empty."""
    styles: tuple[tuple[str, ...], ...]
    """Style of each cell by row and column: a key of `qdqviz.draw.theme.Theme.style`."""
    rects: Mapping[int, CellRect]
    """Box id -> its place; gaps are left out."""

    def runs(self, row: int, start: int = 0, stop: int | None = None) -> list[tuple[str, str]]:
        """(text, style) runs of one row between two columns, padded with blanks to exactly that width.

        A wide character that the window cuts in half becomes a blank.
        """
        end = self.width if stop is None else stop
        found: list[tuple[str, str]] = []
        for column in range(start, end):
            glyph, style = self._cell(row, column, start, end)
            if found and found[-1][1] == style:
                found[-1] = (found[-1][0] + glyph, style)
            else:
                found.append((glyph, style))
        return found

    def _cell(self, row: int, column: int, start: int, end: int) -> tuple[str, str]:
        if not (0 <= row < self.height and 0 <= column < self.width):
            return " ", ""
        glyph, style = self.glyphs[row][column], self.styles[row][column]
        if glyph == "" and column == start:
            return " ", style
        if column == end - 1 and column + 1 < self.width and self.glyphs[row][column + 1] == "":
            return " ", style
        return glyph, style

    def at(self, column: int, row: int) -> int | None:
        """The box at a cell, for a mouse; None where there is none."""
        return next((node for node, rect in self.rects.items() if (column, row) in rect), None)

    def plain(self) -> str:
        """The picture as text without colours, no blanks at the ends of lines."""
        return "\n".join("".join(row).rstrip() for row in self.glyphs)


class Grid:
    """Columns by rows, blank at first. What does not fit is left out."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self.glyphs = [[" "] * columns for _ in range(rows)]
        self.styles = [[""] * columns for _ in range(rows)]

    def put(self, column: int, row: int, glyph: str, style: str) -> None:
        """Set one cell."""
        if 0 <= column < self.columns and 0 <= row < self.rows:
            self.glyphs[row][column] = glyph
            self.styles[row][column] = style

    def write(self, column: int, row: int, text: str, style: str) -> None:
        """Write text from a cell on; a wide character takes two cells, the second one empty."""
        for cluster, wide in graphemes(text):
            self.put(column, row, cluster, style)
            if wide == 2:
                self.put(column + 1, row, "", style)
            column += wide

    def cells(self, rects: Mapping[int, CellRect]) -> Cells:
        """The grid as it is now."""
        glyphs, styles = tuple(map(tuple, self.glyphs)), tuple(map(tuple, self.styles))
        return Cells(self.columns, self.rows, glyphs, styles, rects)
