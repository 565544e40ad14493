"""Text in character cells: width, cutting and padding with wide and combining characters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len, split_graphemes

ELLIPSIS = "…"
"""Stands for what was cut off."""


_WORD = 7
"""Columns below which a word is not cut."""

_NARROW = re.compile("[ -~¡-¬®-ʯ‐-‧←-⇿─-◼⠀-⣿]*")
"""Latin letters, arrows, box characters, blocks and braille: one column each, and common."""


def width(text: str) -> int:
    """Columns that `text` takes in a terminal."""
    return cell_len(text)


def graphemes(text: str) -> Iterator[tuple[str, int]]:
    """The user-perceived characters of `text`, each with its width of 1 or 2 columns.

    Combining characters go with the character before them; where there is none they stand on `◌`.
    """
    if _NARROW.fullmatch(text):
        yield from ((character, 1) for character in text)
        return
    spans, _ = split_graphemes(text)
    for start, end, columns in spans:
        cluster = text[start:end]
        yield (cluster, columns) if columns > 0 else ("◌" + cluster, 1)


def cut(text: str, columns: int) -> str:
    """`text` in at most `columns` columns, with an ellipsis where it was cut at its end."""
    if width(text) <= columns:
        return text
    return _head(text, columns - 1) + ELLIPSIS if columns > 0 else ""


def cut_middle(text: str, columns: int) -> str:
    """`text` in at most `columns` columns, cut in the middle: names differ at their ends."""
    if width(text) <= columns:
        return text
    if columns < 5:
        return cut(text, columns)
    tail = _tail(text, (columns - 1) // 2)
    return _head(text, columns - 1 - width(tail)) + ELLIPSIS + tail


def cut_words(text: str, columns: int) -> str:
    """`text` in at most `columns` columns: its long words, which are names, are cut in the middle first."""
    words = text.split(" ")
    while (over := width(" ".join(words)) - columns) > 0:
        index = max(range(len(words)), key=lambda each: width(words[each]))
        wide = width(words[index])
        if wide <= _WORD:
            break
        shorter = width(sorted(words, key=width)[-2]) if len(words) > 1 else _WORD
        words[index] = cut_middle(words[index], max(wide - over, min(shorter, wide - 1), _WORD))
    return cut(" ".join(words), columns)


def wrapped(text: str, columns: int) -> list[str]:
    """`text` in lines of at most `columns` columns, broken between words; longer words are cut."""
    lines: list[str] = []
    for word in text.split(" "):
        shown = cut_middle(word, columns)
        if lines and width(lines[-1]) + 1 + width(shown) <= columns:
            lines[-1] += f" {shown}"
        else:
            lines.append(shown)
    return lines


def center(text: str, columns: int) -> str:
    """`text` cut to `columns` columns and padded on both sides to exactly that."""
    shown = cut(text, columns)
    room = columns - width(shown)
    return " " * (room // 2) + shown + " " * (room - room // 2)


def pad(text: str, columns: int) -> str:
    """`text` cut to `columns` columns and padded on the right to exactly that."""
    shown = cut(text, columns)
    return shown + " " * (columns - width(shown))


def _head(text: str, columns: int) -> str:
    kept, used = [], 0
    for cluster, wide in graphemes(text):
        if used + wide > columns:
            break
        kept.append(cluster)
        used += wide
    return "".join(kept)


def _tail(text: str, columns: int) -> str:
    kept, used = [], 0
    for cluster, wide in reversed(list(graphemes(text))):
        if used + wide > columns:
            break
        kept.append(cluster)
        used += wide
    return "".join(reversed(kept))
