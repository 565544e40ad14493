"""The live ranges around a place: lanes before above after, and what the totals come to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdqviz.ir.graph import Body
from qdqviz.ir.text import bytes_text
from qdqviz.tui.model.scene import Scene

if TYPE_CHECKING:
    from qdqviz.draw.grid import Cells
    from qdqviz.ir.liveness import Liveness, Which

REMEMBERED = 8
"""Graphs whose live ranges are kept: stepping on, what was after is before."""

Stale = Callable[[], bool]
"""Whether the answer is no longer wanted."""


@dataclass(frozen=True)
class Ranges:
    """Live ranges, drawn."""

    scene: Scene
    """What they belong to."""
    which: Which
    """Which values count."""
    columns: int
    """Width that they are drawn for."""
    cells: Cells
    """The lanes."""
    before: Liveness | None
    """Before; None where one state is shown."""
    after: Liveness
    """After."""

    @property
    def summary(self) -> str:
        """The peak before and after: `peak 48 KiB → 36 KiB`; the key that leads on where there is nothing."""
        if not self.after.ranges and not (self.before and self.before.ranges):
            return "none here" if self.which == "all" else "none here · v shows others"
        after = bytes_text(self.after.peak_bytes)
        if self.before is None or self.before.peak_bytes == self.after.peak_bytes:
            return f"peak {after}"
        return f"peak {bytes_text(self.before.peak_bytes)} → {after}"


class RangesMaker:
    """Makes them; remembers the live ranges of the last few graphs. For one thread."""

    def __init__(self, words: tuple[str, str] = ("before", "after")) -> None:
        """Make none yet.

        Args:
            words: What the two states are called.
        """
        self._words = words
        self._known: OrderedDict[tuple[int, Which], tuple[Body, Liveness]] = OrderedDict()

    def make(self, scene: Scene, which: Which, columns: int, most: int, stale: Stale) -> Ranges | None:
        """The live ranges of a scene; linear in the size of the graph.

        Args:
            scene: What is shown.
            which: Which values count.
            columns: Width to draw for.
            most: Most values to show.
            stale: Asked between the stages; once it says yes the answer is None.
        """
        from qdqviz.draw.axis import merged_axis
        from qdqviz.draw.lanes import draw_lanes

        sight = scene.sight
        before = None if sight.before is None else self._liveness(sight.before, which)
        if stale():
            return None
        after = self._liveness(sight.after, which)
        if stale():
            return None
        axis = merged_axis(sight.before, sight.after)
        if stale():
            return None
        cells = draw_lanes(
            before, after, axis, focus=sight.focus, columns=columns, most=most, words=self._words
        )
        return Ranges(scene, which, columns, cells, before, after)

    def _liveness(self, body: Body, which: Which) -> Liveness:
        from qdqviz.ir.liveness import liveness

        key = (id(body), which)
        known = self._known.get(key)
        if known is None or known[0] is not body:
            known = self._known[key] = (body, liveness(body, which))
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return known[1]
