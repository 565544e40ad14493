"""Panes of lines with a cursor, whose lines may lead to nodes: live ranges, details, search results."""

from __future__ import annotations

from collections.abc import Sequence

from textual.events import Click, MouseScrollDown, MouseScrollUp, Resize
from textual.strip import Strip

from qdqviz.draw.grid import Cells
from qdqviz.draw.text import width
from qdqviz.tui.keys import bindings
from qdqviz.tui.messages import LeadFollowed, NodePicked
from qdqviz.tui.model.details.fact import Fact, Line, Part, lay_out
from qdqviz.tui.model.details.leads import Lead
from qdqviz.tui.model.details.source_lines import source_lines
from qdqviz.tui.model.listing import Listing
from qdqviz.tui.widgets.paint import strip_of
from qdqviz.tui.widgets.pane import Painted

_MARGIN = Part(" ")
"""Blank column before facts."""

_WHEEL = 3
"""Rows for one notch of the wheel."""


class LinesView(Painted, can_focus=True):
    """Lines with a cursor that shows while the pane has the focus.

    It scrolls by itself: a ScrollView lays the whole screen out anew whenever the number of lines changes,
    which here happens with every step.
    """

    BINDINGS = bindings("text")
    pane_kind = "text"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.lines: Sequence[Line] = ()
        """What is shown."""
        self.top = 0
        """Index of the first line in view."""
        self.cursor = 0
        """Index of the line that enter follows."""
        self.marks_cursor = False
        """Whether the cursor shows without the focus too."""

    def set_lines(self, lines: Sequence[Line], *, keep: bool = False) -> None:
        """Show other lines, from the top unless `keep`."""
        self.lines = lines
        self.cursor = min(self.cursor, max(len(lines) - 1, 0)) if keep else 0
        self.scroll_lines_to(self.top if keep else 0)
        self.refresh()

    def scroll_lines_to(self, top: int) -> None:
        """Put a line at the top, as far as there are lines enough below it."""
        top = max(0, min(top, len(self.lines) - self.size.height))
        if top != self.top:
            self.top = top
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line, with a piece of the scroll bar where there are more lines than rows."""
        columns = self.size.width
        index = self.top + y
        has_bar = len(self.lines) > self.size.height
        cursor = ""
        if (self.has_focus or self.marks_cursor) and index == self.cursor < len(self.lines):
            cursor = "ui.cursor"
        runs = [(part.text, part.style) for part in self.lines[index]] if index < len(self.lines) else []
        strip = strip_of(runs, self.look, columns - has_bar, cursor=cursor)
        return Strip([*strip, *strip_of([self._bar(y)], self.look, 1)], columns) if has_bar else strip

    def _bar(self, y: int) -> tuple[str, str]:
        """The scroll bar at a row."""
        height, count = self.size.height, len(self.lines)
        size = max(height * height // count, 1)
        start = self.top * (height - size) // max(count - height, 1)
        return ("█", "ui.border") if start <= y < start + size else (" ", "")

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self.moved()
        self.scroll_lines_to(self.top + _WHEEL)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Scroll up."""
        event.stop()
        self.moved()
        self.scroll_lines_to(self.top - _WHEEL)

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.moved()
        self.cursor = max(0, min(self.cursor + by, len(self.lines) - 1))
        height = self.size.height
        if self.cursor < self.top:
            self.scroll_lines_to(self.cursor)
        elif self.cursor >= self.top + height:
            self.scroll_lines_to(self.cursor - height + 1)
        self.refresh()

    def action_page(self, by: int) -> None:
        """Move the cursor by a page."""
        self.action_move(by * max(self.size.height - 1, 1))

    def action_follow(self) -> None:
        """Go where the first part of the cursor's line that leads anywhere leads."""
        if self.cursor < len(self.lines):
            for part in self.lines[self.cursor]:
                if self._follow(part):
                    return

    def moved(self) -> None:
        """Somebody has gone to another line."""

    def lead_here(self) -> Lead | None:
        """Where the cursor's line leads, unless to a node of the graph that is shown."""
        line = self.lines[self.cursor] if self.cursor < len(self.lines) else ()
        return next((part.lead for part in line if part.lead is not None), None)

    def on_click(self, event: Click) -> None:
        """Go to the node under the mouse."""
        index = self.top + event.y
        if index >= len(self.lines):
            return
        self.moved()
        self.cursor = index
        self.refresh()
        x = 0
        for part in self.lines[index]:
            x += width(part.text)
            if event.x < x:
                self._follow(part)
                return

    def _follow(self, part: Part) -> bool:
        """Go where a part leads; False where that is nowhere."""
        if part.lead is not None:
            self.post_message(LeadFollowed(part.lead))
        elif part.node is not None:
            self.post_message(NodePicked(part.node))
        return part.lead is not None or part.node is not None


class DetailsView(LinesView):
    """Facts, or the source of a pass, laid out for the width that there is."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._content: Sequence[Fact] | Listing = ()
        self._is_fresh = False

    def show(self, content: Sequence[Fact] | Listing, *, keep: bool = False) -> None:
        """Show something else.

        Args:
            content: What to show; a listing is shown from its line to look at first.
            keep: Stay at the same line.
        """
        self._content = content
        self._is_fresh |= not keep
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        """Wrap again."""
        self._lay_out()

    def moved(self) -> None:
        """Somebody has gone to another line: that is where one stays."""
        self._is_fresh = False

    def _lay_out(self) -> None:
        keep = not self._is_fresh
        columns = self.size.width - 3
        if columns <= 8:
            return
        if not isinstance(self._content, Listing):
            self.set_lines([(_MARGIN, *line) for line in lay_out(self._content, columns)], keep=keep)
            return
        lines, start = source_lines(self._content, columns)
        self.set_lines([(_MARGIN, *line) for line in lines], keep=keep)
        if not keep:
            self.cursor = start
            self.scroll_lines_to(start - self.size.height // 3)


class LanesView(LinesView):
    """Live ranges; each lane leads to the node that makes its value."""

    def show(self, cells: Cells) -> None:
        """Show drawn lanes."""
        node_of_row = {
            rect.row + index: node for node, rect in cells.rects.items() for index in range(rect.rows)
        }
        self.set_lines(
            [_lane_line(cells, row, node_of_row.get(row)) for row in range(cells.height)], keep=True
        )

    def tell(self, notice: str) -> None:
        """Say something in place of the lanes."""
        self.set_lines([_notice(notice)])


def _lane_line(cells: Cells, row: int, node: int | None) -> Line:
    return tuple(Part(text, style, node) for text, style in cells.runs(row))


def _notice(text: str) -> Line:
    return (Part(f" {text}", "muted"),)
