"""What all painted widgets have in common: the app's look."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.widget import Widget

from qdqviz.tui.look import Look


class Painted(Widget):
    """A widget that paints its own lines in the app's look."""

    @property
    def look(self) -> Look:
        """The styles of the theme in use."""
        return look_of(self.app)


def look_of(app: App[Any]) -> Look:
    """The styles of the theme in use."""
    found = app.look  # type: ignore[attr-defined]
    assert isinstance(found, Look)
    return found
