"""Asks why, and shows the answers: what the Why and Source tabs are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qdqviz.ir.text import safe_text
from qdqviz.tui.model.asking import Answer, Question
from qdqviz.tui.model.details.brief import with_short_names
from qdqviz.tui.model.details.fact import Fact, Part, heading, plain_fact
from qdqviz.tui.model.details.leads import ToGroup, ToLine, ToPlace
from qdqviz.tui.model.moving import next_run

if TYPE_CHECKING:
    from qdqviz.tui.model.listing import Listing
    from qdqviz.tui.screens.workbench import Workbench

ASKING_TABS = ("why", "source")
"""Tabs that show answers."""


class Questions:
    """What is asked follows from where one is and which node is selected."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._group: int | None = None
        self._line: ToLine | None = None
        self._about: Question | None = None
        self._broken: tuple[Question | None, str] | None = None

    def current(self) -> Question | None:
        """What is to be asked; None where there is nothing to ask about."""
        bench = self._bench
        lists, place, scene = bench.lists, bench.view.place, bench.current()
        if lists is None or not lists.subjects:
            return None
        path = "" if scene is None else scene.sight.path
        node = bench.view.lens.anchor if bench.view.selected is None else bench.view.selected
        if node is not None and scene is not None and scene.has(node):
            return Question(place.run, node, path, place.step, place.subject)
        if place.step is not None:
            header = lists.headers[place.step - 1]
            return Question(place.run, header.focus, header.path, place.step, place.subject)
        return None if place.run is None else Question(place.run, subject=place.subject)

    def want(self) -> None:
        """Have the question answered, unless it has been already."""
        bench = self._bench
        question = self.current()
        if question is None or bench.workshop is None:
            return
        known = bench.workshop.answer(question)
        if known is None or not known.is_whole:
            bench.workshop.want_answer(question)

    def answer(self) -> Answer | None:
        """What is known about the question; None where nothing is yet."""
        question = self.current()
        if question is None or self._bench.workshop is None:
            return None
        if question != self._about:
            self._about, self._group, self._line = question, None, None
        return self._bench.workshop.answer(question)

    def break_off(self, reason: str) -> None:
        """The question cannot be answered.

        Args:
            reason: Why not; safe to show.
        """
        self._broken = self.current(), reason

    @property
    def chosen(self) -> tuple[int | None, ToLine | None]:
        """The guard whose nodes are listed, and the line of the source that is looked at."""
        return self._group, self._line

    def show_group(self, lead: ToGroup) -> None:
        """List the nodes of one guard, or all guards again."""
        self._group = None if self._group == lead.index else lead.index

    def show_line(self, lead: ToLine) -> None:
        """Look at a line of the source."""
        self._line = lead

    def facts(self) -> Sequence[Fact]:
        """What the Why tab says."""
        answer = self.answer()
        if answer is None:
            return [self._none()]
        from qdqviz.tui.model.details.about_pass import pass_facts
        from qdqviz.tui.model.details.about_why import why_facts

        if answer.question.node is None and answer.why is not None:
            return with_short_names(pass_facts(answer.why, self._group))
        return with_short_names(why_facts(answer))

    def listing(self) -> Listing | Sequence[Fact]:
        """What the Source tab shows."""
        from dataclasses import replace

        answer = self.answer()
        if answer is None:
            return [self._none()]
        if not answer.listings:
            return [heading("the source of this pass is not in the trace", "muted")]
        line = self._line
        shown = next((each for each in answer.listings if line is not None and each.file == line.file), None)
        if shown is None or line is None:
            return answer.listings[0]
        return replace(shown, start=line.line)

    def _none(self) -> Fact:
        if self.current() is None:
            return self._way_on()
        if self._broken is not None and self._broken[0] == self.current():
            return plain_fact("", f"cannot be answered: {self._broken[1]}", "ui.error")
        return plain_fact("", "asking …", "muted")

    def _way_on(self) -> Fact:
        """What to do where there is nothing to ask about: the keys that lead to a pass."""
        bench = self._bench
        outline, lists = bench.stage.outline.outline, bench.lists
        following = next_run(outline, bench.view.place, 1)
        if following is not None and following.run is not None and lists is not None:
            name = Part(safe_text(lists.runs[following.run].label), "link", None, ToPlace(following))
            keys = (Part("]", "bold"), Part(" to ", "muted"))
            return heading("pick a node, or go with ", "muted", *keys, name)
        if outline.hidden:
            said = f" shows the {_passes(outline.hidden)} that changed nothing"
            return heading("pick a node; ", "muted", Part("z", "bold"), Part(said, "muted"))
        return plain_fact("", "pick a node, or go to a pass", "muted")


def _passes(count: int) -> str:
    return "pass" if count == 1 else f"{count:,} passes"
