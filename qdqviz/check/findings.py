"""Comparisons between the sides of a rewrite, and the judgements that they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from qdqviz.check.difference import SAME, Difference, difference
from qdqviz.check.grids import grid_of
from qdqviz.check.operations import Missing
from qdqviz.check.region import replaced_inputs
from qdqviz.check.report import Judgement, worst
from qdqviz.check.sides import Sides
from qdqviz.ir.node import NodeState, OpInfo


@dataclass(frozen=True)
class Boundary:
    """A value that an unchanged user gets, before and after."""

    user: int
    """The user."""
    old: int
    """The node that it used to get it from."""
    new: int
    """The node that it gets it from now."""
    what: str
    """The value's name for people."""


class Comparer:
    """Compares values of the two sides."""

    def __init__(self, sides: Sides, ops: Mapping[str, OpInfo]) -> None:
        self._sides = sides
        self._ops = ops

    def boundary(self, edge: Boundary) -> Judgement:
        """What an unchanged user thinks of the value that it gets now."""
        judgement = self._on_sound_values(edge)
        tainted = self._sides.world.tainted
        if judgement.verdict not in ("differs", "fails") or not self._sides.may_inherit(edge.old, edge.new):
            return judgement
        was, now = self._sides.actually_then(edge.old), self._sides.actually_now(edge.new)
        if isinstance(was, Missing) or isinstance(now, Missing):
            return of_missing(was, now, edge.what)
        if difference(was, now).kind is not None:
            return judgement
        detail = f"it passes on what step {max(tainted.values())} or an earlier one made wrong"
        return Judgement("equal", where=edge.what, detail=detail)

    def _on_sound_values(self, edge: Boundary) -> Judgement:
        was, now = self._sides.then(edge.old), self._sides.now(edge.new)
        if isinstance(was, Missing) or isinstance(now, Missing):
            return of_missing(was, now, edge.what)
        found = self.apart(edge.old, edge.new, was, now, edge.user)
        judgement = of_difference(found, edge.what)
        if found.kind == "shape_dtype":
            return self._with_user(self._sides.after[edge.user], judgement)
        return judgement

    def apart(self, old: int, new: int, was: Any, now: Any, user: int) -> Difference:
        """The difference of two nodes' values, in the quantization steps that count for their user."""
        found = difference(was, now)
        if found.kind is None:
            return found
        sides = self._sides
        grid = grid_of(sides.before, old, self._ops, sides.then, user)
        return difference(was, now, grid, grid_of(sides.after, new, self._ops, sides.now, user))

    def _with_user(self, user: NodeState, judgement: Judgement) -> Judgement:
        """A difference in shape or dtype is a failure where the user cannot take it."""
        if user.op == "output":
            return judgement
        value = self._sides.run_now(user)
        fails = isinstance(value, Missing) and value.node == user.name and value.fails
        return of_failure(value) if fails else judgement

    def at_entry(self, edge: Boundary, judgement: Judgement, changed: set[int]) -> Judgement:
        """The judgement with the figures of the input by which a kept node came to give another value.

        Where that node and its users are kept, what counts is the value that the rewrite put in the place of
        another, and not what the node makes of it.

        Args:
            edge: Where the difference was seen.
            judgement: The difference there.
            changed: Nodes that both graphs have and that give another value now.
        """
        if edge.old != edge.new or judgement.verdict != "differs":
            return judgement
        entries = self._entries(edge.new, changed)
        if not entries:
            return judgement
        found = worst(entries)
        effect = f"so does {edge.what}, by up to {judgement.max_abs:.3g}"
        return replace(found, detail=f"{found.detail}; {effect}" if found.detail else effect)

    def _entries(self, node: int, changed: set[int]) -> list[Judgement]:
        """Differences of the nearest inputs upstream of a node that were replaced by their like."""
        found: list[Judgement] = []
        stack, seen = [node], {node}
        while stack:
            state = self._sides.after[stack.pop()]
            own = self._replaced(state) if state.id in self._sides.region.rewired else []
            found += own
            if not own:
                inputs = [each for each in self._sides.after.inputs(state.id) if each in changed - seen]
                stack.extend(inputs)
                seen.update(inputs)
        return found

    def _replaced(self, node: NodeState) -> list[Judgement]:
        """Differences of the inputs of a rewired node that were replaced by ones of the same kind."""
        found = []
        for _, old, new in replaced_inputs(self._sides.before[node.id], node):
            was, now = self._sides.then(old), self._sides.now(new)
            if alike(was, now):
                name = self._sides.after[new].name if new in self._sides.after else str(new)
                apart = self.apart(old, new, was, now, node.id)
                found.append(of_difference(apart, f"{name} into {node.name}"))
        return [each for each in found if each.verdict != "equal"]


def alike(old: Any, new: Any) -> bool:
    """Whether two values are tensors of the same shape and dtype."""
    if (
        isinstance(old, Missing)
        or isinstance(new, Missing)
        or not hasattr(old, "shape")
        or not hasattr(new, "shape")
    ):
        return False
    return bool(old.shape == new.shape and old.dtype == new.dtype)


def unchanged(old: Any, new: Any) -> bool:
    """Whether two values are the same to the last bit."""
    if isinstance(old, Missing) or isinstance(new, Missing):
        return old is new
    return difference(old, new) is SAME


def of_difference(found: Difference, what: str) -> Judgement:
    """The judgement about a value that was compared."""
    where = f"{what}{found.place and ' at ' + found.place}"
    verdict: Any = "equal" if found.kind is None else "differs"
    return Judgement(verdict, found.kind, found.max_abs, found.steps, found.sqnr, where, found.detail)


def of_failure(missing: Missing) -> Judgement:
    """The judgement about an op that raised."""
    kind: Any = "shape_dtype" if missing.about_shapes else None
    return Judgement("fails", kind, where=missing.node, detail=_told(missing))


def of_lacking(missing: Missing) -> Judgement:
    """The judgement about an op that cannot be run here."""
    detail = f"{missing.op or missing.node} cannot run here: {missing.reason}"
    return Judgement("not_checkable", where=missing.node, detail=detail)


def of_missing(was: Any, now: Any, what: str) -> Judgement:
    """The judgement about values of which at least one is missing."""
    lacking = [each for each in (now, was) if isinstance(each, Missing) and not each.fails]
    if lacking:
        return of_lacking(lacking[0])
    if isinstance(was, Missing):
        return Judgement("not_checkable", where=what, detail=f"{was.node} failed before: {was.reason}")
    return of_failure(now)


def _told(missing: Missing) -> str:
    return f"{missing.op} raises: {missing.reason}" if missing.op else missing.reason
