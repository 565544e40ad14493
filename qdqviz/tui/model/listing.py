"""A pass's source with what ran of it while the pass looked at one node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdqviz.ir.text import safe_text

if TYPE_CHECKING:
    from qdqviz.explain.answer import Guard


@dataclass(frozen=True, slots=True)
class Called:
    """A function that was called from a line."""

    name: str
    """Its plain name; safe to show."""
    file: str
    """Where it is defined."""
    line: int
    """Line of its `def`."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line."""

    number: int
    """From 1."""
    text: str
    """The code; safe to show."""
    ran: bool = False
    """Whether it ran for the node."""
    guard: Guard | None = None
    """The guard that turned the node down here, where one did."""
    notes: tuple[str, ...] = ()
    """What was seen here, the last time it ran; safe to show."""
    calls: tuple[Called, ...] = ()
    """What it called that can be looked at."""


@dataclass(frozen=True)
class Listing:
    """One source file."""

    file: str
    """Its path, as the interpreter named it."""
    lines: tuple[SourceLine, ...]
    """All lines."""
    start: int
    """The line to look at first."""

    @property
    def name(self) -> str:
        """The file's name, without its folder; safe to show."""
        return safe_text(self.file.replace("\\", "/").rpartition("/")[2])
