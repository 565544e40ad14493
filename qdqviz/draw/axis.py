"""The axis of a picture of live ranges: one column order for the steps before and after a rewrite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdqviz.ir.graph import Body


@dataclass(frozen=True)
class Axis:
    """Places for the steps of two states, in one order.

    A node that is in both states at the same place in the order has one place, so that what did not move
    stays in its column.
    """

    before: tuple[int, ...]
    """Step before -> place."""
    after: tuple[int, ...]
    """Step after -> place."""
    length: int
    """Number of places."""


def merged_axis(before: Body | None, after: Body | None) -> Axis:
    """The axis for two states of a body; either may be missing."""
    keys = [_keys(body) for body in (before, after)]
    # Two increasing runs one behind the other: what Python's sort merges in linear time.
    place = {key: index for index, key in enumerate(sorted(dict.fromkeys((*keys[0], *keys[1]))))}
    first, last = (tuple(place[key] for key in found) for found in keys)
    return Axis(first, last, len(place))


def _keys(body: Body | None) -> Sequence[tuple[bytes, int]]:
    return [] if body is None else [(node.order, node.id) for node in body.in_order()]
