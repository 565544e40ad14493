"""Where a piece of text in a details tab leads to when it is followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from qdqviz.tui.model.place import Place

if TYPE_CHECKING:
    from qdqviz.explain.answer import Guard


@dataclass(frozen=True, slots=True)
class ToPlace:
    """A row of the list of passes and rewrites."""

    place: Place
    """The row."""


@dataclass(frozen=True, slots=True)
class ToStep:
    """A rewrite."""

    step: int
    """Its step."""


@dataclass(frozen=True, slots=True)
class ToNode:
    """A node that may be in another graph than the one that is shown."""

    node: int
    """Its identity."""
    path: str
    """The graph that holds it."""


@dataclass(frozen=True, slots=True)
class ToLine:
    """A line of a pass's source; the guard that stands there can be forced."""

    file: str
    """Source file."""
    line: int
    """Line, from 1."""
    guard: Guard | None = None
    """The guard there."""


@dataclass(frozen=True, slots=True)
class ToGroup:
    """The nodes that one guard turned down: shown alone, or all of them again."""

    index: int
    """Number of the guard among the near misses of a pass."""


Lead: TypeAlias = "ToPlace | ToStep | ToNode | ToLine | ToGroup"
"""Where something leads."""
