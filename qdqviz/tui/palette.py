"""The command palette: the table of keys, and the themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from qdqviz.tui.keys import keys_of

if TYPE_CHECKING:
    from qdqviz.tui.app import QdqvizApp


class Commands(Provider):
    """Offers what keys do in any pane, and every theme by name."""

    async def discover(self) -> Hits:
        """All commands, before anything is typed."""
        for text, keys, act in self._commands():
            yield DiscoveryHit(text, act, text, keys)

    async def search(self, query: str) -> Hits:
        """Commands that a text matches."""
        matcher = self.matcher(query)
        for text, keys, act in self._commands():
            score = matcher.match(text)
            if score > 0:
                yield Hit(score, matcher.highlight(text), act, text, keys)

    def _commands(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        app: QdqvizApp = self.app  # type: ignore[assignment]
        screen = app.screen_stack[0]
        for key in keys_of(""):
            if key.action != "palette":
                yield key.text, key.shown, partial(app.run_action, key.action, screen)
        for name, theme in app.themes.items():
            yield f"Theme: {theme.title}", "", partial(app.use_theme, name)
