"""Which pass run of one trace is which pass run of the other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from qdqviz.trace.compare.sequences import add_between, add_moved, align
from qdqviz.trace.model import PassRun
from qdqviz.trace.reader import Trace


@dataclass(frozen=True, slots=True)
class AlignedRuns:
    """Two pass runs that are the same pass in the same place, or one that has no counterpart."""

    left: PassRun | None
    """The left one."""
    right: PassRun | None
    """The right one."""
    moved: bool = False
    """Whether they come in another order."""


def align_runs(left: Trace, right: Trace, subjects: Mapping[int, int]) -> list[AlignedRuns]:
    """The pass runs in the left trace's order, those of the right trace alone where they ran.

    By name (with the passes that called them) and program, in the same order first, then in any; passes of
    other names between the same neighbours, as many as there, are taken for renamed ones.

    Args:
        left: The left trace.
        right: The right trace.
        subjects: Left subject -> right subject.
    """
    ones, others = _edited(left), _edited(right)
    mine = [(_name(left, run), subjects.get(run.subject, f"left {run.subject}")) for run in ones]
    theirs: list[Hashable] = [(_name(right, run), run.subject) for run in others]
    found = align(mine, theirs)
    moved = add_moved(found, mine, theirs)
    in_place = {one: other for one, other in found.items() if one not in moved}

    def fits(one: int, other: int) -> bool:
        return (
            subjects.get(ones[one].subject) == others[other].subject and ones[one].kind == others[other].kind
        )

    add_between(in_place, len(ones), len(others), lambda a, b: a not in moved and fits(a, b))
    taken = {found[one] for one in moved}
    found |= {one: other for one, other in in_place.items() if other not in taken}
    return _in_order(ones, others, found, moved)


def _edited(trace: Trace) -> list[PassRun]:
    """The pass runs that count: managers only if they rewrote something themselves."""
    own = {header.run for header in trace.headers}
    return [run for run in trace.runs if run.kind != "manager" or run.id in own]


def _name(trace: Trace, run: PassRun) -> str:
    """The name of a pass run, below those that called it."""
    names = [run.name]
    while run.parent is not None:
        run = trace.runs[run.parent]
        if run.kind == "pass":
            names.append(run.name)
    return "/".join(reversed(names))


def _in_order(
    ones: list[PassRun], others: list[PassRun], found: dict[int, int], moved: set[int]
) -> list[AlignedRuns]:
    taken = set(found.values())
    result: list[AlignedRuns] = []
    there = 0
    for one, run in enumerate(ones):
        other = found.get(one)
        if other is not None and one not in moved:
            result += [AlignedRuns(None, others[i]) for i in range(there, other) if i not in taken]
            there = max(there, other + 1)
        result.append(AlignedRuns(run, None if other is None else others[other], one in moved))
    result += [AlignedRuns(None, others[i]) for i in range(there, len(others)) if i not in taken]
    return result
