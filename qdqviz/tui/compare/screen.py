"""The screen of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.ir.text import safe_text
from qdqviz.tui import messages
from qdqviz.tui.compare.archive import PairArchive
from qdqviz.tui.compare.facts import check_facts, pair_badge, why_facts
from qdqviz.tui.compare.stage import PairStage
from qdqviz.tui.compare.versions import source_facts
from qdqviz.tui.compare.workshop import PairWorkshop
from qdqviz.tui.model.details.brief import with_short_names
from qdqviz.tui.model.details.leads import ToLine
from qdqviz.tui.model.details.tabs import detail_facts
from qdqviz.tui.model.header import header_runs
from qdqviz.tui.model.outline import Row
from qdqviz.tui.model.place import Place
from qdqviz.tui.screens.details import Details
from qdqviz.tui.screens.main import MainScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qdqviz.tui.model.archive import Archive
    from qdqviz.tui.model.details.fact import Fact
    from qdqviz.tui.model.verdicts import Badge


class PairScreen(MainScreen):
    """The main screen with two traces in it. Keys that try something out have no program here."""

    def __init__(self, sides: tuple[str, str]) -> None:
        """Make it.

        Args:
            sides: What the sides are called.
        """
        super().__init__()
        self.stage = PairStage(self.stage.outline, sides)
        self.details = PairDetails(self)
        self.pairs: PairArchive | None = None
        """Both traces; None before they are there."""

    def open_archive(self, archive: Archive) -> None:
        """Show a comparison from its first difference; where there is none, from the final graphs."""
        assert isinstance(archive, PairArchive)
        self.pairs = archive
        self.workshop = PairWorkshop(archive, self.post_message)
        self.stage.outline.show_badges(self._badge)
        self.take_lists(archive.lists)
        self.change(closed=archive.pairs.closed, tab="why")
        if not archive.pairs.closed and archive.lists.subjects:
            self.change(place=Place("start", archive.lists.subjects[0].id))

    def _badge(self, row: Row) -> Badge | None:
        if self.pairs is None or row.step is None:
            return None
        return pair_badge(self.pairs, row.step)

    def tell_position(self) -> None:
        """Say in the header which steps of either side are shown."""
        if self.stage.arrangement is not None:
            runs = header_runs(self.lists, None, self._position(), self.stage.arrangement.width)
            self.stage.header.show(runs)

    def _position(self) -> str:
        if self.pairs is None:
            return ""
        count = self.pairs.pairs.differing
        step = self.view.place.step
        if step is None:
            return f"{count:,} of {len(self.pairs.pairs.items):,} rewrites differ"
        pair = self.pairs.item(step).pair
        steps = [
            f"{safe_text(side)} step {'-' if number is None else f'{number:,}'}"
            for side, number in zip(self.pairs.compared.sides, (pair.left, pair.right), strict=True)
        ]
        where = f"difference {step:,}/{count:,}" if step <= count else "the same"
        return f"{where} · {', '.join(steps)}"

    def on_lead_followed(self, message: messages.LeadFollowed) -> None:
        """Follow a piece of text; a line of source is shown among both versions."""
        if isinstance(message.lead, ToLine):
            message.prevent_default()
            self.action_show("source")


class PairDetails(Details):
    """Says what the chosen tab says of a pair."""

    def __init__(self, bench: PairScreen) -> None:
        super().__init__(bench)
        self._pairs = bench

    def show(self) -> None:
        """Show what the chosen tab says."""
        tab, archive = self.tab, self._pairs.pairs
        if not tab or archive is None:
            return
        stage, place = self._pairs.stage, self._pairs.view.place
        stage.details_note = ""
        about = (tab, place) if tab not in ("node", "meta") else None
        facts = self._facts(tab, archive, place)
        stage.details.show(facts, keep=about is not None and about == self._shown)
        self._shown = about

    def _facts(self, tab: str, archive: PairArchive, place: Place) -> Sequence[Fact]:
        match tab:
            case "why":
                return with_short_names(why_facts(archive, place))
            case "source":
                return source_facts(archive, place)
            case "check":
                return check_facts(archive, place)
        return detail_facts(tab, archive, self._pairs.current(), self._pairs.node())

    def show_answer(self) -> None:
        """Nothing is asked here."""

    def show_check(self) -> None:
        """Titles have been made: the Check tab names rewrites by them."""
        if self.tab == "check":
            self.show()
