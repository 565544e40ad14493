"""The main screen: what its keys and the mouse do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from qdqviz.ir.text import safe_text
from qdqviz.tui import messages
from qdqviz.tui.keys import bindings
from qdqviz.tui.laboratory import KINDS as LABORATORY
from qdqviz.tui.model.details.leads import ToGroup, ToLine, ToNode, ToPlace, ToStep
from qdqviz.tui.model.moving import last_step_before, next_run, next_step, step_place
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.scene import Lens
from qdqviz.tui.model.view import MODES, WHICH
from qdqviz.tui.model.walking import Direction, step_from
from qdqviz.tui.screens.workbench import Workbench

if TYPE_CHECKING:
    from qdqviz.tui.app import QdqvizApp

MAX_RADIUS = 12
"""Widest neighbourhood."""


class MainScreen(Workbench):
    """The screen that is always there. Each action changes what is chosen, or opens a dialog."""

    BINDINGS = bindings()

    # -- places ------------------------------------------------------------------------------------

    def go(self, place: Place | None) -> None:
        """Go to a place; one looks at what happened there."""
        if place is not None:
            self.change(place=place, lens=Lens(self.view.lens.radius))

    def action_step(self, by: int) -> None:
        """To the next or the previous rewrite."""
        if self.lists is not None:
            self.go(next_step(self.lists, self.view.place, by))

    def action_run(self, by: int) -> None:
        """To the next or the previous pass."""
        self.go(next_run(self.stage.outline.outline, self.view.place, by))

    def action_first(self) -> None:
        """To the first rewrite."""
        if self.lists is not None and self.lists.steps:
            self.go(step_place(self.lists, 1))

    def action_last(self) -> None:
        """To the last rewrite."""
        if self.lists is not None and self.lists.steps:
            self.go(step_place(self.lists, self.lists.steps))

    def action_touching(self, by: int) -> None:
        """To the next or the previous rewrite of the selected node."""
        scene, node = self.current(), self.node()
        if scene is None or node is None or self.lists is None or self.workshop is None:
            return
        self.view = replace(self.view, selected=node)
        before = last_step_before(self.lists, self.view.place)
        at = self.view.place.step or (before if by > 0 else before + 1)
        self.workshop.want_touching(scene, node, at, by > 0)

    def on_step_found(self, message: messages.StepFound) -> None:
        """Go to the rewrite, or say that there is none."""
        if message.step is None:
            self.app.notify("no further rewrite is about this node", timeout=3, markup=False)
        elif self.lists is not None:
            self.go(step_place(self.lists, message.step))

    def on_place_picked(self, message: messages.PlacePicked) -> None:
        """A row of the list was picked."""
        self.go(message.place)

    def on_fold_toggled(self, message: messages.FoldToggled) -> None:
        """Fold a pass away, or unfold it; one then stands on the pass."""
        closed = self.view.closed ^ {message.run}
        place = self.view.place
        if message.run in closed and place.run == message.run and place.kind != "run":
            self.go(Place("run", place.subject, message.run))
        self.change(closed=closed)

    def action_unchanged(self) -> None:
        """Hide or show passes that changed nothing."""
        self.change(hide_unchanged=not self.view.hide_unchanged)
        self.details.show()
        self.stage.draw_frame(self.view)

    # -- looks -------------------------------------------------------------------------------------

    def action_mode(self) -> None:
        """The next way of showing before and after."""
        mode = self.stage.mode(self.view)
        self.change(mode=MODES[(MODES.index(mode) + 1) % len(MODES)])

    def action_flicker(self) -> None:
        """The other one of before and after, in one place."""
        if self.stage.mode(self.view) != "flicker":
            self.change(mode="flicker", flicker="before")
        else:
            self.change(flicker="after" if self.view.flicker == "before" else "before")

    def action_radius(self, by: int) -> None:
        """Show more or less of the graph."""
        radius = max(0, min(self.view.lens.radius + by, MAX_RADIUS))
        self.change(lens=replace(self.view.lens, radius=radius))

    def action_open(self) -> None:
        """Open the selected fold, or all of them; where some are open, close them."""
        scene = self.current()
        if scene is None:
            return
        lens = self.view.lens
        box = None if self.view.selected is None else scene.picture.box(self.view.selected)
        chosen = [box] if box is not None and box.kind != "node" else scene.picture.boxes
        folds = frozenset(each.id for each in chosen if each is not None and each.kind != "node")
        if folds:
            self.change(lens=replace(lens, opened=lens.opened | folds))
        elif lens.opened:
            self.change(lens=replace(lens, opened=frozenset()))
        else:
            self.app.notify("nothing is folded here", timeout=3, markup=False)

    def action_values(self) -> None:
        """The next choice of values for the live ranges."""
        self.change(which=WHICH[(WHICH.index(self.view.which) + 1) % len(WHICH)])

    def action_back(self) -> None:
        """One step back: stop a layout, return to the rewrite, drop the selection."""
        if self.current() is None and self.workshop is not None:
            self.workshop.cancel()
            self.scenes.give_up("stopped; + or - lays it out again")
        elif self.view.lens.anchor is not None:
            self.change(lens=Lens(self.view.lens.radius))
        else:
            self.change(selected=None)

    # -- nodes -------------------------------------------------------------------------------------

    def on_walk_asked(self, message: messages.WalkAsked) -> None:
        """Select the next box in a direction."""
        self.walk(message.direction)

    def walk(self, direction: Direction) -> None:
        """Select the next box in a direction."""
        scene, node = self.current(), self.node()
        if scene is None or node is None:
            return
        box = scene.picture.box(node)
        if box is None:
            self.pick(node)
            return
        following = step_from(scene.picture, box.id, direction)
        if following is not None:
            self.pick(following)

    def pick(self, node: int) -> None:
        """Select a node, look at it where the picture does not show it, and scroll it into view."""
        scene = self.current()
        if scene is not None and scene.picture.box(node) is None and scene.has(node):
            self.change(selected=node, lens=replace(self.view.lens, anchor=node, path=scene.sight.path))
            return
        self.change(selected=node)
        self.stage.reveal(node, self.view)
        self.stage.draw_frame(self.view)

    def on_node_picked(self, message: messages.NodePicked) -> None:
        """A node was picked somewhere."""
        self.pick(message.node)

    def on_lead_followed(self, message: messages.LeadFollowed) -> None:
        """A piece of text in the details was followed."""
        lead = message.lead
        match lead:
            case ToPlace():
                self._go_with_node(lead.place)
            case ToStep() if self.lists is not None:
                self.go(step_place(self.lists, lead.step))
            case ToNode():
                self._go_to_node(lead)
            case ToGroup():
                self.questions.show_group(lead)
                self.change(tab="why")
                self.details.show()
            case ToLine():
                self.questions.show_line(lead)
                self.action_show("source")
                self.details.show()

    def _go_with_node(self, place: Place) -> None:
        """Go to a place and look there at the node that is selected."""
        scene, node = self.current(), self.view.selected
        if scene is None or node is None:
            self.go(place)
        else:
            self.change(place=place, lens=Lens(self.view.lens.radius, anchor=node, path=scene.sight.path))

    def _go_to_node(self, lead: ToNode) -> None:
        """Select a node, in another graph than the one that is shown if need be."""
        scene = self.current()
        if scene is None:
            return
        if lead.path == scene.sight.path and scene.has(lead.node):
            self.pick(lead.node)
        elif lead.path != scene.sight.path:
            self.change(selected=lead.node, lens=replace(self.view.lens, anchor=lead.node, path=lead.path))
        else:
            self.app.notify("this graph does not hold that node now", timeout=3, markup=False)

    def on_centre_asked(self) -> None:
        """Look at the graph around the selected node."""
        scene, node = self.current(), self.node()
        if scene is not None and node is not None:
            self.change(selected=node, lens=replace(self.view.lens, anchor=node, path=scene.sight.path))

    def on_panned(self, message: messages.Panned) -> None:
        """The other graph pane follows."""
        self.stage.pan(message.pane, message.x, message.y, self.view)
        self.stage.draw_frame(self.view)

    # -- panes -------------------------------------------------------------------------------------

    def action_pane(self, by: int) -> None:
        """The next or the previous pane."""
        stops = self.stage.stops(self.view)
        here = self._stop(stops)
        self.action_show(stops[(stops.index(here) + by) % len(stops)] if here in stops else stops[0])

    def _stop(self, stops: list[str]) -> str:
        """The pane that has the focus, by the name under which tab goes to it."""
        names = {"steps": "steps", "left": "graph", "right": "right", "lanes": "lanes"}
        name = names.get(self.focused.id or "", "") if self.focused is not None else ""
        if name in stops:
            return name
        tab = self.stage.tab(self.view)
        return tab if tab in stops else "details"

    def action_show(self, name: str) -> None:
        """Show a pane or a tab, and give it the focus."""
        arrangement = self.stage.arrangement
        if arrangement is None:
            return
        if name in arrangement.tabs:
            self.change(tab=name)
        if name == "lanes" and name in arrangement.tabs:
            self.ranges.want()
        self.seating.focus(name)

    def action_why(self) -> None:
        """Ask why the pass did, or did not do, something to the selected node."""
        has_focus = self.stage.left.has_focus or self.stage.right.has_focus
        if has_focus and self.view.selected is None and (node := self.node()) is not None:
            self.change(selected=node)
        self.action_show("why")

    def action_alone(self) -> None:
        """Give the pane that has the focus the whole screen, or put all panes back."""
        arrangement = self.stage.arrangement
        if arrangement is None:
            return
        stop = self._stop([*self.stage.stops(self.view), "graph"])
        name = {"right": "graph", "details": self.stage.tab(self.view)}.get(stop, stop)
        self.change(alone=not self.view.alone, tab=name)
        self.action_show(name)

    def on_caption_picked(self, message: messages.CaptionPicked) -> None:
        """A tab or title was clicked."""
        self.action_show(message.name)

    # -- trials ------------------------------------------------------------------------------------

    def action_veto(self) -> None:
        """Run again, the pass skipping the node."""
        self.trials.veto()

    def action_force(self) -> None:
        """Run again, the guard coming out the other way."""
        self.trials.force()

    def action_undo(self) -> None:
        """Take back the last intervention."""
        self.trials.undo()

    def action_interventions(self) -> None:
        """List what is tried out."""
        self.dialogs.interventions()

    def action_bisect(self) -> None:
        """Look for the first rewrite that breaks the outputs."""
        self.trials.bisect()

    def on_recording_progress(self, message: messages.RecordingProgress) -> None:
        """Say how far a run, a bisection or an export is."""
        message.stop()
        self.show_progress(message.text)

    def on_checked(self, message: messages.Checked) -> None:
        """A check has gone on."""
        self.trials.take_checks(message)

    def on_linted(self, message: messages.Linted) -> None:
        """The metadata was looked at."""
        self.trials.take_findings(message)

    def on_reran(self, message: messages.Reran) -> None:
        """The passes have run again."""
        self.trials.take_run(message)

    def on_bisected(self, message: messages.Bisected) -> None:
        """Go to the rewrite that was found."""
        step = self.trials.take_bisection(message)
        if step is not None and self.lists is not None:
            self.go(step_place(self.lists, step))

    def on_trial_failed(self, message: messages.TrialFailed) -> None:
        """Say why."""
        self.trials.take_failure(message)

    # -- dialogs -----------------------------------------------------------------------------------

    def action_goto(self) -> None:
        """Ask for a step."""
        self.dialogs.goto(self.go)

    def action_find(self) -> None:
        """Ask for a node or a rewrite."""
        self.dialogs.find(self.go, self._look_at)

    def _look_at(self, node: int) -> None:
        """A node was found: show it in the graph."""
        self.action_show("graph")
        self.pick(node)

    def on_hits_found(self, message: messages.HitsFound) -> None:
        """Show what was found."""
        self.dialogs.take_hits(message)

    def action_export(self) -> None:
        """Ask for a file and write the picture to it."""
        self.dialogs.export()

    def on_picture_written(self, message: messages.PictureWritten) -> None:
        """Say where it is, or why it is not."""
        self.app.notify(message.text, severity="information" if message.ok else "error", markup=False)

    def on_job_failed(self, message: messages.JobFailed) -> None:
        """Say what went wrong in a worker, also where its answer is waited for."""
        error = message.error
        text = safe_text(f"{message.kind}: {type(error).__name__}: {error}")
        self.app.notify(text, severity="error", timeout=10, markup=False)
        if message.kind == "scene":
            self.scenes.give_up(text)
        elif message.kind == "why":
            self.questions.break_off(text)
            self.details.show_answer()
        elif message.kind in LABORATORY:
            self.trials.take_breakdown(message.kind, text)

    def action_help(self) -> None:
        """Show the keys and signs."""
        self.dialogs.help()

    def action_theme(self) -> None:
        """The next theme."""
        cast("QdqvizApp", self.app).next_theme()

    def action_palette(self) -> None:
        """All commands."""
        self.app.action_command_palette()

    def action_quit(self) -> None:
        """Leave."""
        self.app.exit()
