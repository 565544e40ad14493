"""Find a node or a rewrite."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Click
from textual.widgets import Input

from qdqviz.draw.text import cut, cut_middle, pad
from qdqviz.tui.model.details.fact import Line, Part
from qdqviz.tui.model.finding import Hit
from qdqviz.tui.model.scene import Scene
from qdqviz.tui.screens.dialog import Question
from qdqviz.tui.widgets.lines import LinesView
from qdqviz.tui.workshop import Workshop


class HitsView(LinesView, can_focus=False):
    """The hits; keys go to the line below, a click picks."""

    def on_click(self, event: Click) -> None:
        """Pick the hit under the mouse."""
        event.stop()
        self.screen.pick(self.top + event.y)  # type: ignore[attr-defined]


class FindScreen(Question[Hit]):
    """Searches while one types."""

    BINDINGS = [
        Binding("up", "choose(-1)", "Up", show=False, priority=True),
        Binding("down", "choose(1)", "Down", show=False, priority=True),
        Binding("pageup", "choose(-10)", "Page up", show=False, priority=True),
        Binding("pagedown", "choose(10)", "Page down", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    FindScreen HitsView { height: 14; width: 100%; display: none; }
    FindScreen HitsView.-some { display: block; }
    """
    ask = "find a node or a rewrite"
    hint = "name, op, pass or step · ↑ ↓ choose · enter goes there · esc closes"

    def __init__(self, workshop: Workshop, scene: Scene | None) -> None:
        super().__init__()
        self._workshop = workshop
        self._scene = scene
        self._hits: Sequence[Hit] = ()
        self._text = ""
        self._list = HitsView(id="hits")

    def above(self) -> ComposeResult:
        """The hits."""
        yield self._list

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search for what is typed."""
        event.stop()
        self.search()

    def search(self) -> None:
        """Search for what is typed."""
        self._workshop.want_hits(self.line.value, self._scene)

    def take(self, text: str, hits: Sequence[Hit]) -> None:
        """Show what was found."""
        if text != self.line.value:
            return
        is_same, self._text, self._hits = text == self._text, text, hits
        self._list.set_class(bool(hits), "-some")
        self._list.marks_cursor = True
        self._list.set_lines([_line(hit, self.size.width - 2) for hit in hits], keep=is_same)
        self.say(_counts(hits) if text.strip() else self.hint)

    def action_choose(self, by: int) -> None:
        """Choose the next or the previous hit."""
        self._list.action_move(by)

    def accept(self, text: str) -> None:
        """The hit that is chosen."""
        self.pick(self._list.cursor)

    def pick(self, index: int) -> None:
        """Go to a hit."""
        if index < len(self._hits):
            self.dismiss(self._hits[index])


def _line(hit: Hit, columns: int) -> Line:
    name_columns = max(columns // 2, 20)
    if hit.kind == "step":
        return (
            Part(f" step {hit.id:<6} ", "mark.changed"),
            Part(pad(hit.name, name_columns - 6), ""),
            Part(f" {cut(hit.detail, columns - name_columns - 8)}", "muted"),
        )
    return (
        Part(" node ", "muted"),
        Part(pad(cut_middle(hit.name, name_columns), name_columns), ""),
        Part(f"  {cut(hit.detail, columns - name_columns - 8)}", "muted"),
    )


def _counts(hits: Sequence[Hit]) -> str:
    nodes = sum(hit.kind == "node" for hit in hits)
    steps = len(hits) - nodes
    if not hits:
        return "nothing found"
    parts = [
        f"{count:,} {word}{'' if count == 1 else 's'}"
        for count, word in ((nodes, "node"), (steps, "rewrite"))
    ]
    return " · ".join(part for part, count in zip(parts, (nodes, steps), strict=True) if count)
