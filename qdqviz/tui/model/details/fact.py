"""A fact of a details tab, and how facts are laid out in lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from qdqviz.draw.text import graphemes, pad, width
from qdqviz.ir.text import safe_text
from qdqviz.tui.model.details.leads import Lead

LABEL_COLUMNS = 14
"""Width of the column of labels."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of text in one style. Its text is safe to show."""

    text: str
    """What it says."""
    style: str = ""
    """A key of `qdqviz.draw.theme.Theme.style`."""
    node: int | None = None
    """The node that it names and leads to."""
    lead: Lead | None = None
    """Where it leads, unless to a node of the graph that is shown."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing said about something."""

    label: str
    """What is told; empty goes on with the fact above."""
    parts: tuple[Part, ...]
    """What is said of it."""
    indent: int = 0
    """Columns that all its rows are moved to the right by."""

    @property
    def text(self) -> str:
        """What is said, as plain text."""
        return "".join(part.text for part in self.parts)


BREAK = Part("\n")
"""Ends a line within a fact."""

HEADING = "\0"
"""Label of a fact that spans the column of labels too."""

Line: TypeAlias = tuple[Part, ...]
"""One line of a pane."""


def plain_fact(label: str, text: str, style: str = "") -> Fact:
    """A fact whose label and text may be anything: they are made safe here."""
    return Fact(safe_text(label), (Part(safe_text(text), style),))


def lines_fact(label: str, lines: Iterable[str]) -> Fact:
    """A fact of several lines, which may be anything: they are made safe here."""
    parts: list[Part] = []
    for line in lines:
        parts += [BREAK, Part(safe_text(line))] if parts else [Part(safe_text(line))]
    return Fact(safe_text(label), tuple(parts))


def heading(text: str, style: str = "bold", *more: Part) -> Fact:
    """A fact that spans the label's column too; the text is made safe here."""
    return Fact(HEADING, (Part(safe_text(text), style), *more))


def lay_out(facts: Iterable[Fact], columns: int) -> list[Line]:
    """Facts as lines of at most `columns` columns, labels in a column of their own, long text wrapped."""
    lines: list[Line] = []
    for fact in facts:
        is_heading = fact.label == HEADING
        label_columns = 0 if is_heading else min(LABEL_COLUMNS, columns // 3)
        label = "" if is_heading else fact.label
        for row in wrap(fact.parts, max(columns - label_columns - fact.indent, 8)):
            margin = (Part(" " * fact.indent),) if fact.indent else ()
            said = (Part(pad(label, label_columns - 1) + " ", "muted"),) if label_columns else ()
            lines.append((*margin, *said, *row))
            label = ""
    return lines


def wrap(parts: Sequence[Part], columns: int) -> list[Line]:
    """Parts in rows of at most `columns` columns; broken at blanks where there are any."""
    rows: list[list[Part]] = [[]]
    used = 0
    for part in parts:
        if part is BREAK:
            rows.append([])
            used = 0
            continue
        for word in _words(part.text):
            if used + width(word.rstrip(" ")) > columns and used:
                rows.append([])
                used = 0
            for piece in _pieces(word, columns):
                if used + width(piece) > columns and used:
                    rows.append([])
                    used = 0
                rows[-1].append(replace(part, text=piece))
                used += width(piece)
    return [tuple(_joined(row)) for row in rows]


def _words(text: str) -> list[str]:
    """Words with the blanks behind them."""
    found, start = [], 0
    for index in range(1, len(text)):
        if text[index - 1] == " " and text[index] != " ":
            found.append(text[start:index])
            start = index
    return [*found, text[start:]]


def _pieces(word: str, columns: int) -> list[str]:
    """A word in pieces that fit a row."""
    if width(word) <= columns:
        return [word]
    pieces, current, used = [], "", 0
    for cluster, wide in graphemes(word):
        if used + wide > columns:
            pieces.append(current)
            current, used = "", 0
        current += cluster
        used += wide
    return [*pieces, current]


def _joined(row: Sequence[Part]) -> list[Part]:
    found: list[Part] = []
    for part in row:
        if found and replace(found[-1], text=part.text) == part:
            found[-1] = replace(part, text=found[-1].text + part.text)
        else:
            found.append(part)
    return found
