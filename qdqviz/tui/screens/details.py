"""Fills the details pane: each tab from where its content comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.tui.model.arrangement import DETAILS
from qdqviz.tui.model.details.about_check import check_facts
from qdqviz.tui.model.details.tabs import detail_facts
from qdqviz.tui.model.listing import Listing
from qdqviz.tui.screens.questions import ASKING_TABS

if TYPE_CHECKING:
    from qdqviz.tui.screens.workbench import Workbench


class Details:
    """Says what the chosen tab says about where one is."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._shown: object = None

    @property
    def tab(self) -> str:
        """The details tab that is shown; empty where none is."""
        stage = self._bench.stage
        tab = "" if stage.arrangement is None else stage.tab(self._bench.view)
        return tab if tab in DETAILS else ""

    def show(self) -> None:
        """Show what the chosen tab says; have it made where that takes time."""
        tab, bench = self.tab, self._bench
        if not tab or bench.workshop is None:
            return
        if tab in ASKING_TABS:
            bench.questions.want()
            self.show_answer()
        elif tab == "check":
            bench.trials.want_lint()
            self.show_check()
        else:
            self._shown = None
            bench.stage.details_note = ""
            facts = detail_facts(tab, bench.workshop.archive, bench.current(), bench.node())
            bench.stage.details.show(facts)

    def show_answer(self) -> None:
        """Show what is known of the question, if a tab is about that."""
        tab, bench = self.tab, self._bench
        if tab not in ASKING_TABS:
            return
        questions = bench.questions
        content = questions.facts() if tab == "why" else questions.listing()
        bench.stage.details_note = content.name if isinstance(content, Listing) else ""
        about = (tab, questions.current(), questions.answer() is None, questions.chosen)
        bench.stage.details.show(content, keep=about == self._shown)
        self._shown = about

    def show_check(self) -> None:
        """Show what checks have found, if that tab is chosen; one stays at the line where one was."""
        bench = self._bench
        if self.tab != "check" or bench.workshop is None:
            return
        verdicts, trial = bench.trials.verdicts, bench.trials.trial
        place, title_of = bench.view.place, bench.workshop.archive.known_title
        bench.stage.details_note = "checking …" if verdicts.state in ("waiting", "running") else ""
        about = ("check", place)
        facts = check_facts(verdicts, bench.lists, place, trial, title_of)
        bench.stage.details.show(facts, keep=about == self._shown)
        self._shown = about
