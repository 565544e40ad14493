"""Panes of lines with a cursor, whose lines may lead to nodes: live ranges, details, search results."""

from __future__ import annotations

from collections.abc import Sequence

from textual.events import Click, Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from qdqviz.draw.grid import Cells
from qdqviz.draw.text import width
from qdqviz.tui.keys import bindings
from qdqviz.tui.messages import NodePicked
from qdqviz.tui.model.details.fact import Fact, Line, Part, lay_out
from qdqviz.tui.widgets.paint import strip_of
from qdqviz.tui.widgets.pane import Painted

_MARGIN = Part(" ")
"""Blank column before facts."""


class LinesView(Painted, ScrollView, can_focus=True, inherit_bindings=False):
    """Lines with a cursor that shows while the pane has the focus."""

    BINDINGS = bindings("text")
    pane_kind = "text"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.lines: Sequence[Line] = ()
        """What is shown."""
        self.cursor = 0
        """Index of the line that enter follows."""
        self.marks_cursor = False
        """Whether the cursor shows without the focus too."""

    def set_lines(self, lines: Sequence[Line], *, keep: bool = False) -> None:
        """Show other lines, from the top unless `keep`."""
        self.lines = lines
        self.virtual_size = Size(0, len(lines))
        self.cursor = min(self.cursor, max(len(lines) - 1, 0)) if keep else 0
        if not keep:
            self.scroll_to(y=0, animate=False, immediate=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        columns = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        if index >= len(self.lines):
            return strip_of([], self.look, columns)
        cursor = "ui.cursor" if (self.has_focus or self.marks_cursor) and index == self.cursor else ""
        runs = [(part.text, part.style) for part in self.lines[index]]
        return strip_of(runs, self.look, columns, cursor=cursor)

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.cursor = max(0, min(self.cursor + by, len(self.lines) - 1))
        height, top = self.size.height, self.scroll_offset.y
        if not top <= self.cursor < top + height:
            self.scroll_to(
                y=self.cursor if self.cursor < top else self.cursor - height + 1,
                animate=False,
                immediate=True,
            )
        self.refresh()

    def action_page(self, by: int) -> None:
        """Move the cursor by a page."""
        self.action_move(by * max(self.size.height - 1, 1))

    def action_follow(self) -> None:
        """Go to the first node that the cursor's line names."""
        if self.cursor < len(self.lines):
            self._follow(next((part.node for part in self.lines[self.cursor] if part.node is not None), None))

    def on_click(self, event: Click) -> None:
        """Go to the node under the mouse."""
        index = self.scroll_offset.y + event.y
        if index >= len(self.lines):
            return
        self.cursor = index
        self.refresh()
        x = 0
        for part in self.lines[index]:
            x += width(part.text)
            if event.x < x:
                self._follow(part.node)
                return

    def _follow(self, node: int | None) -> None:
        if node is not None:
            self.post_message(NodePicked(node))


class FactsView(LinesView):
    """Facts, laid out for the width that there is."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._facts: Sequence[Fact] = ()

    def show(self, facts: Sequence[Fact], *, keep: bool = False) -> None:
        """Show other facts."""
        self._facts = facts
        self._lay_out(keep)

    def on_resize(self, event: Resize) -> None:
        """Wrap again."""
        self._lay_out(True)

    def _lay_out(self, keep: bool) -> None:
        columns = self.size.width - 3
        if columns > 8:
            self.set_lines([(_MARGIN, *line) for line in lay_out(self._facts, columns)], keep=keep)


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
