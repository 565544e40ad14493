"""Compares two traces of the same model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from qdqviz.ir.graph import GraphState
from qdqviz.trace.compare.absence import Absences
from qdqviz.trace.compare.edits import EditComparer, placed
from qdqviz.trace.compare.figures import figures
from qdqviz.trace.compare.graphs import graph_difference
from qdqviz.trace.compare.model import (
    Comparison,
    Divergence,
    GraphDifference,
    RewritePair,
    RunPair,
    SubjectPair,
)
from qdqviz.trace.compare.pairs import Pairs
from qdqviz.trace.compare.replay import History, replay
from qdqviz.trace.compare.rewrites import RewriteAligner
from qdqviz.trace.compare.runs import AlignedRuns, align_runs
from qdqviz.trace.compare.subjects import align_paths, align_subjects, pair_nodes
from qdqviz.trace.garbage import rarer_collections
from qdqviz.trace.model import PassRun, Rewrite
from qdqviz.trace.reader import Trace

_YOUNG = 1_000_000
"""New objects before a collection. A comparison keeps what it reads and makes no cycles; with the usual 700
a comparison of 20,000 nodes takes 1.6 times as long."""


def compare(left: Trace, right: Trace, *, metadata: bool = True) -> Comparison:
    """Align two traces of the same model, and say what differs. Linear in the size of the traces.

    Args:
        left: A trace: the old one, where there is an old one.
        right: Another trace.
        metadata: Whether differences in metadata alone count as differences.

    Raises:
        TraceFileError: If a trace is damaged.
    """
    with rarer_collections(young=_YOUNG):
        return _Comparing(left, right, metadata).run()


class _Comparing:
    """One comparison under way."""

    def __init__(self, left: Trace, right: Trace, metadata: bool) -> None:
        self._left, self._right = left, right
        self._metadata = metadata
        self._mine = {each.id: replay(left, each.id) for each in left.subjects}
        self._theirs = {each.id: replay(right, each.id) for each in right.subjects}
        self._pairs = Pairs()
        self._texts = cache(left.text), cache(right.text)
        self._subjects = align_subjects(left, right)
        self._runs = align_runs(left, right, self._subjects)
        lenient = any(each.moved for each in self._runs)
        self._comparer = EditComparer(self._pairs, *self._texts, lenient=lenient)
        self._rewrites = _by_run(left), _by_run(right)
        self._paired: set[int] = set()
        names = (_names(self._mine), _names(self._theirs))
        self._lacking_left = Absences(left, self._pairs.left_of, names[0])
        self._lacking_right = Absences(right, self._pairs.right_of, names[1])

    def run(self) -> Comparison:
        runs = tuple(self._run(each) for each in self._runs)
        subjects = tuple(self._subject_pairs())
        parting = self._divergence(runs)
        return Comparison(self._left, self._right, subjects, runs, parting, dict(self._pairs.by_left))

    # -- pass runs ---------------------------------------------------------------------------------

    def _run(self, runs: AlignedRuns) -> RunPair:
        left, right = runs.left, runs.right
        pairs: tuple[RewritePair, ...]
        if left is None or right is None or self._subjects.get(left.subject) != right.subject:
            pairs = (*self._alone(left, is_left=True), *self._alone(right, is_left=False))
        else:
            self._pair_first_states(left.subject)
            mine, theirs = self._mine[left.subject], self._theirs[right.subject]
            aligner = RewriteAligner(
                self._comparer, align_paths(mine.first, theirs.first), metadata=self._metadata
            )
            pairs = aligner.align(
                self._rewrites[0].get(left.id, ()), self._rewrites[1].get(right.id, ()), mine, theirs
            )
        return RunPair(
            None if left is None else left.id,
            None if right is None else right.id,
            tuple(self._explained(each, left, right) for each in pairs),
            runs.moved,
            self._same_source(left, right),
        )

    def _alone(self, run: PassRun | None, *, is_left: bool) -> list[RewritePair]:
        if run is None:
            return []
        found = self._rewrites[0 if is_left else 1].get(run.id, ())
        history = (self._mine if is_left else self._theirs)[run.subject]
        nodes = [node for each in found for node in placed(history.edits[each.step])]
        self._pairs.unsettle(left=nodes if is_left else (), right=() if is_left else nodes)
        if is_left:
            return [RewritePair("only_left", each.step, None) for each in found]
        return [RewritePair("only_right", None, each.step) for each in found]

    def _explained(self, pair: RewritePair, left: PassRun | None, right: PassRun | None) -> RewritePair:
        """The pair with the reason why one side has no counterpart."""
        if pair.status == "only_left":
            assert pair.left is not None
            rewrite = self._left.headers[pair.left - 1]
            return replace(pair, absence=self._lacking_right.of(rewrite, right, rewrite.path))
        if pair.status == "only_right":
            assert pair.right is not None
            rewrite = self._right.headers[pair.right - 1]
            return replace(pair, absence=self._lacking_left.of(rewrite, left, rewrite.path))
        return pair

    def _same_source(self, left: PassRun | None, right: PassRun | None) -> bool:
        if left is None or right is None:
            return False
        mine, theirs = self._left.source(left.file), self._right.source(right.file)
        return (None if mine is None else mine.text) == (None if theirs is None else theirs.text)

    # -- programs ----------------------------------------------------------------------------------

    def _pair_first_states(self, subject: int) -> None:
        """Pair the nodes of a program's first states; of a copy those that are new in it."""
        if subject not in self._paired:
            self._paired.add(subject)
            other = self._subjects[subject]
            pair_nodes(self._mine[subject].first, self._theirs[other].first, self._pairs)

    def _subject_pairs(self) -> Sequence[SubjectPair]:
        found = [self._subject_pair(each.id) for each in self._left.subjects]
        taken = set(self._subjects.values())
        for each in self._right.subjects:
            if each.id not in taken:
                history = self._theirs[each.id]
                numbers = figures(history.first), figures(history.final)
                found.append(SubjectPair(None, each.id, right_first=numbers[0], right_final=numbers[1]))
        return found

    def _subject_pair(self, subject: int) -> SubjectPair:
        mine = self._mine[subject]
        numbers = figures(mine.first), figures(mine.final)
        other = self._subjects.get(subject)
        if other is None:
            return SubjectPair(subject, None, left_first=numbers[0], left_final=numbers[1])
        self._pair_first_states(subject)
        theirs = self._theirs[other]
        return SubjectPair(
            subject,
            other,
            self._difference(mine.first, theirs.first),
            self._difference(mine.final, theirs.final),
            *numbers,
            figures(theirs.first),
            figures(theirs.final),
        )

    def _difference(self, left: GraphState, right: GraphState) -> GraphDifference:
        return graph_difference(left, right, self._pairs.by_left, self._texts, metadata=self._metadata)

    # -- where they part ---------------------------------------------------------------------------

    def _divergence(self, runs: Sequence[RunPair]) -> Divergence | None:
        equal = {pair.left: pair.right for run in runs for pair in run.rewrites if pair.same}
        common = min(self._left.steps, self._right.steps)
        for step in range(1, common + 1):
            if equal.get(step) != step:
                return Divergence(step, step)
        if self._left.steps == self._right.steps:
            return None
        longer = common + 1
        return Divergence(
            longer if self._left.steps > common else None, longer if self._right.steps > common else None
        )


def _by_run(trace: Trace) -> dict[int, list[Rewrite]]:
    found: dict[int, list[Rewrite]] = {}
    for header in trace.headers:
        found.setdefault(header.run, []).append(header)
    return found


def _names(histories: dict[int, History]) -> dict[int, str]:
    return {node: name for history in histories.values() for node, name in history.names.items()}
