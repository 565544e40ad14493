"""The values on either side of a rewrite: what nodes gave before it, and what they give after it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from qdqviz.check.region import Region
from qdqviz.check.values import ABSENT, evaluate
from qdqviz.check.world import World
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.node import NodeState


class Sides:
    """Values of the graph before and after one rewrite, in one world."""

    def __init__(self, world: World, before: GraphState, after: GraphState, region: Region) -> None:
        self.world = world
        self.region = region
        self.before = before.bodies.get(world.path) or Body()
        """The graph before."""
        self.after = after.bodies.get(world.path) or Body()
        """The graph after."""
        self.new: dict[int, Any] = {}
        """Values computed for the graph after, by node."""
        self._old: dict[int, Any] = {}
        self._states = (before, after)

    def now(self, node: int) -> Any:
        """The value of a node of the graph after."""
        if node in self.new:
            return self.new[node]
        return self.world.value(self._states[1], node)

    def run_now(self, node: NodeState) -> Any:
        """The value that a node of the graph after computes."""
        return self.world.run_node(self._states[1], node, self.now)

    def expected(self, node: int) -> Any:
        """The value that the users of a node of the graph before have got so far."""
        return self.world.value(self._states[0], node)

    def then(self, node: int) -> Any:
        """The value that a node of the graph before computed.

        Where the old nodes compute from values that are only expected (an earlier rewrite was found wrong),
        they are run again as they are, so that this rewrite is judged by what it does itself.
        """
        tainted = self.world.tainted.keys()
        if not tainted or not (self.region.old | self.interior) & tainted:
            return self.expected(node)

        def known(each: int) -> Any:
            if each in self._old:
                return self._old[each]
            inside = each in self.region.old or each in self.interior
            state = self.before.get(each)
            return (
                ABSENT if inside and state is not None and state.op != "placeholder" else self.expected(each)
            )

        evaluate(self.before, [node], known, lambda state: self.run_then(state, known), self._old)
        return known(node)

    def run_then(self, node: NodeState, look_up: Any = None) -> Any:
        """The value that a node of the graph before computed, run again."""
        return self.world.run_node(self._states[0], node, look_up or self.then)

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
