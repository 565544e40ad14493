"""The part of a graph around some nodes: what a picture of a rewrite shows, and what it folds away.

Works on one body or on several states of the same body at once (before and after a rewrite): a node is
near if it is near in any of them. No recursion: graphs have paths of a thousand nodes and more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from qdqviz.ir.change import Change, Update, same
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import Role, role

LONG_CHAIN = 3
"""Data-movement chains of this many nodes or more fold into one."""

DEFAULT_LIMIT = 120
"""Most nodes that a neighbourhood shows unless told otherwise."""

_LOUD_FIELDS = ("args", "kwargs", "target", "op", "spec", "constant")
_QUIET_FIELDS = frozenset({"name", "meta", "shares_meta", "order"})


@dataclass(frozen=True, slots=True)
class Fold:
    """Several nodes that are shown as one."""

    id: int
    """Identity of its first member, which stands for the fold in pictures and in `opened`."""
    kind: Literal["chain", "constants"]
    """A chain of data movement, or the constant inputs of the same users."""
    members: tuple[int, ...]
    """Identities of the nodes in it, in execution order."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What is near, in execution order (that of the latest state that holds a node)."""

    nodes: tuple[int, ...]
    """Identities of the nodes that stand for themselves."""
    folds: tuple[Fold, ...]
    """The nodes that are folded together."""
    more_inputs: Mapping[int, int]
    """Identity of a node or fold -> how many of its inputs (constants not counted) are not shown."""
    more_users: Mapping[int, int]
    """Identity of a node or fold -> how many of its users are not shown."""
    cut: bool
    """True where nearer nodes than the radius says were left out because of the limit."""


def touched(changes: Iterable[Change], path: str) -> tuple[int, ...]:
    """Identities of the nodes of the graph at `path` that changes are about, in order of first mention.

    Changes of a name, an order or metadata alone count only where there is no other change.
    """
    loud: dict[int, None] = {}
    quiet: dict[int, None] = {}
    for change in changes:
        node = change.node_id
        if node is not None and change.path == path:
            is_quiet = isinstance(change, Update) and change.field in _QUIET_FIELDS
            (quiet if is_quiet else loud)[node] = None
    return tuple(loud or quiet)


def differing(before: Body, after: Body) -> tuple[int, ...]:
    """Identities of the nodes that are not the same in two states of a body, in execution order.

    Names, orders and metadata do not count.
    """
    found: dict[int, bytes] = {}
    for body, other in ((before, after), (after, before)):
        for node in body.in_order():
            match = other.get(node.id)
            if match is not node and (match is None or not _alike(match, node)):
                found[node.id] = node.order
    return tuple(sorted(found, key=found.__getitem__))


def neighbourhood(
    bodies: Sequence[Body],
    focus: Iterable[int],
    *,
    radius: int = 2,
    fold: bool = True,
    opened: Collection[int] = frozenset(),
    limit: int = DEFAULT_LIMIT,
) -> Neighbourhood:
    """The nodes within `radius` uses of `focus` in any of `bodies`, with long chains and constants folded.

    Args:
        bodies: States of one body, oldest first.
        focus: Identities of the nodes in the middle; those that no body holds are passed over.
        radius: Uses between a node and the focus; a folded chain counts as one node.
        fold: False shows every node.
        opened: Identities of folds, or of any of their members, that are shown unfolded.
        limit: Most nodes to show, focus included; the nearest ones stay.
    """
    search = _Search(bodies, focus, fold, frozenset(opened))
    near = search.within(radius, limit)
    folds = search.folds_of(near) if fold else ()
    inside = {member for item in folds for member in item.members}
    alone = [node for node in near if node not in inside]
    shown = {**{node: (node,) for node in alone}, **{item.id: item.members for item in folds}}
    return Neighbourhood(
        nodes=tuple(sorted(alone, key=search.order)),
        folds=folds,
        more_inputs=search.hidden(shown, near, search.links.data_inputs),
        more_users=search.hidden(shown, near, search.links.users),
        cut=search.cut,
    )


class _Links:
    """Inputs and users over all states of a body, each computed once."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.bodies = bodies
        self._inputs: dict[int, tuple[int, ...]] = {}
        self._users: dict[int, tuple[int, ...]] = {}
        self._constant: dict[int, bool] = {}

    def states(self, node: int) -> list[NodeState]:
        return [found for body in self.bodies if (found := body.get(node)) is not None]

    def is_constant(self, node: int) -> bool:
        if node not in self._constant:
            self._constant[node] = role(self.states(node)[-1]) is Role.CONSTANT
        return self._constant[node]

    def inputs(self, node: int) -> tuple[int, ...]:
        if node not in self._inputs:
            found = (ref for body in self.bodies if node in body for ref in body.inputs(node))
            self._inputs[node] = tuple(dict.fromkeys(found))
        return self._inputs[node]

    def data_inputs(self, node: int) -> tuple[int, ...]:
        return tuple(ref for ref in self.inputs(node) if not self.is_constant(ref))

    def users(self, node: int) -> tuple[int, ...]:
        if node not in self._users:
            found = (user for body in self.bodies if node in body for user in body.users(node))
            self._users[node] = tuple(dict.fromkeys(found))
        return self._users[node]


class _Search:
    """A breadth-first walk from the focus."""

    def __init__(
        self, bodies: Sequence[Body], focus: Iterable[int], fold: bool, opened: frozenset[int]
    ) -> None:
        self.links = _Links(bodies)
        self.focus = {node: None for node in focus if any(node in body for body in bodies)}
        self.cut = False
        self._fold = fold
        self._opened = opened
        self._chains: dict[int, tuple[int, ...]] = {}
        self._steady = len(bodies)

    def order(self, node: int) -> tuple[bytes, int]:
        return self.links.states(node)[-1].order, node

    def within(self, radius: int, limit: int) -> dict[int, None]:
        """Nodes in order of distance."""
        near: dict[int, None] = dict.fromkeys(islice(self.focus, limit))
        self.cut = len(near) < len(self.focus)
        boxes = len(near)
        queue = deque((node, 0) for node in near)
        while queue:
            node, distance = queue.popleft()
            if distance >= radius or self._is_end(node):
                continue
            for other in (*self.links.inputs(node), *self.links.users(node)):
                if other in near:
                    continue
                if boxes >= limit:
                    self.cut = True
                    return near
                boxes += 1
                for member in self.chain(other) or (other,):
                    near[member] = None
                    queue.append((member, distance + 1))
        return near

    def _is_end(self, node: int) -> bool:
        """A node that is shown but not walked through: constants and outputs lead everywhere."""
        if node in self.focus:
            return False
        return self.links.is_constant(node) or self.links.states(node)[-1].op == "output"

    def chain(self, node: int) -> tuple[int, ...]:
        """The long data-movement chain through `node`, in execution order; empty if there is none."""
        if not self._fold or not self._in_line(node):
            return ()
        if node not in self._chains:
            found = self._walk_chain(node)
            chain = found if len(found) >= LONG_CHAIN and not self._opened.intersection(found) else ()
            self._chains.update((member, chain) for member in found)
        return self._chains[node]

    def _walk_chain(self, node: int) -> tuple[int, ...]:
        found = deque([node])
        seen = {node}
        while (head := self.links.data_inputs(found[0])[0]) not in seen and self._in_line(head):
            found.appendleft(head)
            seen.add(head)
        while (tail := self.links.users(found[-1])[0]) not in seen and self._in_line(tail):
            found.append(tail)
            seen.add(tail)
        return tuple(found)

    def _in_line(self, node: int) -> bool:
        """Data movement with one input and one user, the same in every state, and no focus."""
        states = self.links.states(node)
        if node in self.focus or len(states) != self._steady or role(states[-1]) is not Role.MOVEMENT:
            return False
        return len(self.links.data_inputs(node)) == 1 and len(self.links.users(node)) == 1

    def folds_of(self, near: Mapping[int, None]) -> tuple[Fold, ...]:
        """Chains and groups of constants among the nodes shown."""
        chains = {chain for node in near if (chain := self.chain(node))}
        groups: dict[frozenset[int], list[int]] = {}
        for node in near:
            if (
                self.links.is_constant(node)
                and node not in self.focus
                and len(self.links.states(node)) == self._steady
            ):
                users = frozenset(user for user in self.links.users(node) if user in near)
                groups.setdefault(users, []).append(node)
        folds = [Fold(chain[0], "chain", chain) for chain in chains]
        for group in groups.values():
            if len(group) > 1 and not self._opened.intersection(group):
                members = tuple(sorted(group, key=self.order))
                folds.append(Fold(members[0], "constants", members))
        return tuple(sorted(folds, key=lambda item: self.order(item.id)))

    def hidden(
        self,
        shown: Mapping[int, tuple[int, ...]],
        near: Mapping[int, None],
        links_of: Callable[[int], tuple[int, ...]],
    ) -> dict[int, int]:
        """How many links of each box lead out of what is shown; constants' other users do not count."""
        counts: dict[int, int] = {}
        for box, members in shown.items():
            if self.links.is_constant(box):
                continue
            count = len({other for member in members for other in links_of(member)} - near.keys())
            if count:
                counts[box] = count
        return counts


def _alike(one: NodeState, other: NodeState) -> bool:
    return all(same(getattr(one, field), getattr(other, field)) for field in _LOUD_FIELDS)
