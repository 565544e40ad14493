"""What the comparing screen is opened with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qdqviz.trace.compare.model import Comparison

if TYPE_CHECKING:
    from qdqviz.check.report import Judgement

Judgements = Mapping[int, "Judgement"]
"""What checks found about rewrites, by step."""


@dataclass(frozen=True)
class Compared:
    """Two traces, compared."""

    comparison: Comparison
    """What differs."""
    sides: tuple[str, str]
    """What the sides are called: `old` and `new`, say."""
    names: tuple[str, str]
    """What they are: files, or the passes that were run."""
    title: str
    """What was compared: a target, or nothing more than the files."""
    judgements: tuple[Judgements, Judgements] = field(default=({}, {}))
    """The numerics of either side, as far as they are known."""
    checked: bool = False
    """Whether numerics were checked at all."""
