"""Why a trace lacks a rewrite that the other has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TypeAlias

from qdqviz.trace.compare.model import Absence, Reason
from qdqviz.trace.model import Attempt, Outcome, PassRun, Rewrite
from qdqviz.trace.reader import Trace

_PRECEDENCE: tuple[tuple[Outcome, Reason], ...] = (
    ("raised", "raised"),
    ("vetoed", "vetoed"),
    ("declined", "declined"),
    ("fired", "did_other"),
)
"""Of several attempts on a node the first of these outcomes counts."""

Counterpart: TypeAlias = Callable[[int], int | None]
"""Identity in the other trace -> identity in this one."""


class Absences:
    """Answers for one trace what became of the foci of the other trace's rewrites."""

    def __init__(self, trace: Trace, counterpart: Counterpart, names: Mapping[int, str]) -> None:
        """Take the trace that lacks rewrites, who is who, and the last names of its nodes."""
        self._trace = trace
        self._counterpart = counterpart
        self._names = names
        self._attempts: dict[int, dict[int, list[Attempt]]] = {}

    def of(self, rewrite: Rewrite, run: PassRun | None, path: str) -> Absence:
        """Why there is no counterpart of a rewrite.

        Args:
            rewrite: The other trace's rewrite.
            run: The pass run that could have made it; None where the pass did not run.
            path: The rewrite's graph, as this trace names it.
        """
        if run is None:
            return Absence("no_pass")
        node = None if rewrite.focus is None else self._counterpart(rewrite.focus)
        if node is None:
            return Absence("not_looked_at" if rewrite.focus is None else "no_node", run.id)
        attempts = self._on(run.id).get(node, [])
        for outcome, reason in _PRECEDENCE:
            found = [each for each in attempts if each.outcome == outcome]
            if found:
                numbers = tuple(each.id for each in found)
                return Absence(reason, run.id, node, found[-1].name, found[-1].path, numbers)
        return Absence("not_looked_at", run.id, node, self._names.get(node, ""), path)

    def _on(self, run: int) -> dict[int, list[Attempt]]:
        if run not in self._attempts:
            found: dict[int, list[Attempt]] = defaultdict(list)
            for each in self._trace.attempts(run):
                if each.focus is not None:
                    found[each.focus].append(each)
            self._attempts[run] = dict(found)
        return self._attempts[run]
