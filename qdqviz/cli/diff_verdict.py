"""Whether a diff holds what was not to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdqviz.check.report import Judgement
    from qdqviz.cli.diff_sides import Diff, Side

FAIL_ON = ("rewrites", "graph", "numerics", "metadata")
"""What `--fail-on` takes."""


def reasons(diff: Diff, fail_on: Sequence[str], tolerated: Sequence[str] = ()) -> list[str]:
    """What of `fail_on` a diff holds, and `error` where a pass raised.

    Args:
        diff: A diff.
        fail_on: From `FAIL_ON`: other rewrites or passes in another order; other final graphs; a rewrite or
            outputs that are judged worse on the new side; other metadata.
        tolerated: Kinds of numeric difference that are all right.
    """
    found = [each for each in FAIL_ON if each in fail_on and _holds(diff, each, tolerated)]
    return [*(["error"] if diff.left.error or diff.right.error else []), *found]


def _holds(diff: Diff, what: str, tolerated: Sequence[str]) -> bool:
    comparison = diff.comparison
    match what:
        case "rewrites":
            return not comparison.same_rewrites
        case "graph":
            return not comparison.same_graphs
        case "metadata":
            return bool(comparison.metadata) or not all(each.final.identical for each in comparison.subjects)
    return any(True for _ in worse(diff, tolerated))


def worse(diff: Diff, tolerated: Sequence[str] = ()) -> Iterator[Judgement]:
    """What is judged worse on the new side than on the old one: rewrites, then the outputs."""
    for pair in diff.comparison.rewrites:
        yield from _worse(diff.left.judgement(pair.left), diff.right.judgement(pair.right), tolerated)
    yield from _worse(_outputs(diff.left), _outputs(diff.right), tolerated)


def _outputs(side: Side) -> Judgement | None:
    return side.outputs


def _worse(old: Judgement | None, new: Judgement | None, tolerated: Sequence[str]) -> Iterator[Judgement]:
    """The new judgement, if it is a bad one and worse than the old; what was not there was equal."""
    if new is None or new.verdict not in ("differs", "fails"):
        return
    if new.verdict == "differs" and new.kind in tolerated:
        return
    if old is None or new.rank[:2] > old.rank[:2]:
        yield new
