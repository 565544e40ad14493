"""What lies under the main screen: keeps what is chosen, has it made, tells the panes to show it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.events import DescendantBlur, DescendantFocus, Resize
from textual.screen import Screen

from qdqviz.tui import messages
from qdqviz.tui.model.header import header_runs
from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.moving import opening_place
from qdqviz.tui.model.outline import build_outline
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.scene import Lens, Scene
from qdqviz.tui.model.view import View
from qdqviz.tui.model.walking import entry
from qdqviz.tui.screens.details import Details
from qdqviz.tui.screens.dialogs import Dialogs
from qdqviz.tui.screens.questions import Questions
from qdqviz.tui.screens.ranges import LiveRanges
from qdqviz.tui.screens.scenes import Scenes
from qdqviz.tui.screens.seating import Seating
from qdqviz.tui.screens.trials import Trials
from qdqviz.tui.stage import Stage
from qdqviz.tui.widgets.outline import OutlineView
from qdqviz.tui.workshop import Workshop

if TYPE_CHECKING:
    from qdqviz.tui.model.archive import Archive


class Workbench(Screen[None]):
    """Passes and rewrites, the graph before and after, live ranges, details."""

    DEFAULT_CSS = """
    Workbench { layers: frame panes; overflow: hidden; background: $background; }
    Workbench > Painted { position: absolute; layer: panes; background: $background; }
    Workbench > #frame { layer: frame; }
    Workbench > #small { width: 100%; height: 100%; content-align: center middle; text-align: center; }
    Workbench OutlineView, MainScreen LinesView {
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: hidden; overflow-y: auto;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.workshop: Workshop | None = None
        """Makes what is shown; None before there is a trace."""
        self.lists: Lists | None = None
        """The trace's lists; None before there is a trace."""
        self.view = View(Place("start", 0))
        """What is chosen."""
        self.progress = ""
        """What a recording does right now."""
        self.is_recording = False
        """Whether a recording is on."""
        self.stage = Stage(OutlineView(self._title, id="steps"))
        """The panes."""
        self.seating = Seating(self)
        """Puts them in their places."""
        self.scenes = Scenes(self)
        """Has pictures made."""
        self.questions = Questions(self)
        """Asks why."""
        self.trials = Trials(self)
        """Checks, and tries out."""
        self.ranges = LiveRanges(self)
        """Fills the pane of live ranges."""
        self.dialogs = Dialogs(self)
        """Asks, and opens what lies over the panes."""
        self.details = Details(self)
        """Fills the details pane."""
        self._is_at_opening = True

    def compose(self) -> ComposeResult:
        """All panes; where they are is decided when the size is known."""
        yield from self.stage.widgets()
        yield self.seating.notice

    def on_mount(self) -> None:
        """Nothing is in view before the size is known."""
        self.seating.begin()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        if self.workshop is not None:
            self.workshop.close()
        self.trials.close()

    def is_at_rest(self, *, ahead: bool = True) -> bool:
        """Whether nothing is being made or waits to be; without `ahead` reading ahead is no matter."""
        if self.scenes.is_waiting or self.ranges.is_waiting or self.workshop is None:
            return False
        return self.workshop.is_idle(ahead=ahead) and self.trials.is_idle()

    @property
    def asked(self) -> int:
        """How many jobs have been asked for so far."""
        return self.trials.asked + (0 if self.workshop is None else self.workshop.asked)

    # -- the trace ---------------------------------------------------------------------------------

    def open_archive(self, archive: Archive) -> None:
        """Show a trace from its first rewrite."""
        self.workshop = Workshop(archive, self.post_message)
        self.take_lists(archive.lists)

    def replace_archive(self, archive: Archive, place: Place) -> None:
        """Show another recording of the same program, from a place on."""
        if self.workshop is not None:
            self.workshop.close()
        self.workshop = Workshop(archive, self.post_message)
        self.lists = archive.lists
        self.stage.forget()
        self._list_rows()
        self.change(place=place, lens=Lens(self.view.lens.radius), selected=None, closed=frozenset())
        self.call_after_refresh(self.workshop.read_ahead)
        self.tell_position()

    def take_lists(self, lists: Lists) -> None:
        """Show the lists of a trace that was opened, or has grown."""
        is_first = self.lists is None or not self.lists.subjects
        is_first |= self._is_at_opening and self.view.place.kind == "start" and bool(lists.headers)
        self.lists = lists
        self._list_rows()
        if not lists.subjects and not self.is_recording:
            self.stage.tell("nothing was recorded: no pass ran")
        if is_first and (place := opening_place(lists)) is not None:
            self.change(place=place)
            assert self.workshop is not None
            self.call_after_refresh(self.workshop.read_ahead)
        self.tell_position()

    def read_on(self) -> None:
        """Read what a recording has added."""
        if self.workshop is not None:
            self.workshop.want_lists()

    def show_progress(self, text: str) -> None:
        """Say what a recording does right now; safe to show."""
        self.progress = text
        if self.workshop is None and text:
            self.stage.tell(text)
        self.tell_position()

    def on_lists_read(self, message: messages.ListsRead) -> None:
        """A recording has gone on."""
        self.take_lists(message.lists)

    def _list_rows(self) -> None:
        if self.lists is None:
            return
        outline = build_outline(self.lists, self.view.closed, self.view.hide_unchanged)
        self.stage.outline.show(outline, self.lists, self.view.closed)
        self.stage.outline.move_to(outline.nearest(self.view.place))

    def _title(self, step: int) -> str | None:
        return None if self.workshop is None else self.workshop.archive.known_title(step)

    # -- what is chosen ----------------------------------------------------------------------------

    def change(self, **fields: Any) -> None:
        """Choose something else, and show it."""
        old, self.view = self.view, replace(self.view, **fields)
        view = self.view
        if (old.closed, old.hide_unchanged) != (view.closed, view.hide_unchanged):
            self._list_rows()
        self._is_at_opening &= old.place == view.place or self.lists is None or not self.lists.headers
        if old.place != view.place:
            self.stage.outline.move_to(self.stage.outline.outline.nearest(view.place))
            self.tell_position()
        if (old.mode, old.flicker, old.tab, old.alone) != (view.mode, view.flicker, view.tab, view.alone):
            self.seating.arrange()
        if (old.place, old.lens) != (view.place, view.lens) or self.scenes.is_lacking():
            self.scenes.want()
        elif old.selected != view.selected:
            self.show_selected()
        if old.which != view.which:
            self.ranges.want()
        if old.tab != view.tab:
            self.details.show()
            self.stage.draw_frame(view)

    def current(self) -> Scene | None:
        """The scene of the place where one is; None while it is made."""
        return self.scenes.current()

    def node(self) -> int | None:
        """The node that keys and details are about: the one picked, else what the rewrite is about."""
        scene = self.current()
        if scene is None:
            return None
        if self.view.selected is not None and scene.has(self.view.selected):
            return self.view.selected
        return self.view.lens.anchor or entry(scene.picture)

    def tell_position(self) -> None:
        """Say in the header where one is."""
        if self.stage.arrangement is not None:
            columns = self.stage.arrangement.width
            is_cut = self.lists is not None and not self.lists.complete and not self.is_recording
            progress = "the recording was cut off" if is_cut else self.progress
            self.stage.header.show(header_runs(self.lists, self.view.place, progress, columns))

    # -- what was made -----------------------------------------------------------------------------

    def on_scene_made(self, message: messages.SceneMade) -> None:
        """A picture was made."""
        self.scenes.take(message.scene)

    def on_scene_failed(self, message: messages.SceneFailed) -> None:
        """A picture could not be made."""
        self.scenes.take_failure(message)

    def show_selected(self) -> None:
        """Show another node as selected, and what there is to know about it."""
        self.mark()
        self.details.show()
        self.stage.draw_frame(self.view)

    def mark(self) -> None:
        """Mark the node that keys are about: the one picked, or where the arrow keys would begin."""
        has_focus = self.stage.left.has_focus or self.stage.right.has_focus
        self.stage.select(self.node() if self.view.selected is not None or has_focus else None)

    def on_answer_made(self, message: messages.AnswerMade) -> None:
        """Show it if it is still wanted."""
        if message.answer.question == self.questions.current():
            self.details.show_answer()
            self.stage.draw_frame(self.view)
        self.trials.answered(message.answer)

    def show_verdicts(self) -> None:
        """Show what checks have found: badges in the list, and the Check tab."""
        self.stage.outline.show_badges(self.trials.badge if self.trials.verdicts.has_badges else None)
        self.stage.keys.allow(self.trials.has_program)
        self.details.show_check()
        self.stage.draw_frame(self.view)

    def on_ranges_made(self, message: messages.RangesMade) -> None:
        """Live ranges were made."""
        self.ranges.take(message)

    # -- titles ------------------------------------------------------------------------------------

    def on_rows_seen(self) -> None:
        """The list shows other rewrites."""
        if self.workshop is not None:
            self.workshop.want_titles(self.stage.outline.steps_in_view())

    def on_titles_made(self) -> None:
        """Show them."""
        self.stage.outline.refresh()
        self.details.show_check()
        self.dialogs.titles_made()

    # -- size and focus ----------------------------------------------------------------------------

    def on_resize(self, event: Resize) -> None:
        """Arrange everything for the new size."""
        self.seating.arrange()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Say which keys count now."""
        self.seating.focus_moved()

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        """Say which keys count now."""
        self.seating.focus_moved()
