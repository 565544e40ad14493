"""Pairs the nodes of two graphs by what they do and how they are connected, never by name.

In time linear in the size of the graphs. Where both are alike, node by node in execution order, that is
the answer. Otherwise nodes are paired in turns, from the surest sign to the weakest, and between them
forwards along the data flow: a node that does the same to paired inputs is paired. The signs: a
neighbourhood (of three, two, one uses around) that occurs once in either graph; what is known already of
who is who; the same for neighbourhoods that call the same, whatever the arguments; and where as many nodes
of a kind are left on both sides, their order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from qdqviz.ir.node import NodeState
from qdqviz.trace.compare.signature import Leaves, calls, content, inputs_of, leaves_of, signature

RADIUS = 3
"""How many uses away a neighbourhood reaches."""


class Shapes:
    """The nodes of one graph, in execution order, with what they do."""

    def __init__(self, nodes: Sequence[NodeState]) -> None:
        self.nodes = nodes
        """In execution order."""
        self.leaves: list[Leaves] = [leaves_of(node) for node in nodes]
        """Their arguments, taken apart."""
        self.signatures = [signature(node, leaves) for node, leaves in zip(nodes, self.leaves, strict=True)]
        """What they do."""
        self.kinds = [calls(node) for node in nodes]
        """What they call."""
        self.inputs = [inputs_of(leaves) for leaves in self.leaves]
        """What they use."""
        self.position = {node.id: index for index, node in enumerate(nodes)}
        """Where each identity stands."""

    def contexts(self, looks: Sequence[Hashable], radius: int = RADIUS) -> list[list[int]]:
        """For each radius up to `radius`, a number for every node that is equal where neighbourhoods are.

        Args:
            looks: What each node is told by: `signatures` or `kinds`.
            radius: How many uses away a neighbourhood reaches.
        """
        users: list[list[int]] = [[] for _ in self.nodes]
        sources = [[self.position.get(ref, -1) for ref in inputs] for inputs in self.inputs]
        for index, found in enumerate(sources):
            for source in found:
                if source >= 0:
                    users[source].append(index)
        known = [[hash(each) for each in looks]]
        for _ in range(radius):
            last = [*known[-1], 0]  # what is not in this graph counts alike
            known.append(
                [
                    hash((last[i], *(last[s] for s in sources[i]), 1, *sorted(last[u] for u in users[i])))
                    for i in range(len(self.nodes))
                ]
            )
        return known


def match(
    left: Sequence[NodeState], right: Sequence[NodeState], known: Mapping[int, int] | None = None
) -> dict[int, int]:
    """Pair the nodes of two graphs.

    Args:
        left: All nodes of one graph in execution order.
        right: All nodes of the other.
        known: Who is who as far as that is known already; it is not always followed.

    Returns:
        Identity on the left -> identity on the right; nodes without a counterpart are left out.
    """
    shapes = Shapes(left), Shapes(right)
    return in_step(*shapes) or _Matching(*shapes, known or {}).run()


def in_step(left: Shapes, right: Shapes) -> dict[int, int] | None:
    """The pairing where both graphs are alike node by node; None where they are not."""
    if left.signatures != right.signatures:
        return None
    for mine, theirs, one, other in zip(left.inputs, right.inputs, left.nodes, right.nodes, strict=True):
        if [left.position.get(ref) for ref in mine] != [right.position.get(ref) for ref in theirs]:
            return None
        if _is_constant(one) and content(one.constant) != content(other.constant):
            return None
    return {one.id: other.id for one, other in zip(left.nodes, right.nodes, strict=True)}


def match_made(
    left: Sequence[NodeState], right: Sequence[NodeState], known: Mapping[int, int]
) -> dict[int, int]:
    """Pair nodes that are left over: those that do the same to counterparts, then the only ones of a kind.

    Args:
        left: Nodes of one graph.
        right: Nodes of the other.
        known: Counterparts of all other nodes.
    """
    found: dict[int, int] = {}
    waiting: dict[Hashable, deque[int]] = defaultdict(deque)
    for node in right:
        leaves = leaves_of(node)
        waiting[signature(node, leaves), inputs_of(leaves)].append(node.id)
    for node in sorted(left, key=lambda each: each.order):
        leaves = leaves_of(node)
        inputs = tuple([found.get(ref, known.get(ref, -1)) for ref in inputs_of(leaves)])
        others = waiting.get((signature(node, leaves), inputs))
        if others:
            found[node.id] = others.popleft()
    taken = set(found.values())
    ones = _by_kind(node for node in left if node.id not in found)
    for kind, nodes in _by_kind(node for node in right if node.id not in taken).items():
        if len(nodes) == 1 == len(ones.get(kind, ())):
            found[ones[kind][0]] = nodes[0]
    return found


def _by_kind(nodes: Iterable[NodeState]) -> dict[Hashable, list[int]]:
    return _groups(((signature(node, leaves_of(node)), node.spec), node.id) for node in nodes)


class _Matching:
    """One pairing under way; nodes are spoken of by their positions."""

    def __init__(self, left: Shapes, right: Shapes, known: Mapping[int, int]) -> None:
        self._left, self._right = left, right
        self._known = {
            left.position[one]: right.position[other]
            for one, other in known.items()
            if one in left.position and other in right.position
        }
        self._to: dict[int, int] = {}
        self._taken: set[int] = set()

    def run(self) -> dict[int, int]:
        """Pair what can be paired."""
        self._constants()
        left, right = self._left, self._right
        strict = list(zip(left.contexts(left.signatures), right.contexts(right.signatures), strict=True))
        for mine, theirs in reversed(strict[1:]):
            self._once(mine, theirs)
        self._forwards(left.signatures, right.signatures)
        self._by_identity()
        self._forwards(left.signatures, right.signatures)
        self._once(*strict[0])
        self._forwards(left.signatures, right.signatures)
        loose = list(zip(left.contexts(left.kinds), right.contexts(right.kinds), strict=True))
        for mine, theirs in reversed(loose[1:]):
            self._once(mine, theirs)
        self._forwards(left.kinds, right.kinds)
        for mine, theirs in (strict[1], strict[0], loose[1], loose[0]):
            self._in_order(mine, theirs)
        return {self._left.nodes[one].id: self._right.nodes[other].id for one, other in self._to.items()}

    def _pair(self, one: int, other: int) -> None:
        if one not in self._to and other not in self._taken:
            self._to[one] = other
            self._taken.add(other)

    def _constants(self) -> None:
        """Constants of equal content: by name where several have it, since content says no more."""
        mine, theirs = (_groups(_constants_of(shapes)) for shapes in (self._left, self._right))
        for key, ones in mine.items():
            others = theirs.get(key, [])
            if len(ones) == 1 == len(others):
                self._pair(ones[0], others[0])

    def _once(self, mine: Sequence[int], theirs: Sequence[int]) -> None:
        """Pair nodes whose neighbourhoods occur once on either side, among the nodes that are left."""
        ones = {key: found[0] for key, found in self._free(mine, theirs)[0].items() if len(found) == 1}
        for key, found in self._free(mine, theirs)[1].items():
            if len(found) == 1 and key in ones:
                self._pair(ones[key], found[0])

    def _by_identity(self) -> None:
        for one, other in self._known.items():
            if self._left.signatures[one] == self._right.signatures[other]:
                self._pair(one, other)
        for one, other in self._known.items():
            mine, theirs = self._left.nodes[one], self._right.nodes[other]
            if (mine.op, mine.target) == (theirs.op, theirs.target) or mine.op != "call_function":
                self._pair(one, other)

    def _forwards(self, mine: Sequence[Hashable], theirs: Sequence[Hashable]) -> None:
        """Pair nodes that look alike and use paired inputs; of several the known one, else the first."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for index, key in enumerate(zip(theirs, self._right.inputs, strict=True)):
            if index not in self._taken and key[1]:
                waiting[key].append(index)
        for index, inputs in enumerate(self._left.inputs):
            if index in self._to or not inputs:
                continue
            mapped = tuple([self._counterpart(ref) for ref in inputs])
            found = waiting.get((mine[index], mapped))
            if found:
                self._pair(index, self._best(found, index))

    def _best(self, found: deque[int], one: int) -> int:
        known = self._known.get(one)
        if known is not None and known in found:
            found.remove(known)
            return known
        return found.popleft()

    def _counterpart(self, ref: int) -> int:
        """Identity on the right of what an identity on the left is paired with; -1 for none."""
        position = self._left.position.get(ref)
        other = None if position is None else self._to.get(position)
        return -1 if other is None else self._right.nodes[other].id

    def _in_order(self, mine: Sequence[int], theirs: Sequence[int]) -> None:
        """Pair, kind by kind, what is left in equal numbers on both sides."""
        ones, others = self._free(mine, theirs)
        for key, found in ones.items():
            if len(found) == len(others.get(key, ())):
                for one, other in zip(found, others[key], strict=True):
                    self._pair(one, other)

    def _free(
        self, mine: Sequence[int], theirs: Sequence[int]
    ) -> tuple[dict[Hashable, list[int]], dict[Hashable, list[int]]]:
        """The nodes that are left on either side, by a number each."""
        return (
            _groups((key, index) for index, key in enumerate(mine) if index not in self._to),
            _groups((key, index) for index, key in enumerate(theirs) if index not in self._taken),
        )


def _constants_of(shapes: Shapes) -> Iterator[tuple[Hashable, int]]:
    for index, node in enumerate(shapes.nodes):
        if _is_constant(node):
            yield (shapes.signatures[index], content(node.constant)), index


def _is_constant(node: NodeState) -> bool:
    return node.constant is not None and node.op in ("placeholder", "get_attr")


def _groups(items: Iterable[tuple[Hashable, int]]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for key, index in items:
        found[key].append(index)
    return dict(found)
