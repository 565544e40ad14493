"""Brings a world to the state after a rewrite: new values, and expected ones where it went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qdqviz.check.difference import difference
from qdqviz.check.findings import Boundary, alike
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
        wrong = any(step == self._step for _, step in expected.values())
        world.forget_actual(None if wrong else self._sides.new)
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
            known = self._sides.then(edge.old)
            if not isinstance(known, Missing) and self._lets_down(edge, judgement):
                found[edge.new] = (known, self._blame(judgement))
        return found

    def _at_inputs(self, node: int) -> Expected:
        """New inputs of a rewired node that should be like the old ones and are not."""
        found: Expected = {}
        sides = self._sides
        blame = self._blame_for(node)
        for _, old, new in replaced_inputs(sides.before[node], sides.after[node]):
            was, now = sides.then(old), sides.now(new)
            if isinstance(was, Missing) or new not in sides.region.inserted:
                continue
            if isinstance(now, Missing):
                found[new] = (was, self._step)
            elif blame is not None and alike(was, now) and difference(was, now).kind is not None:
                found[new] = (was, blame)
        return found

    def _blame_for(self, node: int) -> int | None:
        """The step because of which unchanged users get another value from a node; None if they do not."""
        blamed = [
            self._blame(judgement)
            for edge, judgement in self._edges
            if edge.new == node and judgement.verdict != "not_checkable" and self._lets_down(edge, judgement)
        ]
        return max(blamed, default=None)

    def _lets_down(self, edge: Boundary, judgement: Judgement) -> bool:
        """Whether the user gets another value than it expects, through this rewrite or an earlier one."""
        if judgement.verdict != "equal":
            return True
        known, now = self._sides.then(edge.old), self._sides.now(edge.new)
        return isinstance(now, Missing) or difference(known, now).kind is not None

    def _blame(self, judgement: Judgement) -> int:
        tainted = self._sides.world.tainted
        return self._step if judgement.verdict != "equal" or not tainted else max(tainted.values())
