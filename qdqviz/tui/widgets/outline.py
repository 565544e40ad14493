"""The list of passes and rewrites: only the lines in view are made."""

from __future__ import annotations

from collections.abc import Callable

from textual.events import Click
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from qdqviz.tui.keys import bindings
from qdqviz.tui.messages import FoldToggled, PlacePicked, RowsSeen
from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.outline import Outline
from qdqviz.tui.model.row_text import BadgeOf, row_runs
from qdqviz.tui.widgets.paint import strip_of
from qdqviz.tui.widgets.pane import Painted


class OutlineView(Painted, ScrollView, can_focus=True, inherit_bindings=False):
    """Shows rows and a cursor; the cursor's row is where one is."""

    BINDINGS = bindings("steps")
    pane_kind = "steps"

    def __init__(self, title_of: Callable[[int], str | None], *, id: str) -> None:
        """Make an empty list.

        Args:
            title_of: Titles of rewrites as far as they are known.
            id: Textual's name for the widget.
        """
        super().__init__(id=id)
        self.outline = Outline((), 0)
        """The rows."""
        self.cursor = 0
        """Index of the row where one is."""
        self._lists: Lists | None = None
        self._folded: frozenset[int] = frozenset()
        self._title_of = title_of
        self._seen: tuple[int, ...] = ()
        self._badge_of: BadgeOf | None = None

    def show_badges(self, badge_of: BadgeOf | None) -> None:
        """Show badges, or none."""
        self._badge_of = badge_of
        self.refresh()

    def show(self, outline: Outline, lists: Lists, closed: frozenset[int]) -> None:
        """Show other rows."""
        self.outline = outline
        self._lists = lists
        self._folded = closed
        self.virtual_size = Size(0, len(outline.rows))
        self._seen = ()
        self.refresh()

    def move_to(self, index: int) -> None:
        """Put the cursor on a row and scroll it into view, with a few rows around it."""
        self.cursor = max(0, min(index, len(self.outline.rows) - 1))
        height = self.scrollable_content_region.height
        if not height:
            return  # its place is not known yet; once it is, the cursor is brought into view
        margin = min(3, max(height - 1, 0) // 3)
        top = self.scroll_offset.y
        if self.cursor - margin < top:
            top = self.cursor - margin
        elif self.cursor + margin >= top + height:
            top = self.cursor + margin + 1 - height
        self.scroll_to(y=max(top, 0), animate=False, immediate=True)
        self.refresh()

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.move_to(self.cursor)

    def steps_in_view(self) -> tuple[int, ...]:
        """Steps of the rows in view."""
        top = self.scroll_offset.y
        rows = self.outline.rows[top : top + self.size.height]
        return tuple(row.step for row in rows if row.step is not None)

    def render_line(self, y: int) -> Strip:
        """One row."""
        if y == 0:
            self._tell_what_is_seen()
        columns = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        if self._lists is None or index >= len(self.outline.rows):
            return strip_of([], self.look, columns)
        row = self.outline.rows[index]
        is_here = index == self.cursor
        runs = [("▶" if is_here else " ", "ui.focus")]
        runs += row_runs(row, self._lists, self._title_of, self._folded, columns - 1, self._badge_of)
        cursor = ("ui.cursor" if self.has_focus else "ui.cursor_blur") if is_here else ""
        return strip_of(runs, self.look, columns, cursor=cursor)

    def _tell_what_is_seen(self) -> None:
        seen = self.steps_in_view()
        if seen != self._seen:
            self._seen = seen
            self.post_message(RowsSeen())

    def action_move(self, by: int) -> None:
        """Go some rows up or down."""
        self._pick(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Go a page up or down."""
        self._pick(self.cursor + by * max(self.size.height - 2, 1))

    def action_fold(self) -> None:
        """Fold or unfold the pass that one is in."""
        rows = self.outline.rows
        if rows and (run := rows[self.cursor].run) is not None:
            self.post_message(FoldToggled(run))

    def on_click(self, event: Click) -> None:
        """Go to the row under the mouse; a click on where one is folds or unfolds a pass."""
        index = self.scroll_offset.y + event.y
        if index >= len(self.outline.rows):
            return
        if index == self.cursor and self.outline.rows[index].kind == "run":
            self.action_fold()
        else:
            self._pick(index)

    def _pick(self, index: int) -> None:
        rows = self.outline.rows
        if rows:
            place = rows[max(0, min(index, len(rows) - 1))].place
            self.post_message(PlacePicked(place))
