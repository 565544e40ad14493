"""Rows of text as aligned columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from qdqviz.ir.text import safe_text


def columns(
    rows: Sequence[Sequence[str]], right: Collection[int] = (), *, ragged: bool = True
) -> Iterator[str]:
    """Yield each row as one line, its cells padded to the widest of their column.

    Args:
        rows: Cells; control characters in them are shown as symbols, so that a row stays one line.
        right: Indices of the columns that align to the right.
        ragged: Leave out blanks at the ends of lines.
    """
    from rich.cells import cell_len

    cells = [[safe_text(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (
            " " * (width - cell_len(cell)) + cell if index in right else cell + " " * (width - cell_len(cell))
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        line = "  ".join(padded)
        yield line.rstrip() if ragged else line
