"""The lines round the panes, which lie behind them; titles and tabs in them can be clicked."""

from __future__ import annotations

from textual.events import Click
from textual.strip import Strip

from qdqviz.tui.messages import CaptionPicked
from qdqviz.tui.model.frame import Frame
from qdqviz.tui.widgets.paint import strip_of
from qdqviz.tui.widgets.pane import Painted


class FrameView(Painted):
    """Draws a frame over the whole screen."""

    frame: Frame | None = None

    def show(self, frame: Frame) -> None:
        """Show another frame."""
        self.frame = frame
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        runs = [] if self.frame is None else self.frame.row(y)
        return strip_of(runs, self.look, self.size.width)

    def on_click(self, event: Click) -> None:
        """Go to the tab or pane whose caption was clicked."""
        name = None if self.frame is None else self.frame.spot(event.x, event.y)
        if name is not None:
            self.post_message(CaptionPicked(name))
