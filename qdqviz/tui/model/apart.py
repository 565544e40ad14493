"""How far apart before and after are drawn where a graph was replaced: they share a layout, but no box."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.tui.model.scene import Scene

if TYPE_CHECKING:
    from qdqviz.draw.grid import CellRect
    from qdqviz.draw.picture import Picture, View


def apart(scene: Scene) -> tuple[int, int]:
    """Columns and rows from the first box before to the first one after; (0, 0) where they share a box.

    Two panes that show the same part of the picture would show nothing in one of them.
    """
    if not scene.is_pair:
        return 0, 0
    before, after = _shown(scene.picture, "before"), _shown(scene.picture, "after")
    if not before or not after or before & after:
        return 0, 0
    rects = scene.cells["union"].rects
    old, new = (_corner([rects[box] for box in boxes if box in rects]) for boxes in (before, after))
    return new[0] - old[0], new[1] - old[1]


def _shown(picture: Picture, view: View) -> set[int]:
    from qdqviz.draw.picture import Presence

    return {box.id for box in picture.with_view(view).boxes if box.presence is Presence.SOLID}


def _corner(rects: list[CellRect]) -> tuple[int, int]:
    return min(rect.column for rect in rects), min(rect.row for rect in rects)
