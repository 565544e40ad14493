"""Box-drawing characters by the weight of their four arms, so that frames of different weight can meet."""

from __future__ import annotations

from typing import TypeAlias

Arms: TypeAlias = tuple[int, int, int, int]
"""Weight of the arms up, right, down and left: 0 none, 1 light, 2 heavy."""

_CHARACTERS = (
    " ╴╸╷┐┑╻┒┓"  # no arm up or right; then down 0..2, in each left 0..2
    "╶─╾┌┬┭┎┰┱"
    "╺╼━┍┮┯┏┲┳"
    "╵┘┙│┤┥╽┧┪"
    "└┴┵├┼┽┟╁╅"
    "┕┶┷┝┾┿┢╆╈"
    "╹┚┛╿┦┩┃┨┫"
    "┖┸┹┞╀╃┠╂╉"
    "┗┺┻┡╄╇┣╊╋"
)
"""By up (27 characters each), right (9), down (3), left (1)."""


def stroke(arms: Arms) -> str:
    """The character whose arms have these weights."""
    up, right, down, left = arms
    return _CHARACTERS[27 * up + 9 * right + 3 * down + left]
