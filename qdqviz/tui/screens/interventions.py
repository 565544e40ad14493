"""The list of what is being tried out: one can be taken back, all can be kept in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from qdqviz.ir.text import safe_text
from qdqviz.tui.model.details.fact import Line, Part
from qdqviz.tui.screens.dialog import Question
from qdqviz.tui.widgets.lines import LinesView

_MOST_ROWS = 10
"""Rows of the list."""


class InterventionsScreen(ModalScreen["int | str | None"]):
    """Answers the number of the intervention to take back, `save`, or None."""

    BINDINGS = [
        Binding("escape,q,i", "dismiss", "Close", show=False),
        Binding("up,k", "choose(-1)", "Up", show=False),
        Binding("down,j", "choose(1)", "Down", show=False),
        Binding("enter,delete,backspace,x", "drop", "Take back", show=False),
        Binding("s", "save", "Save", show=False),
    ]
    DEFAULT_CSS = """
    InterventionsScreen { background: transparent; align: left bottom; }
    InterventionsScreen > Vertical {
        height: auto; width: 100%; background: $surface; border-top: heavy $accent;
    }
    InterventionsScreen LinesView { width: 100%; }
    InterventionsScreen Static { height: 1; width: 100%; padding: 0 1; color: $text-muted; }
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Take the interventions, a line each."""
        super().__init__()
        self._texts = tuple(texts)
        self._list = LinesView(id="interventions")
        self._list.can_focus = False
        self._list.styles.height = max(1, min(len(self._texts), _MOST_ROWS))

    def compose(self) -> ComposeResult:
        """The list, and what can be done."""
        with Vertical():
            yield self._list
            some = "↑ ↓ choose · enter takes one back · s keeps them in a file · esc closes"
            none = "nothing is tried out: x vetoes, F forces · esc closes"
            yield Static(some if self._texts else none, markup=False)

    def on_mount(self) -> None:
        """Fill it."""
        self._list.marks_cursor = True
        self._list.set_lines([_line(text) for text in self._texts])

    def action_choose(self, by: int) -> None:
        """Choose the next or the previous one."""
        self._list.action_move(by)

    def action_drop(self) -> None:
        """Take back the one that is chosen."""
        if self._texts:
            self.dismiss(self._list.cursor)

    def action_save(self) -> None:
        """Keep all in a file."""
        if self._texts:
            self.dismiss("save")


class SaveScreen(Question[Path]):
    """Asks for the file that interventions are kept in."""

    ask = "keep the interventions in"
    hint = "a .toml file, which `--with` replays · enter writes · esc closes"

    def __init__(self) -> None:
        super().__init__("interventions.toml")
        self._confirmed = ""

    def accept(self, text: str) -> None:
        """A file name that ends in .toml."""
        path = Path(text).expanduser()
        if path.suffix != ".toml":
            self.say(f"{safe_text(text)} does not end in .toml")
        elif path.is_dir() or not path.parent.is_dir():
            self.say(f"{path if path.is_dir() else path.parent} is {'a' if path.is_dir() else 'no'} folder")
        elif path.exists() and self._confirmed != text:
            self._confirmed = text
            self.say(f"{path} exists: enter again replaces it")
        else:
            self.dismiss(path)


def _line(text: str) -> Line:
    return (Part(f" {safe_text(text)}"),)
