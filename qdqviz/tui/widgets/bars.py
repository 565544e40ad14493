"""The lines above and below the panes: header, status, keys."""

from __future__ import annotations

from textual.events import Click
from textual.strip import Strip

from qdqviz.draw.text import width
from qdqviz.tui.keys import footer_keys
from qdqviz.tui.model.details.fact import Part, wrap
from qdqviz.tui.widgets.paint import Run, strip_of
from qdqviz.tui.widgets.pane import Painted


class HeaderBar(Painted):
    """The first line: what is shown, and where one is."""

    runs: tuple[Run, ...] = ()

    def show(self, runs: list[Run]) -> None:
        """Show other runs."""
        if tuple(runs) != self.runs:
            self.runs = tuple(runs)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        return strip_of(self.runs, self.look, self.size.width, "ui.header")


class StatusBar(Painted):
    """One or two lines: what happened here."""

    text = ""
    style_key = "ui.status"

    def show(self, text: str, style: str = "ui.status") -> None:
        """Show another text; it must be safe to show."""
        if (text, style) != (self.text, self.style_key):
            self.text = text
            self.style_key = style
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One of the lines; the last one is cut where the text is longer."""
        columns = self.size.width
        rows = wrap([Part(self.text)], columns - 2)
        if y == self.size.height - 1:
            text = "".join(part.text for row in rows[y:] for part in row)
        else:
            text = "".join(part.text for part in rows[y]) if y < len(rows) else ""
        return strip_of([(" ", self.style_key), (text, self.style_key)], self.look, columns, self.style_key)


class KeysBar(Painted):
    """The last line: the keys that matter now; a click does what the key does."""

    pane = ""
    has_program = False

    def show(self, pane: str) -> None:
        """Show the keys for a kind of pane."""
        if pane != self.pane:
            self.pane = pane
            self.refresh()

    def allow(self, has_program: bool) -> None:
        """Show the keys that need a program, or leave them out."""
        if has_program != self.has_program:
            self.has_program = has_program
            self.refresh()

    def _shown(self) -> list[tuple[str, str, str]]:
        """(key, word, action) that fit; help and quit always do."""
        keys = footer_keys(self.pane, self.has_program)
        last = [key for key in keys if key[2] in ("help", "quit")]
        room = self.size.width - sum(self._width(key) for key in last)
        found = []
        for key in keys:
            if key not in last and self._width(key) <= room:
                found.append(key)
                room -= self._width(key)
        return [*found, *last]

    def _width(self, key: tuple[str, str, str]) -> int:
        return width(f" {key[0]} {key[1]} ")

    def render_line(self, y: int) -> Strip:
        """The line."""
        runs: list[Run] = []
        for key, word, _ in self._shown():
            runs += [(f" {key}", "ui.key"), (f" {word} ", "ui.word")]
        return strip_of(runs, self.look, self.size.width, "ui.word")

    async def on_click(self, event: Click) -> None:
        """Do what the key under the mouse does."""
        x = 0
        for key in self._shown():
            if x <= event.x < x + self._width(key):
                await self._run(key[2])
            x += self._width(key)

    async def _run(self, action: str) -> None:
        """Run an action of the screen, else of the pane that has the focus."""
        name = action.partition("(")[0]
        focused = self.app.focused
        own = focused is not None and not hasattr(self.screen, f"action_{name}")
        await self.app.run_action(action, focused if own else self.screen)
