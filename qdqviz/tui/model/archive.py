"""The one way in which the terminal reads a trace: safe to call from several threads, remembers answers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from qdqviz.ir.graph import GraphState
from qdqviz.trace.model import Rewrite
from qdqviz.trace.reader import Trace
from qdqviz.tui.model.lists import Lists, read_lists

if TYPE_CHECKING:
    from qdqviz.tui.model.answers import Answers
    from qdqviz.tui.model.asking import Answer, OtherPass, Question
    from qdqviz.tui.model.sparing import Sparing


class Archive:
    """A trace behind a lock."""

    def __init__(self, trace: Trace, sparing: Sparing | None = None) -> None:
        """Read the lists of a trace.

        Args:
            trace: The trace.
            sparing: Spares what was read from garbage collection. None where passes run in this process:
                their garbage would be spared too.
        """
        self._trace = trace
        self._sparing = sparing
        self._lock = threading.RLock()
        self._titles: dict[int, str] = {}
        self._touches: dict[int, frozenset[tuple[str, int]]] = {}
        self._primed: set[int] = set()
        self._answers: Answers | None = None
        self.lists: Lists = read_lists(trace)
        """The lists as they were read last."""

    def reopened(self) -> Trace:
        """The same file opened once more, for long work in another thread; the caller's to close."""
        return Trace(self._trace.path)

    def refresh(self) -> Lists:
        """Read what a recording has added since."""
        with self._lock:
            self._trace.refresh()
            self._answers = None
            self.lists = read_lists(self._trace)
            return self.lists

    def around(self, step: int) -> tuple[Rewrite, GraphState, GraphState]:
        """A rewrite with its changes, and the states of its subject right before and right after it."""
        from qdqviz.explain.effect import states_around

        with self._lock:
            rewrite = self._trace.rewrite(step)
            self._prime(rewrite.subject)
            before, after = states_around(self._trace, rewrite)
            return rewrite, before, after

    def _prime(self, subject: int) -> None:
        """Have a subject's first state learn who uses whom, and in which order: later states inherit that."""
        if subject not in self._primed:
            self._primed.add(subject)
            with nullcontext() if self._sparing is None else self._sparing.paused():
                first = self._trace.first(subject)
                for path in first.paths():
                    first.body(path).user_sets()
                    first.body(path).in_order()
            self.spare()

    def spare(self) -> None:
        """Spare what was read so far from garbage collection."""
        if self._sparing is not None:
            self._sparing.spare()

    def at(self, subject: int, step: int) -> GraphState:
        """The state of a subject once all up to `step` has happened."""
        with self._lock:
            self._prime(subject)
            return self._trace.cursor(subject).at(step)

    def title(self, step: int) -> str:
        """What a rewrite did, in a few words; safe to show."""
        from qdqviz.explain.effect import effect_of
        from qdqviz.explain.title import title_of
        from qdqviz.ir.text import safe_text

        if step not in self._titles:
            rewrite, before, after = self.around(step)
            self._titles[step] = safe_text(title_of(effect_of(rewrite, before, after), before, after))
        return self._titles[step]

    def known_title(self, step: int) -> str | None:
        """The title of a step if it has been made already; costs nothing."""
        return self._titles.get(step)

    def text(self, text_id: int) -> str:
        """A long text from the trace's table of texts; as it is, so make it safe where it is shown."""
        return self._trace.text(text_id)

    def answer(self, question: Question, stale: Callable[[], bool]) -> Iterator[Answer]:
        """What is known about a question: the pass asked about first, then the other passes as well.

        The trace is free for others in between.

        Raises:
            TraceFileError: The trace is damaged.
        """
        from qdqviz.tui.model.answers import Answers

        with self._lock:
            self._answers = self._answers or Answers(self._trace)
            answers = self._answers
            answer = answers.first(question)
        yield answer
        others: list[OtherPass] = []
        passes = [] if answer.is_whole else answers.asked(question)
        for run in passes:
            if stale():
                return
            with self._lock:
                other = answers.other(run, question)
            others += [] if other is None else [other]
        yield replace(answer, others=tuple(others), absent=len(passes) - len(others), is_whole=True)

    def endings(self, run: int) -> Mapping[str, int]:
        """How the attempts of a pass run ended that neither declined nor made a rewrite: word -> how many."""
        with self._lock:
            attempts = self._trace.attempts(run)
        told = {"fired": "changed nothing", "vetoed": "vetoed", "raised": "raised"}
        counts = Counter(
            told[each.outcome] for each in attempts if each.step is None and each.outcome in told
        )
        return {word: counts[word] for word in told.values() if word in counts}

    def touches(self, step: int, path: str, node: int) -> bool:
        """Whether a rewrite's changes are about a node."""
        if step not in self._touches:
            with self._lock:
                changes = self._trace.rewrite(step).changes
            self._touches[step] = frozenset((change.path, change.node_id) for change in changes)
        return (path, node) in self._touches[step]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._trace.close()
