"""A theme in the terms of rich and Textual: styles of cells and bars, and Textual's own colours."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from rich.color import Color
from rich.style import Style
from textual.theme import BUILTIN_THEMES
from textual.theme import Theme as TextualTheme

from qdqviz.draw.ansi import Depth
from qdqviz.draw.colour import Colour
from qdqviz.draw.theme import Theme


@dataclass(frozen=True, slots=True)
class Bar:
    """How something of the app itself looks: names of a theme's `[ui]` colours, and attributes."""

    foreground: str = "foreground"
    """Colour of the text."""
    background: str | None = None
    """Colour of the ground; None is that of everything."""
    bold: bool = False
    """Heavier text."""
    dim: bool = False
    """Fainter text, where there are few colours."""
    reverse: bool = False
    """Text and ground swapped, where there are few colours."""
    underline: bool = False
    """Underlined text."""


BARS: Mapping[str, Bar] = {
    "link": Bar("primary", underline=True),
    "ui.border": Bar("border", dim=True),
    "ui.focus": Bar("accent", bold=True),
    "ui.title": Bar("foreground"),
    "ui.title_focus": Bar("accent", bold=True),
    "ui.note": Bar("muted", dim=True),
    "ui.tab": Bar("muted"),
    "ui.tab_active": Bar("foreground", "selection", bold=True, reverse=True),
    "ui.tab_focus": Bar("background", "accent", bold=True, reverse=True),
    "ui.brand": Bar("background", "primary", bold=True, reverse=True),
    "ui.header": Bar("foreground", "panel"),
    "ui.place": Bar("accent", "panel", bold=True),
    "ui.status": Bar("foreground", "panel", bold=True),
    "ui.status_error": Bar("error", "panel", bold=True),
    "ui.key": Bar("accent", "surface", bold=True),
    "ui.word": Bar("muted", "surface"),
    "ui.cursor": Bar("foreground", "selection", bold=True, reverse=True),
    "ui.cursor_blur": Bar("foreground", "panel", bold=True, underline=True),
    "ui.error": Bar("error", bold=True),
    "ui.warning": Bar("warning", bold=True),
    "ui.ok": Bar("ok", bold=True),
    "source.ran": Bar("ok", bold=True),
    "source.note": Bar("secondary"),
    "source.blocking": Bar("foreground", "selection", bold=True, reverse=True),
}
"""Looks of the app itself by style key."""


GREY = 0.25
"""Saturation below which a colour is none of the 16."""

BLACK = 0.3
"""Brightness below which a colour is none of the 16."""

HUES = ((20, 1), (70, 3), (155, 2), (195, 6), (265, 4), (330, 5))
"""Ends of hues in degrees, and the standard colour of each; beyond the last it is red again."""


@dataclass(frozen=True)
class Look:
    """Styles for one theme on one kind of terminal."""

    theme: Theme
    """The colours."""
    depth: Depth
    """How many of them the terminal has."""

    @cached_property
    def _known(self) -> dict[str, Style]:
        return {}

    def style(self, key: str) -> Style:
        """The style of a key: one of `BARS`, or of `qdqviz.draw.theme.Theme.style`."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._of_bar(BARS[key]) if key in BARS else self._of_picture(key)
        return found

    def over(self, key: str, cursor: str) -> Style:
        """The style of a key on a cursor line."""
        name = f"{key}|{cursor}"
        found = self._known.get(name)
        if found is None:
            line = self.style(cursor)
            ground = Style(
                bgcolor=line.bgcolor, bold=line.bold, reverse=line.reverse, underline=line.underline
            )
            found = self._known[name] = self.style(key) + ground
        return found

    def _of_bar(self, bar: Bar) -> Style:
        ui = self.theme.ui
        ground = ui[bar.background] if bar.background else self.theme.background
        return self._made(ui[bar.foreground], ground, bar.bold, bar.dim, bar.reverse, bar.underline)

    def _of_picture(self, key: str) -> Style:
        style = self.theme.style(key)
        ground = style.background or self.theme.background
        return self._made(style.foreground, ground, style.bold, style.dim, style.reverse, False)

    def _made(
        self, text: Colour, ground: Colour, bold: bool, dim: bool, reverse: bool, underline: bool
    ) -> Style:
        """A style: colours and no more where there are many of them, attributes where there are few."""
        if self.depth in ("true", "256"):
            return Style(
                color=_rich(text), bgcolor=_rich(ground), bold=bold or None, underline=underline or None
            )
        colour = None if self.depth == "none" or dim or reverse else self._standard(text)
        return Style(
            color=colour,
            bold=bold or None,
            dim=dim or None,
            reverse=reverse or None,
            underline=underline or None,
        )

    def _standard(self, colour: Colour) -> Color | None:
        """The colour of the 16 with its hue; none for grey and black, which may be the terminal's ground."""
        parts = (colour.red / 255, colour.green / 255, colour.blue / 255)
        hue, saturation, brightness = colorsys.rgb_to_hsv(*parts)
        if saturation < GREY or brightness < BLACK:
            return None
        number = next((number for end, number in HUES if 360 * hue < end), HUES[0][1])
        return Color.from_ansi(number + 8 if self.theme.is_dark else number)


def _rich(colour: Colour) -> Color:
    return Color.from_rgb(colour.red, colour.green, colour.blue)


_SCROLLBAR_STATES = ("", "-hover", "-active")
"""What the names of a scrollbar's colours end in."""


def textual_theme(theme: Theme, depth: Depth) -> TextualTheme:
    """Textual's theme of the same name: colours of its own widgets, scrollbars and inputs."""
    if depth in ("16", "none"):
        return _few_colours(theme, depth)
    ui = {name: colour.hex for name, colour in theme.ui.items()}
    return TextualTheme(
        name=theme.name,
        primary=ui["primary"],
        secondary=ui["secondary"],
        warning=ui["warning"],
        error=ui["error"],
        success=ui["ok"],
        accent=ui["accent"],
        foreground=ui["foreground"],
        background=ui["background"],
        surface=ui["surface"],
        panel=ui["panel"],
        dark=theme.is_dark,
        variables={
            "border": ui["accent"],
            "border-blurred": ui["border"],
            "text-muted": ui["muted"],
            "scrollbar": ui["border"],
            "scrollbar-hover": ui["muted"],
            "scrollbar-active": ui["accent"],
            "scrollbar-background": ui["surface"],
            "scrollbar-background-hover": ui["surface"],
            "scrollbar-background-active": ui["surface"],
            "scrollbar-corner-color": ui["surface"],
            "block-cursor-background": ui["selection"],
            "block-cursor-foreground": ui["foreground"],
            "input-cursor-background": ui["foreground"],
            "input-cursor-foreground": ui["background"],
            "input-selection-background": ui["selection"],
        },
    )


def _few_colours(theme: Theme, depth: Depth) -> TextualTheme:
    """The terminal's own colours, for what shows 16 or none."""
    base = BUILTIN_THEMES["ansi-dark" if theme.is_dark else "ansi-light"]
    bar = "ansi_default" if depth == "none" else "ansi_bright_black"
    bars = {f"scrollbar{state}": bar for state in _SCROLLBAR_STATES}
    grounds = {f"scrollbar-background{state}": "ansi_default" for state in _SCROLLBAR_STATES}
    more = {
        "block-cursor-text-style": "reverse",
        "input-cursor-text-style": "reverse",
        "scrollbar-corner-color": "ansi_default",
        **bars,
        **grounds,
    }
    if depth != "none":
        return replace(base, name=theme.name, variables={**base.variables, **more})
    more |= {"input-selection-background": "ansi_white", "input-selection-foreground": "ansi_black"}
    return replace(
        base,
        name=theme.name,
        primary="ansi_default",
        secondary="ansi_default",
        warning="ansi_default",
        error="ansi_default",
        success="ansi_default",
        accent="ansi_default",
        variables={**base.variables, **more},
    )
