"""Which program of one trace is which program of the other."""

from __future__ import annotations

from collections.abc import Hashable

from qdqviz.ir.graph import GraphState
from qdqviz.trace.compare.matching import match
from qdqviz.trace.compare.pairs import Pairs
from qdqviz.trace.compare.sequences import add_between, align
from qdqviz.trace.model import Subject
from qdqviz.trace.reader import Trace


def align_subjects(left: Trace, right: Trace) -> dict[int, int]:
    """Left subject -> right subject: of equal first states and names first, then by what stands between."""
    mine, theirs = ([_kind(trace, each) for each in trace.subjects] for trace in (left, right))
    found = align(mine, theirs)
    for key in (_names, _dialects):
        _add(found, key(left), key(right))
    add_between(found, len(mine), len(theirs))
    return {left.subjects[one].id: right.subjects[other].id for one, other in found.items()}


def align_paths(left: GraphState, right: GraphState) -> dict[str, str]:
    """Path of a graph on the left -> its path on the right: by path, else by order of the paths."""
    same = {path: path for path in left.paths() if path in right.bodies}
    ones = [path for path in left.paths() if path not in same]
    others = [path for path in right.paths() if path not in same]
    return same | dict(zip(ones, others, strict=False))


def pair_nodes(left: GraphState, right: GraphState, pairs: Pairs) -> None:
    """Pair the nodes of two states, all graphs; what is known already is kept."""
    for path, other in align_paths(left, right).items():
        known = pairs.by_left
        pairs.add_all(match(left.body(path).in_order(), right.body(other).in_order(), known).items())


def _kind(trace: Trace, subject: Subject) -> Hashable:
    nodes = trace.first(subject.id).root.in_order()
    return (
        subject.name,
        subject.dialect,
        hash(tuple([(node.op, _target(node.op, node.target)) for node in nodes])),
    )


def _target(op: str, target: str) -> str:
    return target if op.startswith("call_") else ""


def _names(trace: Trace) -> list[Hashable]:
    return [(each.name, each.dialect) for each in trace.subjects]


def _dialects(trace: Trace) -> list[Hashable]:
    return [each.dialect for each in trace.subjects]


def _add(found: dict[int, int], left: list[Hashable], right: list[Hashable]) -> None:
    """Pair more items, of those that have no counterpart yet and stand in the same order."""
    ones = [index for index in range(len(left)) if index not in found]
    taken = set(found.values())
    others = [index for index in range(len(right)) if index not in taken]
    for one, other in align([left[i] for i in ones], [right[i] for i in others]).items():
        found[ones[one]] = others[other]
