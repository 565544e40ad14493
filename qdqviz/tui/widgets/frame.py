"""The lines round the panes, which lie behind them; titles and tabs in them can be clicked."""

from __future__ import annotations

from textual.events import Click
from textual.geometry import Region
from textual.strip import Strip

from qdqviz.tui.messages import CaptionPicked
from qdqviz.tui.model.frame import Frame, Lines
from qdqviz.tui.widgets.paint import strip_of
from qdqviz.tui.widgets.pane import Painted


class FrameView(Painted):
    """Draws a frame over the whole screen."""

    frame: Frame | None = None
    _lines: Lines | None = None

    def show(self, frame: Frame) -> None:
        """Show another frame; only rows that differ are drawn anew."""
        old, self.frame = self.frame, frame
        if old is None or self._lines is None or old.outline != frame.outline:
            self._lines = frame.lines()
            self.refresh()
        elif old != frame:
            rows = {spot.y for each in (old, frame) for spot, _, _ in each.captions()}
            self.refresh(*(Region(0, row, frame.width, 1) for row in sorted(rows)))

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        if self.frame is None or self._lines is None:
            return strip_of([], self.look, self.size.width)
        return strip_of(self.frame.row(y, self._lines), self.look, self.size.width)

    def on_click(self, event: Click) -> None:
        """Go to the tab or pane whose caption was clicked."""
        name = None if self.frame is None else self.frame.spot(event.x, event.y)
        if name is not None:
            self.post_message(CaptionPicked(name))
