"""Has live ranges made and shows them; in large graphs only where somebody stays for a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.tui.model.scene import Scene

if TYPE_CHECKING:
    from textual.timer import Timer

    from qdqviz.tui import messages
    from qdqviz.tui.screens.workbench import Workbench

_PAUSE = 0.12
"""Seconds that one must stay in a place of a large graph before its live ranges are made."""

_LARGE = 2_000
"""Nodes from which live ranges are not made at every step that one hurries through."""

_LEAST_LANES = 12
"""Lanes that are made at least, to scroll through."""


class LiveRanges:
    """The live ranges of the scene that is shown."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._pause: Timer | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether they are about to be asked for."""
        return self._pause is not None

    def want(self) -> None:
        """Have them made."""
        scene = self._bench.current()
        if scene is None:
            return
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        if len(scene.sight.after) < _LARGE:
            self._make(scene)
        else:
            self._bench.stage.lanes_note = "…"
            self._pause = self._bench.set_timer(_PAUSE, lambda: self._make(scene))

    def _make(self, scene: Scene) -> None:
        bench, self._pause = self._bench, None
        area = None if bench.stage.arrangement is None else bench.stage.areas(bench.view)["lanes"]
        if area is not None and scene is bench.current() and bench.workshop is not None:
            most = max(_LEAST_LANES, area.height)
            bench.workshop.want_ranges(scene, bench.view.which, area.width - 1, most)

    def take(self, message: messages.RangesMade) -> None:
        """Show them if they are still wanted."""
        bench, made = self._bench, message.ranges
        if made.scene is bench.current() and made.which == bench.view.which:
            bench.stage.lanes.show(made.cells)
            bench.stage.lanes_note = made.summary
            bench.stage.draw_frame(bench.view)
