"""Colours as arithmetic: mixing, luminance and contrast (WCAG 2.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEX = re.compile(r"#(?P<six>[0-9a-fA-F]{6})|#(?P<three>[0-9a-fA-F]{3})")


@dataclass(frozen=True, slots=True)
class Colour:
    """An sRGB colour."""

    red: int
    """0 to 255."""
    green: int
    """0 to 255."""
    blue: int
    """0 to 255."""

    @classmethod
    def parse(cls, text: str) -> Colour:
        """Read `#rrggbb` or `#rgb`.

        Raises:
            ValueError: If it is neither.
        """
        match = _HEX.fullmatch(text)
        if match is None:
            raise ValueError(f"not a colour: {text!r}")
        digits = match["six"] or "".join(digit * 2 for digit in match["three"])
        return cls(*(int(digits[start : start + 2], 16) for start in (0, 2, 4)))

    @property
    def hex(self) -> str:
        """`#rrggbb`."""
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"

    @property
    def luminance(self) -> float:
        """Relative luminance from 0 (black) to 1 (white), as WCAG defines it."""
        linear = [_linear(part / 255) for part in (self.red, self.green, self.blue)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def mixed(self, other: Colour, share: float) -> Colour:
        """This colour with `share` (0 to 1) of another."""
        pairs = zip((self.red, self.green, self.blue), (other.red, other.green, other.blue), strict=True)
        return Colour(*(round(mine + (theirs - mine) * share) for mine, theirs in pairs))


def contrast(one: Colour, other: Colour) -> float:
    """Contrast ratio of two colours, from 1 to 21, as WCAG defines it."""
    light, dark = sorted((one.luminance, other.luminance), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
