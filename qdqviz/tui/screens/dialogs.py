"""Opens the dialogs of the main screen and does what was answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qdqviz.tui.messages import HitsFound
from qdqviz.tui.model.finding import Hit
from qdqviz.tui.model.moving import step_at, step_place
from qdqviz.tui.model.place import Place
from qdqviz.tui.widgets.pane import look_of

if TYPE_CHECKING:
    from qdqviz.draw.picture import View
    from qdqviz.tui.screens.workbench import Workbench


class Dialogs:
    """Asks for what a key needs to know. The dialogs are imported when they are first used."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def goto(self, go: Callable[[Place], None]) -> None:
        """Ask for a step and go there."""
        from qdqviz.tui.screens.goto import GotoScreen

        lists = self._bench.lists
        if lists is None or not lists.steps:
            return

        def answered(step: int | None) -> None:
            if step is not None:
                go(step_place(lists, step))

        self._bench.app.push_screen(GotoScreen(lists.steps), answered)

    def find(self, go: Callable[[Place], None], look_at: Callable[[int], None]) -> None:
        """Ask for a node or a rewrite and go there."""
        from qdqviz.tui.screens.find import FindScreen

        bench = self._bench
        workshop, lists = bench.workshop, bench.lists
        if workshop is None or lists is None:
            return

        def answered(hit: Hit | None) -> None:
            if hit is None:
                return
            if hit.kind == "step":
                go(step_place(lists, hit.id))
            else:
                look_at(hit.id)

        bench.app.push_screen(FindScreen(workshop, bench.current()), answered)

    def take_hits(self, message: HitsFound) -> None:
        """Hand the results of a search to the dialog that asked for it."""
        from qdqviz.tui.screens.find import FindScreen

        screen = self._bench.app.screen
        if isinstance(screen, FindScreen):
            screen.take(message.text, message.hits)

    def titles_made(self) -> None:
        """Search again: more titles are known."""
        screen = self._bench.app.screen
        if hasattr(screen, "search"):  # FindScreen, which is imported when it is first used
            screen.search()

    def interventions(self) -> None:
        """List what is tried out; take one back, or keep all in a file."""
        from qdqviz.tui.screens.interventions import InterventionsScreen

        trials = self._bench.trials
        shown = trials.trial.interventions

        def answered(answer: int | str | None) -> None:
            if isinstance(answer, int):
                trials.run_with([*shown[:answer], *shown[answer + 1 :]])
            elif answer == "save":
                self._save_interventions()

        self._bench.app.push_screen(InterventionsScreen(trials.trial.texts), answered)

    def _save_interventions(self) -> None:
        from qdqviz.errors import QdqvizError
        from qdqviz.live.intervention_file import write_interventions
        from qdqviz.tui.screens.interventions import SaveScreen

        bench = self._bench

        def answered(path: Path | None) -> None:
            if path is None:
                return
            try:
                write_interventions(path, bench.trials.trial.interventions)
            except QdqvizError as error:
                bench.app.notify(str(error), severity="error", markup=False)
            else:
                bench.app.notify(f"wrote {path}", markup=False)

        bench.app.push_screen(SaveScreen(), answered)

    def export(self) -> None:
        """Ask for a file and write the picture, or the program as it is here, to it."""
        from qdqviz.tui.screens.export import PROGRAMS, ExportScreen

        bench = self._bench
        scene = bench.current()
        if scene is None:
            return
        view: View = bench.view.flicker if bench.stage.mode(bench.view) == "flicker" else "union"

        def answered(path: Path | None) -> None:
            if path is None or bench.workshop is None or bench.lists is None:
                return
            if path.suffix in PROGRAMS:
                bench.trials.export(step_at(bench.lists, scene.place), path)
            else:
                bench.workshop.want_file(scene, view, path, look_of(bench.app).theme)

        name = f"step-{scene.place.step}" if scene.place.step else "graph"
        bench.app.push_screen(ExportScreen(f"{name}.svg", bench.trials.has_program), answered)

    def help(self) -> None:
        """Show the keys and the signs."""
        from qdqviz.tui.screens.help import HelpScreen

        self._bench.app.push_screen(HelpScreen())
