"""Where one is in a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

PlaceKind: TypeAlias = Literal["start", "run", "step", "declined", "error"]
"""The first state of a subject, a pass run as a whole, a rewrite, what a run declined, where it raised."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place that the list of passes and rewrites can stand on."""

    kind: PlaceKind
    """What stands there."""
    subject: int
    """Subject that is shown."""
    run: int | None = None
    """Pass run; None at the start of a subject."""
    step: int | None = None
    """Step; only for a rewrite."""
