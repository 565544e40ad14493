"""A graph pane: a drawn picture that can be panned, and whose boxes can be picked."""

from __future__ import annotations

from textual.events import MouseDown, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp
from textual.strip import Strip

from qdqviz.draw.grid import Cells
from qdqviz.draw.text import center, width
from qdqviz.tui.keys import bindings
from qdqviz.tui.messages import CentreAsked, NodePicked, Panned, WalkAsked
from qdqviz.tui.model.walking import Direction
from qdqviz.tui.model.window import Window, window_runs
from qdqviz.tui.widgets.paint import strip_of
from qdqviz.tui.widgets.pane import Painted

_WHEEL = 3
"""Rows for one notch of the wheel."""


class GraphView(Painted, can_focus=True):
    """Shows one view of a picture. Before and after are two of these that pan together."""

    BINDINGS = bindings("graph")
    pane_kind = "graph"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.cells: Cells | None = None
        """What is drawn; None shows `notice`."""
        self.notice = "loading …"
        """Said in the middle while there is no picture."""
        self.selected: int | None = None
        """The box with the heavy frame."""
        self.caption: tuple[str, str] | None = None
        """Texts for the left and right of the first line; None leaves it to the picture."""
        self.window = Window(0, 0, 0, 0)
        """Which part is shown."""
        self._grip: tuple[int, int, Window] | None = None
        self._is_dragged = False

    def show(self, cells: Cells, window: Window) -> None:
        """Show a picture, or another part of it. The window may lie beyond the picture's edges."""
        self.cells = cells
        self.window = window
        self.refresh()

    def select(self, box: int | None) -> None:
        """Mark a box."""
        if box != self.selected:
            self.selected = box
            self.refresh()

    def tell(self, notice: str) -> None:
        """Say something in place of the picture."""
        self.cells = None
        self.notice = notice
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the picture, or of the notice."""
        columns = self.size.width
        if y == 0 and self.caption is not None:
            return self._caption_line(self.caption, columns)
        if self.cells is None:
            text = center(self.notice, columns) if y == self.size.height // 2 else ""
            return strip_of([(text, "muted")], self.look, columns)
        ring = None if self.selected is None else self.cells.rects.get(self.selected)
        return strip_of(window_runs(self.cells, self.window, y, ring), self.look, columns)

    def _caption_line(self, caption: tuple[str, str], columns: int) -> Strip:
        left, right = caption
        room = columns - width(left) - 3
        right = right if width(right) <= room else ""
        gap = " " * (columns - width(left) - width(right) - 2)
        return strip_of([(f" {left}", "ui.title"), (f"{gap}{right} ", "ui.note")], self.look, columns)

    # -- keys --------------------------------------------------------------------------------------

    def action_walk(self, direction: Direction) -> None:
        """To the next box in a direction; the screen knows the picture."""
        self.post_message(WalkAsked(direction))

    def action_pan(self, across: int, down: int) -> None:
        """Pan by half a pane."""
        window = self.window
        self._pan_to(window.x + across * window.columns // 2, window.y + down * window.rows // 2)

    def action_centre(self) -> None:
        """Look at the graph around the selected node."""
        self.post_message(CentreAsked())

    # -- mouse -------------------------------------------------------------------------------------

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take hold of the picture."""
        self._grip = (event.x, event.y, self.window)
        self._is_dragged = False
        self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Drag the picture."""
        if self._grip is None:
            return
        x, y, window = self._grip
        if (event.x, event.y) != (x, y):
            self._is_dragged = True
            self._pan_to(window.x + x - event.x, window.y + y - event.y)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Let go; where nothing was dragged, pick the box under the mouse."""
        self.release_mouse()
        grip, self._grip = self._grip, None
        if grip is None or self._is_dragged or self.cells is None:
            return
        box = self.cells.at(self.window.x + event.x, self.window.y + event.y)
        if box is not None:
            self.post_message(NodePicked(box))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Pan down, or right with shift or ctrl."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Pan up, or left with shift or ctrl."""
        self._wheel(event, -1)

    def _wheel(self, event: MouseScrollDown | MouseScrollUp, sign: int) -> None:
        event.stop()
        window = self.window
        if event.shift or event.ctrl:
            self._pan_to(window.x + 3 * sign * _WHEEL, window.y)
        else:
            self._pan_to(window.x, window.y + sign * _WHEEL)

    def _pan_to(self, x: int, y: int) -> None:
        if self.cells is None:
            return
        before = self.window
        self.show(self.cells, Window(x, y, before.columns, before.rows).within(self.cells))
        if self.window != before:
            self.post_message(Panned(self.id or "", self.window.x, self.window.y))
