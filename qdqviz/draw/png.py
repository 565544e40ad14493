"""A picture as PNG: the SVG through cairosvg where that is installed, else the layout engine's own bitmap."""

from __future__ import annotations

from qdqviz.draw.dot_file import dot_source
from qdqviz.draw.engine import LayoutEngine
from qdqviz.draw.picture import Picture
from qdqviz.draw.svg import svg_text
from qdqviz.draw.theme import Theme
from qdqviz.errors import LayoutError, MissingDependencyError


def png_bytes(
    picture: Picture,
    theme: Theme,
    *,
    title: str = "",
    with_legend: bool = True,
    engine: LayoutEngine | None = None,
) -> bytes:
    """The picture as a PNG file's bytes, at twice the SVG's size.

    Without cairosvg the engine draws its own layout, without legend.

    Raises:
        MissingDependencyError: If neither can draw one.
    """
    svg = svg_text(picture, theme, title=title, with_legend=with_legend)
    drawn = svg_to_png(svg)
    if drawn is not None:
        return drawn
    try:
        return (engine or LayoutEngine()).run(dot_source(picture, theme, title=title), "png")
    except LayoutError as error:
        raise MissingDependencyError(
            f"a PNG needs cairosvg: pip install 'qdqviz[png]', or write an .svg ({error})"
        ) from error


def svg_to_png(svg: str) -> bytes | None:
    """An SVG document as PNG, or None where cairosvg (or the cairo library under it) is not installed."""
    try:
        import cairosvg
    except (ImportError, OSError):
        return None
    return bytes(cairosvg.svg2png(bytestring=svg.encode(), scale=2))
