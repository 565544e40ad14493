"""Did a node move past others along the data flow? Found by walking up from it, not over the whole graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import Role, role

FARTHEST = 400
"""Nodes that a walk looks at before it gives up: what moves, moves a few nodes."""

_FIXED = (Role.CONSTANT, Role.INPUT, Role.OUTPUT)
"""Roles that nothing is said to move past."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Nodes that now stand on the other side of a node that moved."""

    direction: Literal["above", "below"]
    """`above`: the node was computed from them, and now they are computed from it."""
    crossed: tuple[int, ...]
    """Identities, after the rewrite, of the nodes that it moved past; nearest to its old place first."""


def crossing(
    before: Body,
    after: Body,
    old: Sequence[NodeState],
    new: Sequence[NodeState],
    same_as: Mapping[int, int],
) -> Crossing | None:
    """What a node moved past.

    Args:
        before: The graph before the rewrite.
        after: The graph after it.
        old: The node that moved, as it was; several where equal ones were merged.
        new: The node as it is, perhaps under a new identity; several where it was copied.
        same_as: New identity -> old identity of the nodes that were created anew in place of an equal one.

    Returns:
        What was crossed, or None if it stands where it stood.
    """
    renewed = {then: now for now, then in same_as.items()}
    was, now = [node.id for node in old], [node.id for node in new]
    sources_before = walk_up(before, was)
    sources_after = walk_up(after, now)
    left = walk_up(before, was, {same_as.get(each, each) for each in sources_after})
    above = [renewed.get(each, each) for each in left]
    above = [each for each in above if _passable(after, each) and _is_above(after, now, each)]
    if above:
        return Crossing("above", tuple(above))
    joined = walk_up(after, now, {renewed.get(each, each) for each in sources_before})
    below = [
        each
        for each in joined
        if _passable(before, same_as.get(each, each)) and _is_above(before, was, same_as.get(each, each))
    ]
    # Walking up from the new place meets the farthest from the old place first.
    return Crossing("below", tuple(reversed(below))) if below else None


def walk_up(body: Body, start: Collection[int], stop: Collection[int] = ()) -> dict[int, None]:
    """Nodes that those in `start` depend on, nearest first, at most `FARTHEST`; not past those in `stop`."""
    found: dict[int, None] = {}
    front = [each for node in start if node in body for each in body.inputs(node)]
    while front:
        following: list[int] = []
        for each in front:
            if each in found or each in stop:
                continue
            if len(found) >= FARTHEST:
                return found
            found[each] = None
            following.extend(body.inputs(each))
        front = following
    return found


def _is_above(body: Body, nodes: Collection[int], each: int) -> bool:
    """Whether one of `nodes` is computed before `each`, for it."""
    found = walk_up(body, [each])
    return any(node in found for node in nodes)


def _passable(body: Body, node: int) -> bool:
    found = body.get(node)
    return found is not None and role(found) not in _FIXED
