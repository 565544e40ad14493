"""What a check says: a verdict for every rewrite and for every pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["equal", "differs", "fails", "not_checkable"]
"""`equal`: the same values on these inputs. `differs`: other values. `fails`: the graph no longer runs.
`not_checkable`: something could not be computed here."""

Kind = Literal["quantization_step", "saturates", "shape_dtype", "wrong"]
"""How values differ: by at most one quantization step; because they are clamped (or no longer are); in shape
or dtype; in any other way."""

SEVERITY: dict[Verdict, int] = {"equal": 0, "not_checkable": 1, "differs": 2, "fails": 3}
"""Verdicts from best to worst."""

KIND_SEVERITY: dict[Kind | None, int] = {
    None: 0,
    "quantization_step": 1,
    "saturates": 2,
    "wrong": 3,
    "shape_dtype": 4,
}
"""Kinds from mildest to worst."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found about one place, one rewrite or one pass."""

    verdict: Verdict
    """The verdict."""
    kind: Kind | None = None
    """How values differ; for `fails` shape_dtype where the error is about shapes or dtypes, else None."""
    max_abs: float | None = None
    """Largest absolute difference that was seen, also a tolerated one; None where nothing was compared."""
    steps: float | None = None
    """The same in quantization steps of the value concerned; None where it has none."""
    sqnr: float | None = None
    """Signal to quantization noise ratio in dB: old values against the difference; None if infinite."""
    where: str = ""
    """The value concerned and the index of its largest difference."""
    detail: str = ""
    """One sentence."""

    @property
    def rank(self) -> tuple[int, int, float]:
        """Sorts from best to worst; by steps where there are any."""
        size = self.max_abs if self.steps is None else self.steps
        return (SEVERITY[self.verdict], KIND_SEVERITY[self.kind], size or 0.0)


@dataclass(frozen=True, slots=True)
class RewriteCheck:
    """One rewrite, judged by itself."""

    step: int
    """Its step."""
    run: int
    """Pass run that made it."""
    name: str
    """Label of the pass run: the pass's name, with its number when repeated."""
    focus: str
    """Node that the pass looked at, or the call that made it."""
    path: str
    """Graph of the focus; empty for the outermost."""
    judgement: Judgement
    """What was found."""


@dataclass(frozen=True, slots=True)
class PassCheck:
    """A run of the whole graph after a pass, against the one before it."""

    run: int
    """The pass run."""
    name: str
    """Its label."""
    step: int
    """Its last step: the state that was run."""
    judgement: Judgement
    """What became of the outputs."""
    since_start: Judgement
    """What has become of the outputs since the first state."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Everything that a check found."""

    verdict: Verdict
    """The worst verdict of all rewrites and passes; `equal` where nothing was rewritten."""
    rewrites: tuple[RewriteCheck, ...]
    """All rewrites, the worst first, equals by step."""
    passes: tuple[PassCheck, ...]
    """The passes that rewrote something, in running order."""
    inputs: tuple[str, ...]
    """What the graphs were run on, one line for each set."""
    seconds: float
    """Wall time of the check, without loading and without the passes."""

    @property
    def in_order(self) -> tuple[RewriteCheck, ...]:
        """All rewrites by step."""
        return tuple(sorted(self.rewrites, key=lambda each: each.step))


def worst(judgements: Iterable[Judgement]) -> Judgement:
    """The worst of several judgements; `equal` if there are none. Figures of equal ones are kept."""
    return max(judgements, key=lambda each: each.rank, default=Judgement("equal"))
