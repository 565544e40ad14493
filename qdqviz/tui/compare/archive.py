"""Reads both traces of a comparison, in one numbering of nodes; safe to call from several threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.explain.difference import Teller, Told
from qdqviz.ir.graph import GraphState
from qdqviz.ir.text import safe_text
from qdqviz.trace.compare.model import SubjectPair
from qdqviz.trace.compare.renumbered import Renumbered
from qdqviz.trace.model import Rewrite
from qdqviz.trace.reader import Trace
from qdqviz.tui.compare.pairs import Item, PairLists, pair_lists
from qdqviz.tui.compare.source import Compared
from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.place import Place

if TYPE_CHECKING:
    from qdqviz.tui.model.sparing import Sparing


class PairArchive(Archive):
    """Two traces behind a lock. What is after is the right trace, with the left one's identities."""

    def __init__(self, compared: Compared, sparing: Sparing | None = None) -> None:
        """Read the lists of both traces.

        Args:
            compared: What is shown.
            sparing: Spares what was read from garbage collection.
        """
        comparison = compared.comparison
        super().__init__(comparison.left, sparing)
        self.compared = compared
        """What is shown."""
        self.teller = Teller(comparison, compared.sides)
        """Puts differences in words."""
        self._right = Renumbered(comparison.right.path, comparison.nodes)
        self._told: dict[int, Told] = {}
        self.pairs: PairLists = pair_lists(compared, self.teller)
        """What there is to go to."""
        self.lists: Lists = self.pairs.lists

    # -- what there is at a place ------------------------------------------------------------------

    def item(self, step: int) -> Item:
        """The pair of rewrites with a number."""
        return self.pairs.items[step - 1]

    def told(self, step: int) -> Told:
        """The pair of rewrites with a number, in words."""
        with self._lock:
            if step not in self._told:
                item = self.item(step)
                self._told[step] = self.teller.rewrite(item.run, item.pair)
            return self._told[step]

    def subject(self, number: int) -> SubjectPair:
        """The programs with a number."""
        return self.compared.comparison.subjects[number]

    def states(self, place: Place) -> tuple[GraphState | None, GraphState | None]:
        """What either side has at a place; None where it lacks the program."""
        subject = self.subject(place.subject)
        with self._lock:
            if place.step is not None:
                item = self.item(place.step)
                steps = item.pair.left, item.pair.right
                return (
                    _state(self._trace, subject.left, steps[0], item.stand[0]),
                    _state(self._right, subject.right, steps[1], item.stand[1]),
                )
            if place.run is not None:
                ends = self.pairs.ends[place.run]
                return (
                    _state(self._trace, subject.left, None, ends[0]),
                    _state(self._right, subject.right, None, ends[1]),
                )
            return (
                None if subject.left is None else self._trace.final(subject.left),
                None if subject.right is None else self._right.final(subject.right),
            )

    def rewrites(self, step: int) -> list[Rewrite]:
        """The rewrites of a pair, those of the right with the left one's identities."""
        pair = self.item(step).pair
        with self._lock:
            found = [] if pair.left is None else [self._trace.rewrite(pair.left)]
            return found if pair.right is None else [*found, self._right.rewrite(pair.right)]

    def number(self, node: int) -> int:
        """The identity under which a node of the right trace is shown."""
        return self._right.number(node)

    # -- as one trace ------------------------------------------------------------------------------

    def reopened(self) -> Trace:
        """The left trace once more."""
        return Trace(self._trace.path)

    def refresh(self) -> Lists:
        """Nothing is recorded any more."""
        return self.lists

    def around(self, step: int) -> tuple[Rewrite, GraphState, GraphState]:
        """A pair as if it were a rewrite that led from the left graph to the right one."""
        header = self.lists.headers[step - 1]
        left, right = self.states(Place("step", header.subject, header.run, step))
        return header, left or GraphState(), right or GraphState()

    def at(self, subject: int, step: int) -> GraphState:
        """The right graph of a program once a pair has happened."""
        if step:
            return self.around(step)[2]
        right = self.states(Place("start", subject))[1]
        return right or GraphState()

    def title(self, step: int) -> str:
        """What a pair is about, in a few words; safe to show."""
        if step not in self._titles:
            told = self.told(step)
            titles = dict.fromkeys(each for each in (told.left, told.right) if each)
            self._titles[step] = safe_text(" | ".join(titles))
        return self._titles[step]

    def text(self, text_id: int) -> str:
        """A long text of either trace; make it safe where it is shown."""
        return self._right.text(text_id) if self._right.owns_text(text_id) else self._trace.text(text_id)

    def touches(self, step: int, path: str, node: int) -> bool:
        """Whether the changes of either rewrite are about a node."""
        if step not in self._touches:
            self._touches[step] = frozenset(
                (change.path, change.node_id) for each in self.rewrites(step) for change in each.changes
            )
        return (path, node) in self._touches[step]

    def close(self) -> None:
        """Close what was opened here."""
        with self._lock:
            self._right.close()


def _state(trace: Trace, subject: int | None, step: int | None, stand: int) -> GraphState | None:
    """A program right after a step, else once all up to another one has happened."""
    if subject is None:
        return None
    if step is not None and trace.headers[step - 1].subject == subject:
        return trace.after(step)
    return trace.cursor(subject).at(stand)
