"""The values on either side of a rewrite: what nodes gave before it, and what they give after it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from qdqviz.check.region import Region
from qdqviz.check.values import ABSENT, evaluate
from qdqviz.check.world import World
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.node import NodeState

FARTHEST = 256
"""Nodes that are looked at for where a value comes from before it is run again to be sure."""


class Sides:
    """Values of the graph before and after one rewrite, in one world.

    The world's values are sound: where an earlier rewrite was found wrong they are what users expect. A
    rewrite that passes on what is wrong already must not be blamed for it, so there are two ways to look:
    at sound values, and at what the nodes actually compute.
    """

    def __init__(self, world: World, before: GraphState, after: GraphState, region: Region) -> None:
        self.world = world
        self.region = region
        self.before = before.bodies.get(world.path) or Body()
        """The graph before."""
        self.after = after.bodies.get(world.path) or Body()
        """The graph after."""
        self.new: dict[int, Any] = {}
        """Values computed for the graph after, by node."""
        self._actually_new: dict[int, Any] = {}
        self._states = (before, after)

    # -- on sound values ---------------------------------------------------------------------------

    def then(self, node: int) -> Any:
        """The value that the users of a node of the graph before have got so far."""
        return self.world.value(self._states[0], node)

    def now(self, node: int) -> Any:
        """The value of a node of the graph after."""
        if node in self.new:
            return self.new[node]
        return self.world.value(self._states[1], node)

    def run_then(self, node: NodeState) -> Any:
        """The value that a node of the graph before computes."""
        return self.world.run_node(self._states[0], node, self.then)

    def run_now(self, node: NodeState) -> Any:
        """The value that a node of the graph after computes."""
        return self.world.run_node(self._states[1], node, self.now)

    # -- on what is computed -----------------------------------------------------------------------

    def actually_then(self, node: int) -> Any:
        """The value that a node of the graph before computes from what its inputs compute."""
        return self.world.actual(self._states[0], node)

    def actually_now(self, node: int) -> Any:
        """The value that a node of the graph after computes from what its inputs compute."""

        def known(each: int) -> Any:
            if each in self._actually_new:
                return self._actually_new[each]
            if each in self.new or each not in self.before:
                return ABSENT
            return self.actually_then(each)

        def run(state: NodeState) -> Any:
            return self.world.run_node(self._states[1], state, known)

        evaluate(self.after, [node], known, run, self._actually_new)
        return known(node)

    def may_inherit(self, old: int, new: int) -> bool:
        """Whether values that are only expected come into a comparison of two nodes on one side alone.

        What both sides compute from, they take as it is: only nodes that the old one uses before it comes to
        the inputs of the new ones can make a difference, and inputs that the old one does not use.
        """
        tainted = self.world.tainted
        if not tainted:
            return False
        inputs = self._inputs_of_new(new)
        met, stack, seen = set[int](), [old], {old}
        while stack:
            node = stack.pop()
            if node in inputs:
                met.add(node)
                continue
            if node in tainted or len(seen) > FARTHEST:
                return True
            fresh = [each for each in self.before.inputs(node) if each not in seen]
            seen.update(fresh)
            stack.extend(fresh)
        return any(node in tainted for node in inputs - met)

    def _inputs_of_new(self, new: int) -> set[int]:
        """The nodes not computed anew that `new` gets its values from, through nodes computed anew."""
        inputs, stack, seen = set[int](), [new], {new}
        while stack:
            node = stack.pop()
            if node not in self.new:
                inputs.add(node)
                continue
            fresh = [each for each in self.after.inputs(node) if each not in seen]
            seen.update(fresh)
            stack.extend(fresh)
        return inputs

    # -- the graph ---------------------------------------------------------------------------------

    @cached_property
    def interior(self) -> frozenset[int]:
        """Unchanged nodes between changed ones: they may get other values, as long as those go no further.

        A rewrite that removes a permute at either end of a chain, or moves a quantize along it, leaves what
        is in between as it is and gives it transposed or integer values.
        """
        dirty = self.region.dirty
        low = min((self.after[node].order for node in dirty), default=b"")
        found: set[int] = set()
        stack = list(dirty)
        while stack:
            for source in self.after.inputs(stack.pop()):
                if source not in found and self.after[source].order > low:
                    found.add(source)
                    stack.append(source)
        return frozenset(found - dirty)
