"""The panes of a comparison: left and right in place of before and after."""

from __future__ import annotations

from qdqviz.draw.picture import View as PictureView
from qdqviz.draw.union import Mark
from qdqviz.tui.model.view import View
from qdqviz.tui.stage import Stage
from qdqviz.tui.widgets.outline import OutlineView


class PairStage(Stage):
    """Panes that say which side they show."""

    def __init__(self, outline: OutlineView, sides: tuple[str, str]) -> None:
        """Make the panes.

        Args:
            outline: The list.
            sides: What the sides are called.
        """
        super().__init__(outline)
        left, right = sides
        self._sides: dict[PictureView, str] = {"before": left, "after": right, "union": f"{left} + {right}"}
        self._signs = {Mark.REMOVED: f"only {left}", Mark.ADDED: f"only {right}", Mark.MOVED: "elsewhere"}

    def _caption(self, name: str, view: View) -> tuple[str, str]:
        cells = self.left.cells if name == "left" else self.right.cells
        cues = self.left.window.cues(cells) if cells is not None else ""
        side = self._sides[self.picture_view(name, view)]
        return f"{side}  {cues}".rstrip(), self._graph_note(view)

    def _graph_note(self, view: View) -> str:
        scene = self.scene
        if scene is None:
            return ""
        if scene.sight.left_out or scene.picture.cut:
            return super()._graph_note(view)
        marks = dict.fromkeys(box.mark for box in scene.picture.boxes if box.mark is not Mark.NONE)
        return "  ".join(f"{mark} {self._signs.get(mark, mark.name.lower())}" for mark in sorted(marks))
