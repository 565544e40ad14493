"""A question at the bottom of the screen, answered in one line."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

Answer = TypeVar("Answer")


class Question(ModalScreen[Answer | None], Generic[Answer]):
    """Asks for a line of text; escape answers None."""

    BINDINGS = [Binding("escape", "dismiss", "Close", show=False)]
    DEFAULT_CSS = """
    Question { background: transparent; align: left bottom; }
    Question > Vertical { height: auto; width: 100%; background: $surface; border-top: heavy $accent; }
    Question Horizontal { height: 1; width: 100%; }
    Question .ask { width: auto; text-style: bold; padding: 0 1; color: $accent; }
    Question Input {
        width: 1fr; border: none; height: 1; padding: 0; background: $surface;
    }
    Question Input:focus { border: none; }
    Question .say { height: 1; width: 100%; padding: 0 1; color: $text-muted; }
    """

    ask = ""
    """What is asked for."""
    hint = "enter accepts · esc closes"
    """Said below the line."""

    def __init__(self, value: str = "") -> None:
        super().__init__()
        self.line = Input(value, compact=True)
        """Where the answer is typed."""
        self.line.cursor_blink = False
        self._say = Static(self.hint, classes="say", markup=False)

    def compose(self) -> ComposeResult:
        """One line to type in, one line to say something."""
        with Vertical():
            yield from self.above()
            with Horizontal():
                yield Static(self.ask, classes="ask", markup=False)
                yield self.line
            yield self._say

    def above(self) -> ComposeResult:
        """What stands above the line."""
        yield from ()

    def say(self, text: str) -> None:
        """Say something below the line."""
        self._say.update(text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the answer, or say what is wrong with it."""
        event.stop()
        self.accept(event.value.strip())

    def accept(self, text: str) -> None:
        """Dismiss with an answer, or say what is wrong."""
        raise NotImplementedError
