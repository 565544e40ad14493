"""Aligns the rewrites of two pass runs: by the node that they look at, else by what they do."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from qdqviz.trace.compare.edits import Compared, EditComparer, placed
from qdqviz.trace.compare.matching import match_made
from qdqviz.trace.compare.model import Difference, RewritePair, Status
from qdqviz.trace.compare.replay import Edit, History
from qdqviz.trace.model import Rewrite

MOST_CANDIDATES = 64
"""How many rewrites of other nodes are tried as a counterpart: many may touch one node, a long cat, say."""

_Key: TypeAlias = "tuple[str, int | str]"
"""Path of the focus, and its identity, or where there is none the name of the call."""


class RewriteAligner:
    """Aligns rewrites run by run; what they make becomes known as counterparts on the way."""

    def __init__(self, comparer: EditComparer, paths: Mapping[str, str], *, metadata: bool) -> None:
        """Take who compares rewrites, right paths by left ones, and whether metadata counts."""
        self._comparer = comparer
        self._pairs = comparer.pairs
        self._paths = paths
        self._metadata = metadata

    def align(
        self, left: Sequence[Rewrite], right: Sequence[Rewrite], mine: History, theirs: History
    ) -> tuple[RewritePair, ...]:
        """Align the rewrites of two runs of one pass, in the order of their steps."""
        waiting = _Waiting(right, theirs)
        found = [self._counterpart(one, mine.edits[one.step], waiting) for one in left]
        found += [RewritePair("only_right", None, each.step) for each in waiting.rest()]
        self._pairs.unsettle(right=waiting.placed_before(None))
        self._resume(left, right, mine, theirs)
        return tuple(_in_order(found))

    # -- who is whose counterpart ------------------------------------------------------------------

    def _counterpart(self, one: Rewrite, edits: tuple[Edit, ...], waiting: _Waiting) -> RewritePair:
        focused = waiting.looking_at(self._focus_key(one))
        other = focused or self._same_elsewhere(edits, waiting)
        if other is None:
            self._pairs.unsettle(left=placed(edits))
            return RewritePair("only_left", one.step, None)
        waiting.take(other)
        self._pairs.unsettle(right=waiting.placed_before(other))
        compared = self._comparer.compare(edits, waiting.edits(other))
        self._learn(compared)
        differences = self._counted(compared)
        status: Status = "different" if differences else "equal"
        return RewritePair(status, one.step, other.step, differences, other_focus=focused is None)

    def _focus_key(self, one: Rewrite) -> _Key | None:
        """What the counterpart's key has to be; None where its focus cannot be there."""
        path = self._paths.get(one.path, one.path)
        if one.focus is None:
            return path, one.name
        focus = self._pairs.right_of(one.focus)
        return None if focus is None else (path, focus)

    def _same_elsewhere(self, edits: tuple[Edit, ...], waiting: _Waiting) -> Rewrite | None:
        """A rewrite that does the same, though its pass looked at another node."""
        nodes = (self._pairs.right_of(each.old.id) for each in edits if each.old is not None)
        touching = waiting.touching(node for node in nodes if node is not None)
        for candidate in islice(touching, MOST_CANDIDATES):
            compared = self._comparer.compare(edits, waiting.edits(candidate))
            if all(each.is_metadata for each in compared.differences):
                return candidate
        return None

    def _counted(self, compared: Compared) -> tuple[Difference, ...]:
        return tuple(each for each in compared.differences if self._metadata or not each.is_metadata)

    def _learn(self, compared: Compared) -> None:
        self._pairs.add_all(compared.made)
        self._pairs.unsettle(*compared.unsettled)
        for left, right in compared.became:
            self._pairs.replace(left, right)

    def _resume(
        self, left: Sequence[Rewrite], right: Sequence[Rewrite], mine: History, theirs: History
    ) -> None:
        """Pair what both runs made and no rewrites paired: the next pass finds it as it is."""
        ours = [node for run in {each.run for each in left} for node in mine.made.get(run, ())]
        others = [node for run in {each.run for each in right} for node in theirs.made.get(run, ())]
        ours = [node for node in ours if self._pairs.right_of(node.id) is None]
        others = [node for node in others if self._pairs.left_of(node.id) is None]
        if ours and others:
            self._pairs.add_all(match_made(ours, others, self._pairs.by_left).items())


class _Waiting:
    """The right rewrites of a pass run that have no counterpart yet."""

    def __init__(self, rewrites: Sequence[Rewrite], history: History) -> None:
        self._history = history
        self._free = {each.step: each for each in rewrites}
        self._unplaced = deque(self._free)
        self._by_key: dict[_Key, deque[int]] = defaultdict(deque)
        self._by_node: dict[int, list[int]] = defaultdict(list)
        for each in rewrites:
            self._by_key[each.path, each.name if each.focus is None else each.focus].append(each.step)
            for edit in history.edits[each.step]:
                if edit.old is not None:
                    self._by_node[edit.old.id].append(each.step)

    def looking_at(self, key: _Key | None) -> Rewrite | None:
        """The first one with this focus (or, where there is none, of this name)."""
        steps = deque[int]() if key is None else self._by_key.get(key, deque())
        while steps and steps[0] not in self._free:
            steps.popleft()
        return self._free[steps[0]] if steps else None

    def touching(self, nodes: Iterable[int]) -> Iterator[Rewrite]:
        """Those that change one of these nodes, each once."""
        steps = dict.fromkeys(step for node in nodes for step in self._by_node.get(node, ()))
        return (self._free[step] for step in steps if step in self._free)

    def edits(self, rewrite: Rewrite) -> tuple[Edit, ...]:
        """What one of them does."""
        return self._history.edits[rewrite.step]

    def take(self, rewrite: Rewrite) -> None:
        """One of them has a counterpart now."""
        del self._free[rewrite.step]

    def placed_before(self, rewrite: Rewrite | None) -> Iterator[int]:
        """Nodes made, moved or erased by those that come before one of them (None: by all); told once."""
        while self._unplaced and (rewrite is None or self._unplaced[0] < rewrite.step):
            step = self._unplaced.popleft()
            if step in self._free:
                yield from placed(self._history.edits[step])

    def rest(self) -> Sequence[Rewrite]:
        """Those that are left."""
        return tuple(self._free.values())


def _in_order(pairs: Sequence[RewritePair]) -> Iterator[RewritePair]:
    """The pairs by their left steps; what only the right has comes before what it did next."""
    alone = deque(each for each in pairs if each.left is None)
    for pair in pairs:
        if pair.left is None:
            continue
        while pair.right is not None and alone and alone[0].step < pair.right:
            yield alone.popleft()
        yield pair
    yield from alone
