"""What the terminal can do, told from the environment: nothing is ever written to find out."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdqviz.draw.ansi import Depth

_TRUE_COLOUR_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "rio"})
_KITTY_PROGRAMS = frozenset({"WezTerm", "ghostty"})
_SIXEL_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "mintty", "rio", "vscode"})
_SIXEL_TERMS = ("foot", "mlterm", "contour", "yaft", "xterm-sixel")
_MULTIPLEXERS = ("TMUX", "STY", "ZELLIJ")


@dataclass(frozen=True)
class Terminal:
    """What the terminal can do."""

    is_terminal: bool
    """Whether standard output is one."""
    name: str
    """`TERM`, and the program's name where it says so."""
    columns: int
    """Width in cells."""
    rows: int
    """Height in cells."""
    colours: Depth
    """How many colours: true, 256, 16 or none."""
    unicode: bool
    """Whether box characters and braille can be written."""
    graphics: str
    """A guess: kitty, sixel or none; none within a multiplexer, which swallows them."""


def terminal(environ: Mapping[str, str] | None = None) -> Terminal:
    """What the terminal at standard output can do."""
    env = os.environ if environ is None else environ
    size = shutil.get_terminal_size((80, 24))
    name = " in ".join(filter(None, (env.get("TERM", ""), env.get("TERM_PROGRAM", ""))))
    return Terminal(
        is_terminal=sys.stdout.isatty(),
        name=name or "unknown",
        columns=size.columns,
        rows=size.lines,
        colours=colour_depth(env),
        unicode=_is_unicode(),
        graphics=graphics_guess(env),
    )


def colour_depth(environ: Mapping[str, str]) -> Depth:
    """How many colours a terminal of this environment shows; NO_COLOR (https://no-color.org) means none."""
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR") or term in ("", "dumb"):
        return "none"
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "true"
    if environ.get("TERM_PROGRAM") in _TRUE_COLOUR_PROGRAMS or term in (
        "xterm-kitty",
        "xterm-ghostty",
        "alacritty",
    ):
        return "true"
    if "direct" in term:
        return "true"
    return "256" if "256" in term else "16"


def graphics_guess(environ: Mapping[str, str]) -> str:
    """Which graphics protocol the terminal likely speaks: kitty, sixel, or none."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if any(name in environ for name in _MULTIPLEXERS) or term.startswith(("screen", "tmux")):
        return "none"
    if "KITTY_WINDOW_ID" in environ or term in ("xterm-kitty", "xterm-ghostty") or program in _KITTY_PROGRAMS:
        return "kitty"
    return "sixel" if program in _SIXEL_PROGRAMS or term.startswith(_SIXEL_TERMS) else "none"


def _is_unicode() -> bool:
    try:
        "╭⣿─".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
