"""Who an edit belongs to: the unit that becomes one rewrite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Owner:
    """An attempt, an edited node, a named call, or the settling after a retrace."""

    kind: str
    """attempt, node, call, or settle."""
    focus: int | None = None
    """Node that was looked at."""
    path: str = ""
    """Graph of that node."""
    name: str = ""
    """Its name when the owner appeared, or the call's name."""
    asked: bool = False
    """Whether its pass took any decision before editing."""
    sites: tuple[int, ...] = ()
    """Loops that handed the focus out so far; one coming round again starts a new sweep."""
    step: int | None = None
    """Number of the rewrite, once written."""
    wrote: bool = False
    """Whether any edit was made in its name, be it without effect."""
    vetoed: bool = False
    """Whether the pass is kept from looking at its node."""
    note: str = ""
    """Remark for the rewrite, such as `graph replaced`."""

    @property
    def settles(self) -> bool:
        """True where the changes are bookkeeping and no step."""
        return self.kind == "settle"
