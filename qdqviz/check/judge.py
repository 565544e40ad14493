"""Judges one rewrite in one graph: runs what is new, and compares where the new meets the old."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import Any

from qdqviz.check.aftermath import Aftermath
from qdqviz.check.control import is_graph
from qdqviz.check.difference import difference
from qdqviz.check.findings import (
    Boundary,
    Comparer,
    of_difference,
    of_failure,
    of_lacking,
    of_missing,
    unchanged,
)
from qdqviz.check.operations import Missing
from qdqviz.check.region import order_faults, replaced_inputs
from qdqviz.check.report import Judgement, worst
from qdqviz.check.sides import Sides
from qdqviz.ir.node import NodeState, OpInfo
from qdqviz.ir.values import refs

NameOutput = Callable[[int], str]
"""What an output of the graph is called, by position."""


class Judge:
    """Judges one rewrite in one graph of one world, and brings the world to the state after it."""

    def __init__(self, sides: Sides, step: int, ops: Mapping[str, OpInfo], name_output: NameOutput) -> None:
        self._sides = sides
        self._region = sides.region
        self._step = step
        self._name_output = name_output
        self._compare = Comparer(sides, ops)
        self._queue: list[tuple[bytes, int]] = []
        self._changed: set[int] = set()
        self._found: list[tuple[Boundary | None, Judgement]] = []
        self.users: dict[int, Any] = {}
        """Unchanged users that get another value, with the value that they used to make of it."""

    def judge(self) -> Judgement:
        """The verdict; the world's values are those of the new graph afterwards."""
        self._check_order()
        self._check_inputs()
        self._go_through()
        told = [
            each if edge is None else self._compare.at_entry(edge, each, self._changed)
            for edge, each in self._found
        ]
        for edge, each in self._found:
            if edge is not None and each.verdict != "equal":
                self.users[edge.user] = self._sides.then(edge.user)
        Aftermath(self._sides, self._found, self._changed, self._step).settle()
        return worst(told)

    # -- what is wrong without running anything ----------------------------------------------------

    def _check_order(self) -> None:
        after = self._sides.after
        for user, used in order_faults(after, self._region.dirty | self._region.moved):
            self._fault("fails", user.name, f"{user.name} uses {used.name} before it is computed")
        for node in self._region.erased:
            for each in after.users(node):
                name = after[each].name
                self._fault("fails", name, f"{name} uses {self._sides.before[node].name}, which is gone")

    def _check_inputs(self) -> None:
        for node in self._region.erased & self._sides.world.inputs.keys():
            name = self._sides.before[node].name
            self._fault("differs", name, f"the input {name} is gone")

    def _fault(self, verdict: Any, where: str, detail: str) -> None:
        kind: Any = "shape_dtype" if verdict == "differs" else None
        self._found.append((None, Judgement(verdict, kind, where=where, detail=detail)))

    # -- going through the new nodes ---------------------------------------------------------------

    def _go_through(self) -> None:
        after = self._sides.after
        self._queue = [(after[node].order, node) for node in self._region.dirty]
        heapq.heapify(self._queue)
        while self._queue:
            _, node = heapq.heappop(self._queue)
            if node not in self._sides.new:
                self._look_at(after[node])

    def _look_at(self, node: NodeState) -> None:
        if node.op == "output":
            self._compare_outputs(node)
            return
        if node.id in self._region.rewired and self._same_inputs(node):
            return
        value = self._sides.new[node.id] = self._sides.run_now(node)
        if isinstance(value, Missing) and value.node == node.name:
            self._found.append((None, self._of_broken(node, value)))
        if node.id in self._region.inserted or unchanged(self._sides.then(node.id), value):
            return
        self._changed.add(node.id)
        for user in self._sides.after.users(node.id):
            self._hand_on(node, value, self._sides.after[user])

    def _hand_on(self, node: NodeState, value: Any, user: NodeState) -> None:
        """A kept node gives another value: its user is gone through as well, or the difference ends here."""
        if user.id in self._region.dirty:
            return
        if user.op != "output" and (is_graph(value) or user.id in self._sides.interior):
            heapq.heappush(self._queue, (user.order, user.id))
            return
        what = f"{node.name} into {user.name}"
        if user.op == "output":
            what = self._name_output(next(at for at, ref in enumerate(refs(user.args)) if ref == node.id))
        self._meet(Boundary(user.id, node.id, node.id, what))

    def _same_inputs(self, node: NodeState) -> bool:
        """Whether a rewired node gets the values that it used to get, apart from rounding."""
        tolerated: list[Judgement] = []
        pairs = list(replaced_inputs(self._sides.before[node.id], node))
        pairs += [(-1, each, each) for each in node.input_ids() if each in self._changed]
        for _, old, new in pairs:
            was, now = self._sides.then(old), self._sides.now(new)
            if isinstance(was, Missing) or isinstance(now, Missing) or is_graph(now):
                return False
            found = difference(was, now)
            if found.kind is not None:
                return False
            name = self._sides.after[new].name
            tolerated.append(of_difference(found, f"{name} into {node.name}"))
        self._found.extend((None, each) for each in tolerated)
        return True

    def _of_broken(self, node: NodeState, missing: Missing) -> Judgement:
        """The judgement about a new or changed node that cannot be run itself."""
        if not missing.fails:
            return of_lacking(missing)
        if node.id in self._sides.before:
            was = self._sides.then(node.id)
            if isinstance(was, Missing):
                return of_missing(was, missing, node.name)
        return of_failure(missing)

    # -- where the new meets the old ---------------------------------------------------------------

    def _meet(self, edge: Boundary) -> None:
        self._found.append((edge, self._compare.boundary(edge)))

    def _compare_outputs(self, node: NodeState) -> None:
        old = self._sides.before.get(node.id)
        if old is None:
            return
        if node.id in self._region.rewired:
            replaced = {position: one for position, one, _ in replaced_inputs(old, node)}
            for position, new in enumerate(refs(node.args)):
                # A node between changed ones may give another value, though it is the same node.
                if position in replaced or new in self._changed:
                    one = replaced.get(position, new)
                    self._meet(Boundary(node.id, one, new, self._name_output(position)))
            return
        was, now = self._sides.run_then(old), self._sides.run_now(node)
        if isinstance(was, Missing) or isinstance(now, Missing):
            self._found.append((None, of_missing(was, now, "the outputs")))
            return
        self._found.append((None, of_difference(difference(was, now), "the outputs")))
