"""Goes to any step of one subject; states that were visited are kept, they share their parts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from qdqviz.ir.change import Change
from qdqviz.ir.graph import GraphState
from qdqviz.trace.garbage import no_collections


@dataclass(frozen=True, slots=True)
class Group:
    """Changes that belong together: a rewrite, or the settling between two."""

    seq: int
    """Position in the whole trace."""
    step: int | None
    """Step number of a rewrite; None for settling."""
    after_step: int
    """Last step at or before it."""


StateLoader: TypeAlias = Callable[[int, int], GraphState]
"""(subject, seq of a checkpoint) -> state."""

ChangeLoader: TypeAlias = Callable[[int, int, int], Mapping[int, Sequence[Change]]]
"""(subject, first seq, last seq) -> changes by seq."""


class Cursor:
    """States of one subject, by step.

    `before(k)` and `after(k)` stand right at a rewrite; bookkeeping that followed step k-1 is in
    `before(k)` already. `at(k)` is the subject's state once all up to step k has happened, for any
    step of the trace, also another subject's.
    """

    def __init__(
        self,
        subject: int,
        load_state: StateLoader,
        load_changes: ChangeLoader,
        checkpoints: Sequence[int],
        groups: Sequence[Group],
    ) -> None:
        self.subject = subject
        self._load_state = load_state
        self._load_changes = load_changes
        self._checkpoints = list(checkpoints)
        self._groups: list[Group] = []
        self._seqs: list[int] = []
        self._index_of_step: dict[int, int] = {}
        self._steps: list[int] = []
        self._after_steps: list[int] = []
        self._known: dict[int, GraphState] = {}
        self._known_keys: list[int] = []
        self.extend(groups)

    @property
    def last_seq(self) -> int:
        """Position of the last group known."""
        return self._seqs[-1] if self._seqs else 0

    @property
    def steps(self) -> Sequence[int]:
        """Steps that belong to this subject, increasing."""
        return self._steps

    def extend(self, groups: Sequence[Group]) -> None:
        """Take note of groups that a recording has added."""
        for group in groups:
            if group.step is not None:
                self._index_of_step[group.step] = len(self._groups)
                self._steps.append(group.step)
            self._groups.append(group)
            self._seqs.append(group.seq)
            self._after_steps.append(group.after_step)

    def first(self) -> GraphState:
        """The first state, before everything."""
        return self._state(0)

    def before(self, step: int) -> GraphState:
        """The state right before a step of this subject.

        Raises:
            KeyError: If the step belongs to another subject.
        """
        return self._state(self._index_of_step[step])

    def after(self, step: int) -> GraphState:
        """The state right after a step of this subject.

        Raises:
            KeyError: If the step belongs to another subject.
        """
        return self._state(self._index_of_step[step] + 1)

    def at(self, step: int) -> GraphState:
        """The state when the trace stood at `step`, trailing bookkeeping included; 0 is the first state."""
        if step == 0:
            return self._state(0)
        return self._state(bisect_right(self._after_steps, step))

    def final(self) -> GraphState:
        """The last state, trailing bookkeeping included."""
        return self._state(len(self._groups))

    def settling_after(self, step: int) -> tuple[Change, ...]:
        """Bookkeeping changes of this subject between `step` and its next rewrite."""
        first = bisect_left(self._after_steps, step)
        found: list[Change] = []
        for group in self._groups[first:]:
            if group.after_step != step:
                break
            if group.step is None:
                found.extend(self._load_changes(self.subject, group.seq, group.seq)[group.seq])
        return tuple(found)

    def _state(self, index: int) -> GraphState:
        """The state after the first `index` groups."""
        if index in self._known:
            return self._known[index]
        start = self._nearest(index)
        state = self._known[start]
        if start == index:
            return state
        first, last = self._seqs[start], self._seqs[index - 1]
        with no_collections():
            changes = self._load_changes(self.subject, first, last)
            for position in range(start, index):
                state = state.apply_all(changes[self._seqs[position]])
                self._keep(position + 1, state)
        return state

    def _nearest(self, index: int) -> int:
        """The nearest index at or below `index` with a state in memory, loading a checkpoint if nearer."""
        at = bisect_right(self._known_keys, index)
        best = self._known_keys[at - 1] if at else -1
        seq = self._seqs[index - 1] if index else 0
        nearest = self._checkpoints[bisect_right(self._checkpoints, seq) - 1]
        position = bisect_right(self._seqs, nearest) if nearest else 0
        if position > best:
            with no_collections():
                self._keep(position, self._load_state(self.subject, nearest))
            best = position
        return best

    def _keep(self, index: int, state: GraphState) -> None:
        if index not in self._known:
            self._known[index] = state
            at = bisect_left(self._known_keys, index)
            self._known_keys.insert(at, index)
