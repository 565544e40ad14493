"""Looks at what every rewrite does to metadata and structure, without running the graph."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdqviz.check.region import region_of
from qdqviz.check.rules.channels import ChannelAxis
from qdqviz.check.rules.metadata import CopiedHandle, LostMetadata, SharedMetadata, bare_quantization
from qdqviz.check.rules.order import UseBeforeDefinition, UseOfErased
from qdqviz.check.rules.rule import Rule, Suspicion, Touched
from qdqviz.errors import UsageError
from qdqviz.ir.graph import Body, GraphState
from qdqviz.trace.reader import Trace

if TYPE_CHECKING:
    from qdqviz.live.store import Store

STATE_RULES = ("bare-quantization",)
"""Rules about the last state, not about a rewrite."""

VALUE_RULES = ("stale-val", "lost-val")
"""Rules that need torch and the session's call targets."""


def rules() -> tuple[Rule, ...]:
    """The rules about rewrites."""
    return (
        UseBeforeDefinition(),
        UseOfErased(),
        SharedMetadata(),
        LostMetadata(),
        CopiedHandle(),
        ChannelAxis(),
    )


def rule_names() -> tuple[str, ...]:
    """Names of all rules, by which they are turned off."""
    return (*(name for rule in rules() for name in rule.names), *VALUE_RULES, *STATE_RULES)


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault."""

    rule: str
    """Name of the rule."""
    step: int | None
    """The rewrite that brought it in; None for what the passes left as it was."""
    name: str
    """Label of the pass run; empty where it was no rewrite."""
    path: str
    """Graph of the node."""
    node: str
    """The node's name when the pass ended."""
    found: str
    """What is."""
    wanted: str
    """What should be."""


@dataclass(frozen=True, slots=True)
class LintReport:
    """All faults that a lint found."""

    findings: tuple[Finding, ...]
    """By step; what is no rewrite's last."""
    skipped: tuple[str, ...]
    """Rules that could not be applied."""


def lint(trace: Trace, store: Store | None = None, off: Collection[str] = ()) -> LintReport:
    """Find faults in metadata and structure, each at the rewrite that brought it in.

    A rewrite is not blamed for what its own pass puts right before it ends, such as values that a last
    retrace refreshes.

    Args:
        trace: The trace.
        store: What the session of the trace holds; without it the rules about `val` are skipped.
        off: Rules to leave out.

    Raises:
        UsageError: There is no rule of a name in `off`.
    """
    unknown = sorted(set(off) - set(rule_names()))
    if unknown:
        raise UsageError(f"no lint rule is named {unknown[0]!r}: there are {', '.join(rule_names())}")
    found = [each for subject in trace.subjects for each in _Linter(trace, subject.id, store).findings()]
    kept = [each for each in found if each.rule not in off]
    kept.sort(key=lambda each: (each.step is None, each.step or 0))
    return LintReport(tuple(kept), () if store is not None else VALUE_RULES)


class _Linter:
    """Goes through the rewrites of one subject."""

    def __init__(self, trace: Trace, subject: int, store: Store | None) -> None:
        self._trace = trace
        self._cursor = trace.cursor(subject)
        self._rules = rules()
        self._store = store

    def findings(self) -> Iterator[Finding]:
        pending: dict[tuple[str, str, int], tuple[int, Rule, Suspicion]] = {}
        touched: dict[tuple[str, int], int] = {}
        steps = list(self._cursor.steps)
        for index, step in enumerate(steps):
            for each in self._touched(step):
                for node in each.region.dirty:
                    touched[each.path, node] = step
                for rule in self._rules:
                    for suspicion in rule.suspect(each):
                        pending.setdefault(
                            (each.path, suspicion.rule, suspicion.node), (step, rule, suspicion)
                        )
            run = self._trace.headers[step - 1].run
            last = index + 1 == len(steps) or self._trace.headers[steps[index + 1] - 1].run != run
            if last:
                yield from self._standing(self._cursor.at(step), pending, touched)
                pending, touched = {}, {}
        yield from self._in_last_state(self._cursor.final())

    def _touched(self, step: int) -> Iterator[Touched]:
        rewrite = self._trace.rewrite(step)
        before, after = self._cursor.before(step), self._cursor.after(step)
        for path in dict.fromkeys(change.path for change in rewrite.changes):
            old, new = before.bodies.get(path) or Body(), after.bodies.get(path) or Body()
            region = region_of(rewrite.changes, path, old, new)
            yield Touched(rewrite, path, old, new, region, self._trace.ops)

    def _standing(
        self,
        state: GraphState,
        pending: dict[tuple[str, str, int], tuple[int, Rule, Suspicion]],
        touched: dict[tuple[str, int], int],
    ) -> Iterator[Finding]:
        for (path, _, node), (step, rule, suspicion) in pending.items():
            body = state.bodies.get(path)
            if body is not None and node in body and rule.stands(suspicion, body):
                yield self._finding(step, path, body, suspicion)
        if self._store is not None:
            yield from self._stale(state, touched, self._store)

    def _stale(
        self, state: GraphState, touched: dict[tuple[str, int], int], store: Store
    ) -> Iterator[Finding]:
        from qdqviz.check.rules.stale import StaleValues

        for path in dict.fromkeys(path for path, _ in touched):
            body = state.bodies.get(path)
            if body is None:
                continue
            nodes = [node for where, node in touched if where == path]
            latest = max(touched[path, node] for node in nodes)
            for suspicion in StaleValues(store).suspect(body, nodes):
                step = touched.get((path, suspicion.node), latest)
                yield self._finding(step, path, body, suspicion)

    def _in_last_state(self, state: GraphState) -> Iterator[Finding]:
        for path in state.paths():
            for suspicion in bare_quantization(state.body(path)):
                yield self._finding(None, path, state.body(path), suspicion)

    def _finding(self, step: int | None, path: str, body: Body, suspicion: Suspicion) -> Finding:
        label = "" if step is None else self._trace.runs[self._trace.headers[step - 1].run].label
        name = body[suspicion.node].name
        return Finding(suspicion.rule, step, label, path, name, suspicion.found, suspicion.wanted)


def count_by_rule(findings: Sequence[Finding]) -> dict[str, int]:
    """How often each rule found something."""
    counts: dict[str, int] = {}
    for each in findings:
        counts[each.rule] = counts.get(each.rule, 0) + 1
    return counts
