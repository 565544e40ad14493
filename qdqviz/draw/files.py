"""Pictures as files: SVG, PNG, DOT and text."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from qdqviz.draw.cells import draw_cells
from qdqviz.draw.dot_file import dot_source
from qdqviz.draw.engine import LayoutEngine
from qdqviz.draw.legend import legend_text
from qdqviz.draw.picture import Picture
from qdqviz.draw.png import png_bytes
from qdqviz.draw.svg import svg_text
from qdqviz.draw.theme import Theme
from qdqviz.errors import UsageError
from qdqviz.ir.text import safe_text

Format = Literal["svg", "png", "dot", "txt"]
"""What a picture can be written as."""


def format_of(path: Path) -> Format:
    """The format that a file's ending names.

    Raises:
        UsageError: If it names none.
    """
    ending = path.suffix.lower().removeprefix(".")
    for known in get_args(Format):
        if ending == known:
            return known  # type: ignore[no-any-return]
    raise UsageError(f"cannot tell the format of {path}: end its name in .svg, .png, .dot or .txt")


def render(
    picture: Picture,
    fmt: Format,
    theme: Theme,
    *,
    title: str = "",
    with_legend: bool = True,
    engine: LayoutEngine | None = None,
) -> bytes:
    """A picture in its view as the bytes of a file.

    Args:
        picture: What to write.
        fmt: As what.
        theme: Its colours; text has none.
        title: A line above it.
        with_legend: Explain colours and signs (not in DOT).
        engine: Draws a PNG where cairosvg is not installed.

    Raises:
        MissingDependencyError: If nothing here can draw a PNG.
    """
    match fmt:
        case "svg":
            return svg_text(picture, theme, title=title, with_legend=with_legend).encode()
        case "png":
            return png_bytes(picture, theme, title=title, with_legend=with_legend, engine=engine)
        case "dot":
            return dot_source(picture, theme, title=title).encode()
    parts = [safe_text(title), draw_cells(picture).plain(), legend_text(picture) if with_legend else ""]
    return ("\n\n".join(part for part in parts if part) + "\n").encode()


def write_picture(
    picture: Picture,
    path: Path,
    theme: Theme,
    fmt: Format | None = None,
    *,
    title: str = "",
    with_legend: bool = True,
    engine: LayoutEngine | None = None,
) -> None:
    """Write a picture to a file, in the format that `fmt` or the file's ending says; see `render`.

    Raises:
        UsageError: If the format is unknown or the file cannot be written.
        MissingDependencyError: If nothing here can draw a PNG.
    """
    data = render(picture, fmt or format_of(path), theme, title=title, with_legend=with_legend, engine=engine)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror})") from error
