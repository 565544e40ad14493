"""Has the picture of where one is made, and shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qdqviz.tui import messages
from qdqviz.tui.model.moving import next_step
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.scene import Lens, Scene

if TYPE_CHECKING:
    from qdqviz.tui.screens.workbench import Workbench

_PATIENCE = 0.15
"""Seconds after which a placeholder takes the place of the old picture."""

_AHEAD = 2
"""Rewrites in front and behind whose pictures are made before they are asked for."""


class Scenes:
    """What is awaited, what was given up, and what comes next."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._awaited: tuple[Place, Lens] | None = None
        self._given_up: tuple[Place, Lens] | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a picture is being made."""
        return self._awaited is not None

    def current(self) -> Scene | None:
        """The scene of the place where one is; None while it is made."""
        scene, view = self._bench.stage.scene, self._bench.view
        is_here = scene is not None and (scene.place, scene.lens) == (view.place, view.lens)
        return scene if is_here else None

    def is_lacking(self) -> bool:
        """Whether there is no picture although nobody has given it up."""
        view = self._bench.view
        return self._bench.stage.scene is None and self._given_up != (view.place, view.lens)

    def want(self) -> None:
        """Show where one is, at once if the picture is there already."""
        bench = self._bench
        if bench.workshop is None or bench.lists is None or not bench.lists.subjects:
            return
        view = bench.view
        known = bench.workshop.scene(view.place, view.lens)
        if known is not None:
            self._show(known)
            return
        self._awaited = (view.place, view.lens)
        self._given_up = None
        bench.workshop.want_scene(view.place, view.lens)
        bench.set_timer(_PATIENCE, lambda: self._show_placeholder(view.place, view.lens))

    def _show_placeholder(self, place: Place, lens: Lens) -> None:
        if self._awaited == (place, lens):
            self._bench.stage.tell("laying out …  esc stops")
            self._bench.details.show()

    def take(self, scene: Scene) -> None:
        """A picture was made: show it if it is still wanted."""
        view = self._bench.view
        if (scene.place, scene.lens) == (view.place, view.lens):
            self._show(scene)

    def take_failure(self, message: messages.SceneFailed) -> None:
        """Say why there is no picture."""
        if self._awaited == (message.place, message.lens):
            self.give_up(message.reason)

    def give_up(self, reason: str) -> None:
        """Show why there is no picture in place of it; the reason is safe to show."""
        view = self._bench.view
        self._awaited = None
        self._given_up = (view.place, view.lens)
        self._bench.stage.tell(reason)
        self._bench.details.show()

    def _show(self, scene: Scene) -> None:
        bench = self._bench
        self._awaited = None
        selected = bench.view.selected
        if selected is not None and scene.lens.anchor is None and scene.picture.box(selected) is None:
            bench.view = replace(bench.view, selected=None)  # keys would be about a node that nobody sees
        bench.stage.show_scene(scene, bench.view)
        bench.stage.status.show(scene.sight.sentence, self._status_style())
        bench.show_selected()
        bench.call_after_refresh(self._look_ahead, scene)

    def _status_style(self) -> str:
        lists, place = self._bench.lists, self._bench.view.place
        if lists is None or place.run is None or place.step is not None:
            return "ui.status"
        return "ui.status_error" if lists.runs[place.run].error else "ui.status"

    def _look_ahead(self, scene: Scene) -> None:
        """Once the picture is out: live ranges, and the pictures that may be wanted next."""
        bench = self._bench
        if bench.workshop is None or scene is not self.current():
            return
        bench.ranges.want()
        bench.workshop.want_near(self._near_places(), Lens(radius=bench.view.lens.radius))

    def _near_places(self) -> list[Place]:
        """Where one may go next: on, back, further on, further back."""
        lists, here = self._bench.lists, self._bench.view.place
        assert lists is not None
        found: list[Place] = []
        ends: dict[int, Place | None] = {1: here, -1: here}
        for _ in range(_AHEAD):
            for by in (1, -1):
                end = ends[by]
                ends[by] = None if end is None else next_step(lists, end, by)
                found += [place] if (place := ends[by]) is not None else []
        return found
