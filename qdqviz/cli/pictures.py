"""Pictures of a rewrite for commands: laid out once, then written as text in any view."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from qdqviz.cli.output import Output

if TYPE_CHECKING:
    from qdqviz.draw.picture import Picture, View
    from qdqviz.draw.theme import Theme
    from qdqviz.trace.model import Rewrite
    from qdqviz.trace.reader import Trace

DEFAULT_RADIUS = 2
"""How many uses away from what a rewrite touched a node may be to be shown."""


def picture_of(
    trace: Trace, rewrite: Rewrite, radius: int = DEFAULT_RADIUS, view: View = "union", *, fold: bool = True
) -> Picture:
    """The picture of a rewrite's neighbourhood, before and after in one layout.

    Raises:
        LayoutError: If the layout engine is missing, fails or takes too long.
    """
    from qdqviz.draw.picture import picture
    from qdqviz.ir.neighbourhood import touched

    before, after = (
        state.bodies.get(rewrite.path) for state in (trace.before(rewrite.step), trace.after(rewrite.step))
    )
    nodes = touched(rewrite.changes, rewrite.path)
    if not nodes and rewrite.focus is not None:
        nodes = (rewrite.focus,)
    return picture(before, after, nodes, trace.ops, radius=radius, view=view, fold=fold)


def theme_of(name: str | None) -> Theme:
    """The theme that `--theme` names, or the default.

    Raises:
        ThemeError: If there is none, or its file is wrong.
    """
    from qdqviz.draw.theme import DEFAULT_THEME, load_theme

    return load_theme(name or DEFAULT_THEME)


def plain_text(shown: Picture) -> str:
    """A picture in cells, without colours."""
    from qdqviz.draw.cells import draw_cells

    return draw_cells(shown).plain()


def terminal_text(shown: Picture, theme: str | None, output: Output) -> str:
    """A picture in cells, with the colours that standard output can show."""
    from qdqviz.cli.terminal import colour_depth
    from qdqviz.draw.ansi import ansi_text
    from qdqviz.draw.cells import draw_cells

    loaded = theme_of(theme)
    if not output.is_terminal:
        return plain_text(shown)
    return ansi_text(draw_cells(shown), loaded, colour_depth(os.environ))
