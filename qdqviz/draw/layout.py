"""Where everything is: boxes and edge splines in inches, read from Graphviz's `-Tplain` output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qdqviz.errors import LayoutError

COLUMN = 0.1
"""Width of one character column, in inches."""

ROW = 0.2
"""Height of one text row, in inches."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point; the origin is the picture's top left corner."""

    x: float
    """Inches to the right."""
    y: float
    """Inches down."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A box's place."""

    x: float
    """Left edge, in inches from the picture's left."""
    y: float
    """Top edge, in inches from the picture's top."""
    width: float
    """Inches."""
    height: float
    """Inches."""

    @property
    def center(self) -> Point:
        """The middle."""
        return Point(self.x + self.width / 2, self.y + self.height / 2)


@dataclass(frozen=True, slots=True)
class Layout:
    """A laid-out graph."""

    width: float
    """Inches."""
    height: float
    """Inches."""
    boxes: Mapping[int, Rect]
    """Box key -> place."""
    splines: Mapping[tuple[int, int], tuple[Point, ...]]
    """(source, target) -> control points of cubic Bézier segments: 3 n + 1 points, from source to target."""


@dataclass(frozen=True, slots=True)
class BoxSize:
    """A box before layout."""

    key: int
    """Names the box."""
    columns: int
    """Width in character columns, frame included."""
    rows: int
    """Height in text rows, frame included."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge before layout."""

    source: int
    """Key of the box that it leaves."""
    target: int
    """Key of the box that it enters."""
    ranks: bool = True
    """False for an edge that shall not decide which box is above the other."""
    weight: int = 1
    """How much it wants to be short and straight."""


def parse_plain(text: str) -> Layout:
    """Read `-Tplain` output whose node names are `n<key>`.

    Raises:
        LayoutError: If the text is not what Graphviz writes.
    """
    lines = text.splitlines()
    try:
        if not lines or not lines[0].startswith("graph "):
            raise ValueError("no graph line")
        _, _, width, height = lines[0].split()[:4]
        high = float(height)
        boxes: dict[int, Rect] = {}
        splines: dict[tuple[int, int], tuple[Point, ...]] = {}
        for line in lines[1:]:
            # Numbers come before labels, so that blanks within a label do no harm.
            words = line.split()
            if words[0] == "node":
                x, y, wide, tall = map(float, words[2:6])
                boxes[_key(words[1])] = Rect(x - wide / 2, high - y - tall / 2, wide, tall)
            elif words[0] == "edge":
                splines[_key(words[1]), _key(words[2])] = _points(words, high)
        return Layout(float(width), high, boxes, splines)
    except (ValueError, IndexError) as error:
        raise LayoutError(f"the layout engine's answer is not Graphviz plain text ({error})") from error


def _key(name: str) -> int:
    return int(name.removeprefix("n"))


def _points(words: Sequence[str], high: float) -> tuple[Point, ...]:
    count = int(words[3])
    numbers = [float(word) for word in words[4 : 4 + 2 * count]]
    return tuple(Point(x, high - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True))
