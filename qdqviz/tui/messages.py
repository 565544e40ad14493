"""What panes and workers tell the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from qdqviz.tui.model.place import Place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from qdqviz.check.bisect import Bisection
    from qdqviz.check.lint import Finding
    from qdqviz.check.report import PassCheck, RewriteCheck
    from qdqviz.live.session import Session
    from qdqviz.tui.model.asking import Answer
    from qdqviz.tui.model.details.leads import Lead
    from qdqviz.tui.model.finding import Hit
    from qdqviz.tui.model.lists import Lists
    from qdqviz.tui.model.ranges import Ranges
    from qdqviz.tui.model.scene import Lens, Scene
    from qdqviz.tui.model.walking import Direction


class PlacePicked(Message):
    """A row of the list was picked."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place


class FoldToggled(Message):
    """A pass run is to be folded away or unfolded."""

    def __init__(self, run: int) -> None:
        super().__init__()
        self.run = run


class NodePicked(Message):
    """A node was picked in a graph, a lane or the details."""

    def __init__(self, node: int) -> None:
        super().__init__()
        self.node = node


class WalkAsked(Message):
    """The next box in a direction is to be selected."""

    def __init__(self, direction: Direction) -> None:
        super().__init__()
        self.direction = direction


class CentreAsked(Message):
    """The graph around the selected node is to be shown."""


class Panned(Message):
    """A graph pane shows another part of its picture."""

    def __init__(self, pane: str, x: int, y: int) -> None:
        """Tell of it.

        Args:
            pane: Which of the two it is: `left` or `right`.
            x: Column of the picture at its left edge.
            y: Row of the picture at its top edge.
        """
        super().__init__()
        self.pane = pane
        self.x = x
        self.y = y


class CaptionPicked(Message):
    """A tab or a pane's title was clicked."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class RowsSeen(Message):
    """The list shows other rewrites than before; their titles are wanted."""


class SceneMade(Message):
    """A worker has made a scene."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene


class SceneFailed(Message):
    """A scene could not be made."""

    def __init__(self, place: Place, lens: Lens, reason: str) -> None:
        super().__init__()
        self.place = place
        self.lens = lens
        self.reason = reason


class RangesMade(Message):
    """A worker has made live ranges."""

    def __init__(self, ranges: Ranges) -> None:
        super().__init__()
        self.ranges = ranges


class TitlesMade(Message):
    """A worker has made titles of rewrites."""


class StepFound(Message):
    """The search for a rewrite of a node is over."""

    def __init__(self, step: int | None) -> None:
        super().__init__()
        self.step = step


class HitsFound(Message):
    """A worker has searched."""

    def __init__(self, text: str, hits: list[Hit]) -> None:
        super().__init__()
        self.text = text
        self.hits = hits


class AnswerMade(Message):
    """A worker has answered a question, at least in part."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class LeadFollowed(Message):
    """A piece of text in the details was followed."""

    def __init__(self, lead: Lead) -> None:
        super().__init__()
        self.lead = lead


class ListsRead(Message):
    """The trace, or what a recording has added to it, was read."""

    def __init__(self, lists: Lists) -> None:
        super().__init__()
        self.lists = lists


class Checked(Message):
    """A check has gone on."""

    def __init__(
        self,
        session: Session,
        found: Sequence[RewriteCheck | PassCheck],
        reason: str = "",
        *,
        is_done: bool = False,
    ) -> None:
        super().__init__()
        self.session = session
        self.found = found
        self.reason = reason
        self.is_done = is_done


class Linted(Message):
    """The metadata was looked at."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__()
        self.findings = findings


class Reran(Message):
    """The passes have run again, with other interventions."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session


class Bisected(Message):
    """A bisection is over."""

    def __init__(self, found: Bisection) -> None:
        super().__init__()
        self.found = found


class TrialFailed(Message):
    """The passes could not run again, or nothing could be bisected."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class RecordingBegun(Message):
    """The program is loaded; there is a trace to read along."""

    def __init__(self, trace: Path) -> None:
        super().__init__()
        self.trace = trace


class RecordingProgress(Message):
    """A recording goes on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class RecordingEnded(Message):
    """A recording is over."""

    def __init__(self, error: BaseException | None) -> None:
        super().__init__()
        self.error = error


class PictureWritten(Message):
    """A picture was written to a file, or could not be."""

    def __init__(self, text: str, ok: bool) -> None:
        super().__init__()
        self.text = text
        self.ok = ok


class JobFailed(Message):
    """A worker failed in a way that nobody foresaw."""

    def __init__(self, kind: str, error: Exception) -> None:
        super().__init__()
        self.kind = kind
        self.error = error
