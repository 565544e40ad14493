"""What is asked of a trace about a node and a pass, and all that comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdqviz.explain.answer import Why
    from qdqviz.tui.model.listing import Listing


@dataclass(frozen=True, slots=True)
class Question:
    """Why a pass did, or did not do, something to a node; or what became of a node, or of a pass."""

    run: int | None
    """Pass run; None asks all passes about the node."""
    node: int | None = None
    """Identity of the node; None asks about the pass as a whole."""
    path: str = ""
    """Graph that holds the node."""
    step: int | None = None
    """The rewrite that one looks at, whose own attempt is then the one explained."""
    subject: int = 0
    """Subject that is shown."""


@dataclass(frozen=True, slots=True)
class OtherPass:
    """What another pass did with the node."""

    run: int
    """The pass run."""
    why: Why
    """Its answer."""


@dataclass(frozen=True)
class Answer:
    """All that is known about a question."""

    question: Question
    """What was asked."""
    why: Why | None
    """The answer; None where no pass was asked about."""
    name: str = ""
    """Name of the node; safe to show. Empty where none was asked about."""
    others: tuple[OtherPass, ...] = ()
    """The other passes on the same node, in running order; those that ran when there was none left out."""
    absent: int = 0
    """Passes that ran while the node was not in the graph."""
    is_whole: bool = True
    """False while the other passes are still asked."""
    listings: tuple[Listing, ...] = ()
    """The source of what ran, file by file, that of the blocking guard first."""
    here: str = ""
    """Name of the node at the step that one looks at, where that is not `name`; safe to show."""
    asked: str = ""
    """Name of the node when the pass came to it, by which interventions name it; not safe to show."""
