"""What differs between two graph states, whatever happened before."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.node import NodeState
from qdqviz.ir.values import Ref
from qdqviz.trace.compare.fields import field_differences
from qdqviz.trace.compare.matching import match
from qdqviz.trace.compare.model import Difference, GraphDifference
from qdqviz.trace.compare.replay import Edit
from qdqviz.trace.compare.signature import Leaf, TextOf
from qdqviz.trace.compare.subjects import align_paths


def graph_difference(
    left: GraphState,
    right: GraphState,
    known: Mapping[int, int],
    texts: tuple[TextOf, TextOf],
    *,
    metadata: bool = True,
) -> GraphDifference:
    """What differs between two states.

    Args:
        left: One state.
        right: The other.
        known: Who is who, as far as that is known; what the graphs say counts for more.
        texts: Give the long texts of the left and of the right trace.
        metadata: Whether metadata counts.
    """
    paths = align_paths(left, right)
    differences: list[Difference] = []
    reordered: list[tuple[NodeState, NodeState]] = []
    for path in left.paths():
        there = paths.get(path)
        mine = left.body(path).in_order()
        theirs = () if there is None else right.body(there).in_order()
        found = match(mine, theirs, known)
        differences += _between(path, mine, theirs, found, texts)
        reordered += _reordered(mine, right.body(there) if there is not None else Body(), found)
    for path in [each for each in right.paths() if each not in paths.values()]:
        differences += [Difference("created", path, None, node) for node in right.body(path).in_order()]
    counted = tuple(each for each in differences if metadata or not each.is_metadata)
    return GraphDifference(counted, tuple(reordered))


def _between(
    path: str,
    left: Sequence[NodeState],
    right: Sequence[NodeState],
    found: Mapping[int, int],
    texts: tuple[TextOf, TextOf],
) -> Iterator[Difference]:
    theirs = {node.id: node for node in right}
    for node in left:
        other = found.get(node.id)
        if other is None:
            yield Difference("erased", path, node, None)
            continue
        yield from field_differences(
            Edit(path, None, node),
            Edit(path, None, theirs[other]),
            lambda one, two: _same(one, two, found),
            texts,
        )
    taken = set(found.values())
    for node in right:
        if node.id not in taken:
            yield Difference("created", path, None, node)


def _same(left: Leaf, right: Leaf, found: Mapping[int, int]) -> bool:
    if type(left) is Ref and type(right) is Ref:
        return found.get(left.node) == right.node
    return left == right


def _reordered(
    left: Sequence[NodeState], right: Body, found: Mapping[int, int]
) -> Iterator[tuple[NodeState, NodeState]]:
    """Paired nodes outside of a longest sequence that stands in the same order on both sides."""
    position = {node.id: index for index, node in enumerate(right.in_order())}
    paired = [node for node in left if node.id in found]
    kept = set(longest_increasing([position[found[node.id]] for node in paired]))
    for index, node in enumerate(paired):
        if index not in kept:
            yield node, right[found[node.id]]


def longest_increasing(values: Sequence[int]) -> list[int]:
    """Indices of a longest increasing subsequence, in O(n log n) (patience sorting)."""
    ends: list[int] = []
    indices: list[int] = []
    before: list[int] = []
    for index, value in enumerate(values):
        at = bisect_left(ends, value)
        ends[at : at + 1] = [value]
        indices[at : at + 1] = [index]
        before.append(indices[at - 1] if at else -1)
    found: list[int] = []
    index = indices[-1] if indices else -1
    while index >= 0:
        found.append(index)
        index = before[index]
    return found
