"""Brings a world to the state after a rewrite: new values, and expected ones where it went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qdqviz.check.difference import difference
from qdqviz.check.findings import Boundary, alike, unchanged
from qdqviz.check.operations import Missing
from qdqviz.check.region import replaced_inputs
from qdqviz.check.report import Judgement
from qdqviz.check.sides import Sides

Expected = dict[int, tuple[Any, int]]
"""Value that the users of a node expect, and the step because of which the node gives another."""


class Aftermath:
    """What becomes of a world's values after a rewrite.

    New nodes have the values that they compute. Where users were let down, the nodes that let them down
    get the values that the users expect: so each later rewrite is judged on sound values.
    """

    def __init__(
        self,
        sides: Sides,
        found: Sequence[tuple[Boundary | None, Judgement]],
        changed: set[int],
        step: int,
    ) -> None:
        self._sides = sides
        self._edges = [(edge, judgement) for edge, judgement in found if edge is not None]
        self._changed = changed
        self._step = step

    def settle(self) -> None:
        """Change the world's values."""
        world, region = self._sides.world, self._sides.region
        expected = self._at_boundaries()
        for node in region.rewired:
            expected.update(self._at_inputs(node))
        for node, value in self._sides.new.items():
            if node not in expected:
                world.keep(node, value)
        for node, (value, step) in expected.items():
            world.expect(node, value, step)
        for node in region.erased:
            world.forget(node)

    def _at_boundaries(self) -> Expected:
        found: Expected = {}
        for edge, judgement in self._edges:
            known = self._sides.expected(edge.old)
            if isinstance(known, Missing):
                continue
            if judgement.verdict != "equal":
                found[edge.new] = (known, self._step)
            elif not unchanged(known, self._sides.then(edge.old)):
                found[edge.new] = (known, self._earlier())
        return found

    def _at_inputs(self, node: int) -> Expected:
        """New inputs of a rewired node that should be like the old ones and are not."""
        found: Expected = {}
        sides = self._sides
        for _, old, new in replaced_inputs(sides.before[node], sides.after[node]):
            was, now = sides.expected(old), sides.now(new)
            if isinstance(was, Missing) or new not in sides.region.inserted:
                continue
            if isinstance(now, Missing):
                found[new] = (was, self._step)
            elif not alike(was, now):
                continue
            elif not unchanged(was, sides.then(old)):
                found[new] = (was, self._earlier())
            elif self._is_at_fault(node) and difference(was, now).kind is not None:
                found[new] = (was, self._step)
        return found

    def _is_at_fault(self, node: int) -> bool:
        """Whether an unchanged user got another value from this node."""
        return any(
            edge.new == node and judgement.verdict in ("differs", "fails") for edge, judgement in self._edges
        )

    def _earlier(self) -> int:
        """The earlier step that is to blame for old values that are not what they should be."""
        tainted = self._sides.world.tainted
        inside = (self._sides.region.old | self._sides.interior) & tainted.keys()
        return max((tainted[node] for node in inside), default=self._step)
