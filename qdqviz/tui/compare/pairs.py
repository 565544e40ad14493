"""The list of a comparison, in the form that the list of one trace has: what differs comes first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from qdqviz.explain.difference import Teller
from qdqviz.trace.compare.model import Comparison, RewritePair, RunPair, SubjectPair
from qdqviz.trace.model import PassError, PassRun, Rewrite, Subject, TraceInfo
from qdqviz.tui.compare.source import Compared
from qdqviz.tui.model.lists import Lists

SAME = "the same in both"
"""The row under which rewrites stand that do not differ."""


@dataclass(frozen=True)
class Item:
    """A pair of rewrites, or a rewrite that one side lacks, with where both sides stand."""

    run: RunPair
    """The pass runs."""
    pair: RewritePair
    """The rewrites."""
    stand: tuple[int, int]
    """The last step of either side that comes before what happens here."""


@dataclass(frozen=True)
class PairLists:
    """Everything there is to go to; places are those of `lists`, which numbers pairs as one trace steps."""

    lists: Lists
    """Programs, passes and pairs of rewrites."""
    items: tuple[Item, ...]
    """In order of their numbers in `lists`; number `n` is at `n - 1`."""
    runs: tuple[RunPair | None, ...]
    """By the runs of `lists`; None for a row that only holds others."""
    ends: tuple[tuple[int, int], ...]
    """By the runs of `lists`: the last steps of either side once the pass has ended."""
    closed: frozenset[int]
    """Runs that are folded away at first."""
    differing: int
    """How many of the items differ: they come first."""


def pair_lists(compared: Compared, teller: Teller) -> PairLists:
    """The list of a comparison."""
    return _Builder(compared, teller).build()


@dataclass
class _Builder:
    """Builds it."""

    compared: Compared
    teller: Teller
    runs: list[PassRun] = field(default_factory=list)
    pairs: list[RunPair | None] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    headers: list[Rewrite] = field(default_factory=list)

    def build(self) -> PairLists:
        comparison = self.compared.comparison
        placed = list(_placed(comparison))
        for run, end, items in placed:
            found = [each for each in items if not each.pair.same]
            if found or _error(comparison, run) is not None or run.left is None or run.right is None:
                self._run(run, end, found, None)
        differing = len(self.runs)
        self._same(placed)
        info = comparison.left.info
        lists = Lists(
            TraceInfo(self.compared.title, info.created, _common(comparison)),
            True,
            tuple(self._subject(number, each) for number, each in enumerate(comparison.subjects)),
            tuple(self.runs),
            tuple(self.headers),
            {**comparison.right.ops, **comparison.left.ops},
        )
        closed = frozenset({differing}) if differing else frozenset[int]()
        count = sum(not each.pair.same for each in self.items)
        return PairLists(lists, tuple(self.items), tuple(self.pairs), tuple(self.ends), closed, count)

    def _same(self, placed: list[tuple[RunPair, tuple[int, int], list[Item]]]) -> None:
        """What does not differ, under one row."""
        found = [(run, end, [each for each in items if each.pair.same]) for run, end, items in placed]
        found = [each for each in found if each[2]]
        if not found:
            return
        holder = len(self.runs)
        begun = len(self.items)
        first = self._subject_number(found[0][0])
        row = PassRun(holder, first, SAME, "", None, first_step=begun, last_step=begun)
        self._add(row, None, found[-1][1])
        for run, end, items in found:
            self._run(run, end, items, holder)
        self.runs[holder] = replace(row, last_step=len(self.items))

    def _run(self, run: RunPair, end: tuple[int, int], items: list[Item], parent: int | None) -> None:
        number, begun = len(self.runs), len(self.items)
        subject = self._subject_number(run)
        for item in items:
            self.items.append(item)
            self.headers.append(self._header(item, number, subject))
        made = PassRun(
            number,
            subject,
            self.teller.run_name(run),
            "",
            parent,
            first_step=begun,
            last_step=len(self.items),
            error=_error(self.compared.comparison, run) if parent is None else None,
        )
        self._add(made, run, end)

    def _add(self, run: PassRun, pair: RunPair | None, end: tuple[int, int]) -> None:
        self.runs.append(run)
        self.pairs.append(pair)
        self.ends.append(end)

    def _header(self, item: Item, run: int, subject: int) -> Rewrite:
        comparison, pair = self.compared.comparison, item.pair
        trace, step = (
            (comparison.left, pair.left) if pair.left is not None else (comparison.right, pair.right)
        )
        assert step is not None
        found = trace.headers[step - 1]
        return replace(found, step=len(self.items), run=run, subject=subject)

    def _subject_number(self, run: RunPair) -> int:
        comparison = self.compared.comparison
        for number, each in enumerate(comparison.subjects):
            if run.left is not None:
                if comparison.left.runs[run.left].subject == each.left:
                    return number
            elif run.right is not None and comparison.right.runs[run.right].subject == each.right:
                return number
        return 0

    def _subject(self, number: int, each: SubjectPair) -> Subject:
        if each.left is None or each.right is None:
            told = f"only {self.compared.sides[0 if each.right is None else 1]}"
        elif not each.first.equal:
            told = "start differs"
        else:
            told = "final graphs same" if each.final.equal else "final graphs differ"
        return Subject(number, self.teller.graph_name(each), told)


def _placed(comparison: Comparison) -> Iterator[tuple[RunPair, tuple[int, int], list[Item]]]:
    """Every pair of pass runs, where both sides stand at its end, and its rewrites with where they stand."""
    at = [0, 0]
    for run in comparison.runs:
        numbers = (run.left, run.right)
        ends = list(at)
        for side, trace in enumerate((comparison.left, comparison.right)):
            number = numbers[side]
            if number is not None:
                at[side], ends[side] = trace.runs[number].first_step, trace.runs[number].last_step
        items = []
        for pair in run.rewrites:
            items.append(Item(run, pair, (at[0], at[1])))
            for side, step in enumerate((pair.left, pair.right)):
                at[side] = at[side] if step is None else step
        at = ends
        yield run, (ends[0], ends[1]), items


def _error(comparison: Comparison, run: RunPair) -> PassError | None:
    found = [
        trace.runs[number].error
        for trace, number in ((comparison.right, run.right), (comparison.left, run.left))
        if number is not None
    ]
    return next((each for each in found if each is not None), None)


def _common(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """Versions that both sides share."""
    theirs = dict(comparison.right.info.versions)
    return tuple(each for each in comparison.left.info.versions if theirs.get(each[0]) == each[1])
