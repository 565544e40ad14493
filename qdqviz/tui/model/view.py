"""All that the person has chosen: where one is, how one looks, what is in view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from qdqviz.tui.model.place import Place
from qdqviz.tui.model.scene import Lens

GraphMode: TypeAlias = Literal["split", "merged", "flicker"]
"""Two panes, before and after; both in one picture; or one of the two at a time."""

MODES: tuple[GraphMode, ...] = ("split", "merged", "flicker")
"""In the order in which they follow each other."""

WHICH: tuple[Literal["carried", "qdq", "all"], ...] = ("carried", "qdq", "all")
"""Values that the live ranges show, in the order in which they follow each other."""


@dataclass(frozen=True)
class View:
    """What is chosen."""

    place: Place
    """Where one is."""
    lens: Lens = field(default_factory=Lens)
    """How one looks at it."""
    selected: int | None = None
    """The node that was picked; None leaves the choice to the rewrite."""
    mode: GraphMode | None = None
    """How before and after are shown; None lets the terminal's width decide."""
    flicker: Literal["before", "after"] = "after"
    """Which of the two is shown while they flicker."""
    which: Literal["carried", "qdq", "all"] = "carried"
    """Values that the live ranges show."""
    tab: str = ""
    """The tab that is chosen; empty leaves it to the arrangement."""
    alone: bool = False
    """Whether one pane has the whole screen."""
    closed: frozenset[int] = frozenset()
    """Runs whose content is folded away."""
    hide_unchanged: bool = False
    """Whether runs that changed nothing are left out of the list."""

    def shown_mode(self, can_split: bool) -> GraphMode:
        """How before and after are shown, given whether there is room for two panes."""
        if self.mode is None:
            return "split" if can_split else "merged"
        return self.mode
