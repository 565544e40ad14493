"""Edges as braille dots: every character cell holds 2 x 4 dots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qdqviz.draw.layout import COLUMN, ROW, Point

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""Bit of the dot in a column of a cell, from top to bottom."""

_BLANK = 0x2800
_ACROSS, _DOWN = 2 / COLUMN, 4 / ROW
"""Dots per inch."""

_TREMBLE = 2.5 * COLUMN
"""Splines that stay within this width, in inches, are drawn as vertical lines."""


class BrailleCanvas:
    """Dots over cells, each cell with the style that drew it last."""

    def __init__(self) -> None:
        self._bits: dict[tuple[int, int], int] = {}
        self._styles: dict[tuple[int, int], str] = {}

    def curve(
        self, points: Sequence[Point], style: str, *, thick: bool = False, dotted: bool = False
    ) -> None:
        """Draw cubic Bézier segments.

        Args:
            points: Control points, 3 n + 1, in inches.
            style: Style of the cells that it passes.
            thick: Two dots wide instead of one.
            dotted: Only every third dot.
        """
        if not points:
            return
        last = None
        step = 0
        for x, y in _samples(_straightened(points)):
            dot = int(x * _ACROSS), int(y * _DOWN)
            if dot == last:
                continue
            last = dot
            step += 1
            if not dotted or step % 3 == 1:
                self._set(*dot, style)
                if thick:
                    self._set(dot[0] - 1, dot[1], style)

    def _set(self, x: int, y: int, style: str) -> None:
        cell = x >> 1, y >> 2
        self._bits[cell] = self._bits.get(cell, 0) | _DOTS[x & 1][y & 3]
        self._styles[cell] = style

    def cells(self) -> Iterator[tuple[int, int, str, str]]:
        """(column, row, character, style) of every cell with a dot."""
        for cell, bits in self._bits.items():
            yield *cell, chr(_BLANK + bits), self._styles[cell]


def _straightened(points: Sequence[Point]) -> Sequence[Point]:
    """A spline that is all but vertical, made vertical: in cells its bends would only tremble."""
    least, most = min(point.x for point in points), max(point.x for point in points)
    if most - least >= _TREMBLE:
        return points
    middle = (least + most) / 2
    return [Point(middle, point.y) for point in points]


def _samples(points: Sequence[Point]) -> Iterator[tuple[float, float]]:
    """Points along the curve, dense enough to leave no dot out."""
    for start in range(0, len(points) - 3, 3):
        a, b, c, d = points[start : start + 4]
        across = (abs(a.x - b.x) + abs(b.x - c.x) + abs(c.x - d.x)) * _ACROSS
        down = (abs(a.y - b.y) + abs(b.y - c.y) + abs(c.y - d.y)) * _DOWN
        count = int(across + down) + 2
        if a.x == b.x == c.x == d.x:
            yield from ((a.x, a.y + (d.y - a.y) * index / count) for index in range(count + 1))
            continue
        for index in range(count + 1):
            t = index / count
            u = 1 - t
            p, q, r, s = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
            yield p * a.x + q * b.x + r * c.x + s * d.x, p * a.y + q * b.y + r * c.y + s * d.y
