"""The terminal app with a comparison in it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from qdqviz.draw.ansi import Depth
from qdqviz.draw.theme import DEFAULT_THEME, Theme, load_theme
from qdqviz.tui.app import QdqvizApp
from qdqviz.tui.compare.archive import PairArchive
from qdqviz.tui.compare.screen import PairScreen
from qdqviz.tui.compare.source import Compared
from qdqviz.tui.terminal import answering, colour_depth


class CompareApp(QdqvizApp):
    """Walks through the differences between two traces."""

    def __init__(self, compared: Compared, theme: Theme, depth: Depth, folder: Path) -> None:
        """Make the app.

        Args:
            compared: What to show.
            theme: The colours to begin with.
            depth: How many colours the terminal has.
            folder: For what is written on the way.
        """
        super().__init__(compared.comparison.left, theme, depth, folder)
        self._compared = compared

    def get_default_screen(self) -> PairScreen:
        """The one screen that is always there."""
        return PairScreen(self._compared.sides)

    def begin(self) -> None:
        """Show the comparison."""
        self.main.open_archive(PairArchive(self._compared, self.sparing))


def run_compare(compared: Compared, *, theme: str = DEFAULT_THEME) -> int:
    """Show a comparison. Returns the exit code.

    Args:
        compared: What to show; its traces stay open until this returns.
        theme: Name of a theme, or the path of a theme file.

    Raises:
        QdqvizError: If the theme cannot be used.
    """
    colours = load_theme(theme)
    with tempfile.TemporaryDirectory(prefix="qdqviz-", ignore_cleanup_errors=True) as name, answering():
        app = CompareApp(compared, colours, colour_depth(os.environ), Path(name))
        try:
            app.run()
        finally:
            app.sparing.end()
    return app.return_code or 0
