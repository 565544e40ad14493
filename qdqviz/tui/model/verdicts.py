"""What checks have found so far: a verdict for every rewrite and pass, and faults in metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from qdqviz.check.lint import Finding
    from qdqviz.check.report import Judgement, PassCheck, RewriteCheck

State: TypeAlias = Literal["unasked", "waiting", "running", "done", "failed"]
"""How far a check is."""

Badge: TypeAlias = "tuple[str, str]"
"""A sign of one column and the key of its style."""

PENDING: Badge = ("·", "muted")
"""Not checked yet."""

FAULT: Badge = ("!", "ui.warning")
"""The values are kept, or not known; the metadata has a fault."""

_BADGES: Mapping[str, Badge] = {
    "equal": ("✓", "ui.ok"),
    "not_checkable": ("?", "ui.warning"),
    "differs": ("≠", "ui.error"),
    "fails": ("✗", "ui.error"),
}

_ONE_STEP: Badge = ("≈", "ui.warning")
"""Differs by at most one quantization step."""

BADGE_TEXTS: Mapping[str, str] = {
    "✓": "the rewrite keeps all values",
    "≈": "values differ by one quantization step at most",
    "≠": "values differ",
    "✗": "the graph no longer runs",
    "?": "an op cannot run here, so nothing is known",
    "!": "the metadata has a fault",
}
"""What the signs mean."""


@dataclass(frozen=True)
class Verdicts:
    """Everything that is known."""

    has_program: bool = False
    """Whether there is a program to run; a trace alone has none."""
    state: State = "unasked"
    """How far the check of values is."""
    reason: str = ""
    """Why values cannot be checked; safe to show."""
    rewrites: Mapping[int, RewriteCheck] = field(default_factory=dict)
    """Rewrites by step."""
    passes: Mapping[int, PassCheck] = field(default_factory=dict)
    """Pass runs by number."""
    findings: Mapping[int | None, tuple[Finding, ...]] = field(default_factory=dict)
    """Faults in metadata by step; under None those that no rewrite brought in."""
    is_linted: bool = False
    """Whether metadata has been looked at."""
    worst_of_run: Mapping[int, Judgement] = field(default_factory=dict)
    """The worst judgement of each pass run, its rewrites and its outputs taken together."""

    def with_checks(self, found: Iterable[RewriteCheck | PassCheck]) -> Verdicts:
        """With what a check has found since."""
        from qdqviz.check.report import PassCheck

        rewrites, passes = dict(self.rewrites), dict(self.passes)
        for each in found:
            if isinstance(each, PassCheck):
                passes[each.run] = each
            else:
                rewrites[each.step] = each
        return replace(self, rewrites=rewrites, passes=passes, worst_of_run=_worst(rewrites, passes))

    def with_findings(self, found: Iterable[Finding]) -> Verdicts:
        """With the faults that were found."""
        by_step: dict[int | None, tuple[Finding, ...]] = {}
        for each in found:
            by_step[each.step] = (*by_step.get(each.step, ()), each)
        return replace(self, findings=by_step, is_linted=True)

    @property
    def has_badges(self) -> bool:
        """Whether rewrites get badges at all."""
        return self.has_program or any(step is not None for step in self.findings)

    def badge(self, step: int) -> Badge | None:
        """The badge of a rewrite."""
        check = self.rewrites.get(step)
        fault = FAULT if step in self.findings else None
        if check is None:
            return fault or (PENDING if self.state in ("waiting", "running") else None)
        return fault if fault and check.judgement.verdict == "equal" else badge_of(check.judgement)

    def run_badge(self, run: int) -> Badge | None:
        """The badge of a pass run: its worst."""
        worst = self.worst_of_run.get(run)
        return None if worst is None else badge_of(worst)

    def in_order(self) -> list[RewriteCheck]:
        """The rewrites that are not equal, the worst first."""
        bad = [each for each in self.rewrites.values() if each.judgement.verdict != "equal"]
        return sorted(bad, key=lambda each: (*(-part for part in each.judgement.rank), each.step))


def badge_of(judgement: Judgement) -> Badge:
    """The badge of a judgement."""
    return _ONE_STEP if judgement.kind == "quantization_step" else _BADGES[judgement.verdict]


def _worst(rewrites: Mapping[int, RewriteCheck], passes: Mapping[int, PassCheck]) -> dict[int, Judgement]:
    worst: dict[int, Judgement] = {}
    judged = [(each.run, each.judgement) for each in rewrites.values()]
    judged += [(each.run, each.judgement) for each in passes.values()]
    for run, judgement in judged:
        if run not in worst or judgement.rank > worst[run].rank:
            worst[run] = judgement
    return worst
