"""Gives the panes their places in a terminal of any size, and the focus to one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from qdqviz.tui.model.arrangement import MIN_HEIGHT, MIN_WIDTH, arrange

if TYPE_CHECKING:
    from qdqviz.tui.screens.workbench import Workbench


class Seating:
    """Where the panes are, and which of them keys go to."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self.notice = Static(id="small", markup=False)
        """Takes the place of everything where the terminal is too small."""

    def begin(self) -> None:
        """Arrange everything for the first time."""
        self.notice.display = False
        self.arrange()
        arrangement = self._bench.stage.arrangement
        if arrangement is not None and "steps" in arrangement.panes:
            self.focus("steps")

    def arrange(self) -> None:
        """Arrange everything for the size that there is."""
        bench = self._bench
        size = bench.app.size
        arrangement = arrange(size.width, size.height, bench.view.alone)
        self.notice.display = arrangement is None
        bench.stage.arrange(arrangement, bench.view)
        if arrangement is None:
            need = f"qdqviz needs {MIN_WIDTH} columns and {MIN_HEIGHT} rows"
            self.notice.update(
                f"{need}; here are {size.width} and {size.height}.\nMake the terminal larger, or press q."
            )
            return
        if bench.stage.scene is not None:
            bench.stage.show_scene(bench.stage.scene, bench.view)
            bench.ranges.want()
        bench.tell_position()
        bench.details.show()
        bench.stage.draw_frame(bench.view)
        if bench.focused is None or not bench.focused.display:
            self.focus(bench.stage.tab(bench.view))

    def focus(self, name: str) -> None:
        """Give the focus to a pane."""
        self._bench.set_focus(self._bench.stage.pane(name), scroll_visible=False)

    def focus_moved(self) -> None:
        """Say which keys count now."""
        bench = self._bench
        bench.stage.keys.show(getattr(bench.focused, "pane_kind", ""))
        for pane in bench.stage.panes():
            pane.refresh()
        bench.mark()
        bench.stage.draw_frame(bench.view)
