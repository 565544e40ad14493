"""Themes: every colour defined once, for the terminal, SVG and PNG alike.

A theme is a TOML file (`themes/dark.toml` shows all keys); a user's own is named by its path.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from qdqviz.draw.colour import Colour
from qdqviz.draw.union import Mark
from qdqviz.errors import ThemeError
from qdqviz.ir.roles import Role

DEFAULT_THEME = "dark"
"""Name of the theme that is used unless told otherwise."""

TINT = 0.13
"""Share of its role's colour in the ground of a box."""

UI_KEYS = (
    *("background", "surface", "panel", "border", "foreground", "muted"),
    *("primary", "secondary", "accent", "selection", "ok", "warning", "error"),
)
"""Keys of a theme's `[ui]` table."""

MARK_KEYS = tuple(mark.name.lower() for mark in Mark if mark is not Mark.NONE)
"""Keys of a theme's `[marks]` table."""

VALUE_KEYS = ("real", "integer", "other")
"""Keys of a theme's `[values]` table: what edges and lanes carry."""

_TABLES: Mapping[str, tuple[str, ...]] = {
    "ui": UI_KEYS,
    "roles": tuple(Role),
    "marks": MARK_KEYS,
    "values": VALUE_KEYS,
}


@dataclass(frozen=True, slots=True)
class Style:
    """How a run of cells looks. Bold, dim and the like tell things apart where there is no colour."""

    foreground: Colour
    """Colour of the text."""
    background: Colour | None = None
    """Colour of the ground; None is the theme's background."""
    bold: bool = False
    """Heavier text."""
    dim: bool = False
    """Fainter text; only where there are no colours, colours are faint by themselves."""
    reverse: bool = False
    """Text and ground swapped; only where there are no colours."""


@dataclass(frozen=True)
class Theme:
    """All colours."""

    name: str
    """How it is called for: the file's name without `.toml`."""
    title: str
    """Its name in menus."""
    is_dark: bool
    """True where the ground is darker than the text."""
    ui: Mapping[str, Colour]
    """Ground, text and accents, by `UI_KEYS`."""
    roles: Mapping[Role, Colour]
    """Role of a node -> colour of its frame and first line."""
    marks: Mapping[str, Colour]
    """added, removed, rewired, changed."""
    values: Mapping[str, Colour]
    """real, integer, other: the colours of edges and lanes."""

    @property
    def background(self) -> Colour:
        """The ground of everything."""
        return self.ui["background"]

    def tint(self, role: Role) -> Colour:
        """The ground of a box of that role."""
        return self.background.mixed(self.roles[role], TINT)

    def style(self, key: str) -> Style:
        """The look of a style key, as `Cells.styles` and `Lanes` hold them.

        Keys: empty (plain text), `bold`, `muted`, `ghost`, `name`, `more`, `selected`, `faint` (dots and
        other ornaments that need not be read); `frame.<role>`, `title.<role>` and `detail.<role>` for a
        box's frame, first line and other lines; `mark.<mark>`; `edge.<value>` and `lane.<value>`.
        """
        part, _, which = key.partition(".")
        match part:
            case "frame":
                return Style(self.roles[Role(which)])
            case "title":
                return Style(self.roles[Role(which)], self.tint(Role(which)), bold=True)
            case "detail":
                return Style(self.ui["foreground"], self.tint(Role(which)))
            case "mark":
                return Style(self.marks[which], bold=True)
            case "edge" | "lane":
                return Style(self.values[which])
            case "selected":
                return Style(self.ui["background"], self.ui["accent"], bold=True, reverse=True)
            case "bold":
                return Style(self.ui["foreground"], bold=True)
            case "faint":
                return Style(self.ui["border"], dim=True)
            case "ghost" | "muted" | "name" | "more":
                return Style(self.ui["muted"], dim=True)
        return Style(self.ui["foreground"])


def themes_folder() -> Path:
    """The folder of the themes that come with qdqviz: in the package when installed, beside it in a checkout.

    Raises:
        ThemeError: If there is none.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "themes", package.parent / "themes"):
        if folder.is_dir():
            return folder
    raise ThemeError(f"no themes folder in or beside {package}: install qdqviz again")


def theme_names() -> tuple[str, ...]:
    """Names of the themes that come with qdqviz, the default first, then by name."""
    names = sorted(path.stem for path in themes_folder().glob("*.toml"))
    return tuple(sorted(names, key=lambda name: name != DEFAULT_THEME))


def load_theme(name: str) -> Theme:
    """A theme by name, or from a file where `name` ends in `.toml` or holds a path separator.

    Raises:
        ThemeError: If there is no such theme, or a key is missing, unknown or no colour: it says which.
    """
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return read_theme(Path(name))
    path = themes_folder() / f"{name}.toml"
    if not path.is_file():
        raise ThemeError(
            f"no theme {name!r}: there are {', '.join(theme_names())}, or give the path of a .toml file"
        )
    return read_theme(path)


def load_themes() -> tuple[dict[str, Theme], dict[str, ThemeError]]:
    """All themes that come with qdqviz: those that loaded, and the errors of those that did not."""
    loaded: dict[str, Theme] = {}
    failed: dict[str, ThemeError] = {}
    for name in theme_names():
        try:
            loaded[name] = load_theme(name)
        except ThemeError as error:
            failed[name] = error
    return loaded, failed


def read_theme(path: Path) -> Theme:
    """The theme in a file.

    Raises:
        ThemeError: If it cannot be read, or a key is missing, unknown or no colour: it says which.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ThemeError(f"the theme {path} cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ThemeError(f"the theme {path} is not TOML ({error})") from error
    for problem in _problems(data):
        raise ThemeError(f"the theme {path}: {problem}")
    tables = {table: {key: Colour.parse(data[table][key]) for key in keys} for table, keys in _TABLES.items()}
    return Theme(
        name=path.stem,
        title=data["title"],
        is_dark=data["dark"],
        ui=tables["ui"],
        roles={Role(key): colour for key, colour in tables["roles"].items()},
        marks=tables["marks"],
        values=tables["values"],
    )


def _problems(data: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a theme's data: first what is there and should not be, then what is missing."""
    yield from _unknown(data, ("title", "dark", *_TABLES))
    for table, keys in _TABLES.items():
        found = data.get(table, {})
        if isinstance(found, dict):
            yield from _unknown(found, keys, f"{table}.")
            yield from (
                problem for key, value in found.items() for problem in _no_colour(f"{table}.{key}", value)
            )
        else:
            yield f"{table} is a table of colours, not {found!r}: write [{table}]"
    for key, kind, what in (("title", str, "a text"), ("dark", bool, "true or false")):
        if key in data and not isinstance(data[key], kind):
            yield f"{key} = {data[key]!r} is not {what}"
    yield from (f"the key {key!r} is missing" for key in ("title", "dark") if key not in data)
    for table, keys in _TABLES.items():
        if table not in data:
            yield f"the table [{table}] is missing"
        yield from (f"the key {table}.{key} is missing" for key in keys if key not in data.get(table, ()))


def _unknown(found: Mapping[str, object], known: Sequence[str], prefix: str = "") -> Iterator[str]:
    """Keys that no theme has, each with the one that may be meant."""
    for key in found:
        if key not in known:
            close = get_close_matches(key, known, n=1, cutoff=0.6)
            hint = f"did you mean {prefix}{close[0]}?" if close else f"there are {', '.join(known)}"
            yield f"unknown key {prefix}{key}: {hint}"


def _no_colour(key: str, value: object) -> Iterator[str]:
    try:
        Colour.parse(value if isinstance(value, str) else "")
    except ValueError:
        yield f"{key} = {value!r} is no colour: write it as '#rrggbb'"
