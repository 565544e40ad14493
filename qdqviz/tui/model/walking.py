"""From box to box with the arrow keys: up and down along edges, sideways to what lies beside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from qdqviz.draw.picture import Box, Picture

Direction: TypeAlias = Literal["up", "down", "left", "right"]


def step_from(picture: Picture, box: int, direction: Direction) -> int | None:
    """The box that one gets to from a box, or None where there is none.

    Up leads to what a box reads, down to what reads it, the nearest one sideways first; left and right to
    the nearest box at the same height, else to the nearest at all on that side.
    """
    boxes = {each.id: each for each in visible_boxes(picture)}
    here = boxes.get(box)
    if here is None:
        return None
    if direction in ("up", "down"):
        return _along_edges(picture, boxes, here, direction)
    return _beside(boxes.values(), here, direction)


def entry(picture: Picture) -> int | None:
    """The box to begin with: the first one that the rewrite is about, else the first."""
    from qdqviz.draw.union import Mark

    boxes = visible_boxes(picture)
    ranked = sorted(boxes, key=lambda box: (box.mark is not Mark.ADDED, not box.focus))
    return ranked[0].id if ranked else None


def visible_boxes(picture: Picture) -> list[Box]:
    """Boxes that can be stepped on: all but gaps."""
    from qdqviz.draw.picture import Presence

    return [box for box in picture.boxes if box.presence is not Presence.GAP]


def _along_edges(picture: Picture, boxes: dict[int, Box], here: Box, direction: Direction) -> int | None:
    if direction == "up":
        found = [edge.source for edge in picture.edges if edge.target == here.id]
    else:
        found = [edge.target for edge in picture.edges if edge.source == here.id]
    near = [boxes[each] for each in found if each in boxes]
    best = min(near, key=lambda box: _apart(box, here), default=None)
    return None if best is None else best.id


def _beside(boxes: Iterable[Box], here: Box, direction: Direction) -> int | None:
    sign = 1 if direction == "right" else -1
    there = [box for box in boxes if sign * (box.rect.center.x - here.rect.center.x) > 1e-6]
    level = [box for box in there if _overlap(box, here)]
    best = min(level or there, key=lambda box: _distance(box, here), default=None)
    return None if best is None else best.id


def _apart(box: Box, here: Box) -> float:
    return abs(box.rect.center.x - here.rect.center.x)


def _overlap(box: Box, here: Box) -> bool:
    one, other = box.rect, here.rect
    return one.y < other.y + other.height and other.y < one.y + one.height


def _distance(box: Box, here: Box) -> float:
    """Rows count more than columns: what lies at about the same height is nearer."""
    return _apart(box, here) + 4 * abs(box.rect.center.y - here.rect.center.y)
