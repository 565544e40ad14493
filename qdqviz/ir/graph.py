"""A whole program's graphs at one instant, persistent: neighbouring states share what is equal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from operator import lt

from msgspec import Struct
from rpds import HashTrieMap, HashTrieSet

from qdqviz.ir.change import Change, Erase, Insert, Update
from qdqviz.ir.node import NodeState

ROOT = ""
"""Path of the outermost graph; sub-graphs are named from there, such as `true_graph_0`."""


MOST_EDITS = 1000
"""Edits after which a new order is not made from an old one any more."""


class _Since(Struct, frozen=True):
    """An order, and the edits made since."""

    order: tuple[NodeState, ...]
    """The order of a body, before all edits."""
    edit: tuple[NodeState | None, NodeState | None]
    """The last edit: the node before it and after it; None where there is none."""
    earlier: _Since | None
    """The edits before that one, on the same order."""
    count: int
    """How many edits there are."""

    def applied(self) -> tuple[NodeState, ...]:
        """The order after all edits. Each costs a search and a move in memory."""
        edits = []
        at: _Since | None = self
        while at is not None:
            edits.append(at.edit)
            at = at.earlier
        nodes = list(self.order)
        for old, new in reversed(edits):
            if old is not None:
                index = bisect_left(nodes, old.order, key=_order_of)
                while nodes[index].id != old.id:  # in the midst of several edits two nodes may have one key
                    index += 1
                if new is not None and new.order == old.order:
                    nodes[index] = new
                    continue
                del nodes[index]
            if new is not None:
                nodes.insert(bisect_left(nodes, new.order, key=_order_of), new)
        return tuple(nodes)


def _order_of(node: NodeState) -> bytes:
    return node.order


class Body:
    """The nodes of one graph of a program (the outermost, a branch, a delegate's inside).

    Immutable. Order, names and users are derived lazily and kept with the body.
    """

    __slots__ = ("_by_name", "_nodes", "_order", "_since", "_users")

    def __init__(
        self,
        nodes: HashTrieMap[int, NodeState] | None = None,
        users: HashTrieMap[int, HashTrieSet[int]] | None = None,
    ) -> None:
        self._nodes: HashTrieMap[int, NodeState] = HashTrieMap() if nodes is None else nodes
        self._users: HashTrieMap[int, HashTrieSet[int]] | None = users
        self._order: tuple[NodeState, ...] | None = None
        self._since: _Since | None = None
        self._by_name: dict[str, NodeState] | None = None

    @classmethod
    def of(cls, nodes: Iterable[NodeState]) -> Body:
        """The body that holds these nodes; its order is known if they come in it."""
        held = tuple(nodes)
        body = cls(HashTrieMap([(node.id, node) for node in held]))
        keys = [node.order for node in held]
        if all(map(lt, keys, keys[1:])) and len(body) == len(held):
            body._order = held
        return body

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, node: object) -> bool:
        return node in self._nodes

    def __getitem__(self, node: int) -> NodeState:
        return self._nodes[node]

    def __iter__(self) -> Iterator[NodeState]:
        return iter(self.in_order())

    def get(self, node: int) -> NodeState | None:
        """The node with this identity, or None."""
        return self._nodes.get(node)

    def in_order(self) -> tuple[NodeState, ...]:
        """All nodes in execution order, kept once known.

        O(n log n), and slow to read from a persistent map; where the order of a body that this one was made
        from is known, much less.
        """
        if self._order is None:
            if self._since is not None:
                self._order = self._since.applied()
            else:
                self._order = tuple(sorted(self._nodes.values(), key=lambda node: node.order))
            self._since = None
        return self._order

    def named(self, name: str) -> NodeState | None:
        """The node with this name, or None."""
        if self._by_name is None:
            self._by_name = {node.name: node for node in self._nodes.values()}
        return self._by_name.get(name)

    def position(self, node: int) -> int:
        """Index of a node in execution order."""
        return bisect_left(self.in_order(), self._nodes[node].order, key=lambda item: item.order)

    def standing(self, node: int) -> tuple[int, NodeState | None]:
        """Index of a node in execution order, and the node right in front of it."""
        index = self.position(node)
        return index, self.in_order()[index - 1] if index else None

    def inputs(self, node: int) -> tuple[int, ...]:
        """Identities of the nodes that `node` uses, each once, that exist in this graph."""
        return tuple(ref for ref in self._nodes[node].input_ids() if ref in self._nodes)

    def users(self, node: int) -> tuple[int, ...]:
        """Identities of the nodes that use `node`, in execution order."""
        found = self.user_sets().get(node)
        if not found:
            return ()
        return tuple(sorted(found, key=lambda user: self._nodes[user].order))

    def user_sets(self) -> HashTrieMap[int, HashTrieSet[int]]:
        """Users of every node that has any: computed once, then kept up by changes."""
        if self._users is None:
            gathered: dict[int, list[int]] = {}
            for node in self._nodes.values():
                for ref in node.input_ids():
                    gathered.setdefault(ref, []).append(node.id)
            self._users = HashTrieMap({ref: HashTrieSet(found) for ref, found in gathered.items()})
        return self._users

    def with_node(self, node: NodeState) -> Body:
        """This body with `node` inserted, or put in place of the node of the same identity."""
        old = self._nodes.get(node.id)
        body = Body(self._nodes.insert(node.id, node), self._relink(old, node))
        body._since = self._edited(old, node)
        return body

    def without_node(self, node: int) -> Body:
        """This body without the node of that identity."""
        old = self._nodes[node]
        body = Body(self._nodes.remove(node), self._relink(old, None))
        body._since = self._edited(old, None)
        return body

    def _edited(self, old: NodeState | None, new: NodeState | None) -> _Since | None:
        """How the order after an edit follows from an order that is known; None if it does not."""
        if self._order is not None:
            return _Since(self._order, (old, new), None, 1)
        since = self._since
        if since is None or since.count >= MOST_EDITS:
            return None
        return _Since(since.order, (old, new), since, since.count + 1)

    def _relink(
        self, old: NodeState | None, new: NodeState | None
    ) -> HashTrieMap[int, HashTrieSet[int]] | None:
        users = self._users
        if users is None or (
            old is not None and new is not None and old.args is new.args and old.kwargs is new.kwargs
        ):
            return users
        before = set() if old is None else set(old.input_ids())
        after = set() if new is None else set(new.input_ids())
        me = (old or new).id  # type: ignore[union-attr]
        for ref in before - after:
            rest = users[ref].remove(me)
            users = users.insert(ref, rest) if rest else users.remove(ref)
        for ref in after - before:
            users = users.insert(ref, users.get(ref, HashTrieSet()).insert(me))
        return users


class GraphState:
    """A program's graphs at one instant: path -> body. Immutable."""

    __slots__ = ("bodies",)

    def __init__(self, bodies: HashTrieMap[str, Body] | None = None) -> None:
        self.bodies: HashTrieMap[str, Body] = HashTrieMap({ROOT: Body()}) if bodies is None else bodies

    @classmethod
    def of(cls, nodes: Mapping[str, Iterable[NodeState]]) -> GraphState:
        """The state that holds these nodes, by the path of their graph; the outermost graph may be empty."""
        bodies = {path: Body.of(held) for path, held in nodes.items()}
        bodies.setdefault(ROOT, Body())
        return cls(HashTrieMap(bodies))

    @property
    def root(self) -> Body:
        """The outermost graph."""
        return self.bodies[ROOT]

    def body(self, path: str) -> Body:
        """The graph at `path`.

        Raises:
            KeyError: If the program has no graph there at this instant.
        """
        return self.bodies[path]

    def paths(self) -> tuple[str, ...]:
        """Paths of all graphs, the outermost first."""
        return tuple(sorted(self.bodies))

    def apply(self, change: Change) -> GraphState:
        """The state after one change.

        Raises:
            KeyError: If the change speaks of a node or graph that this state does not hold.
        """
        return self.apply_all((change,))

    def apply_all(self, changes: Iterable[Change]) -> GraphState:
        """The state after several changes, in order: as if applied one by one, in less time.

        Raises:
            KeyError: If a change speaks of a node or graph that is not there.
        """
        bodies: dict[str, Body] = {}
        for path, node, after in _by_node(self, bodies, changes):
            body = bodies.get(path, self.bodies.get(path))
            if after is not None:
                bodies[path] = (Body() if body is None else body).with_node(after)
            elif body is None:
                raise KeyError(path)
            else:
                bodies[path] = body.without_node(node)
        state = self.bodies
        for path, body in bodies.items():
            state = state.insert(path, body) if path == ROOT or len(body) else state.discard(path)
        return GraphState(state)

    def undo_all(self, changes: Iterable[Change]) -> GraphState:
        """The state before these changes, given that this is the state after them."""
        return self.apply_all(change.inverse() for change in reversed(tuple(changes)))


def _by_node(
    state: GraphState, bodies: Mapping[str, Body], changes: Iterable[Change]
) -> Iterator[tuple[str, int, NodeState | None]]:
    """What becomes of nodes: path, identity, and the node afterwards (None where it is erased).

    Updates of one node in a row are one edit. `bodies` are those after all edits that were yielded.
    """
    held: NodeState | None = None
    at = ROOT
    for change in changes:
        path = change.path
        if isinstance(change, Update):
            if held is None or held.id != change.node or at != path:
                if held is not None:
                    yield at, held.id, held
                held, at = (bodies[path] if path in bodies else state.bodies[path])[change.node], path
            held = change.on(held)
            continue
        if held is not None:
            yield at, held.id, held
            held = None
        if isinstance(change, Insert):
            yield path, change.node.id, change.node
        elif isinstance(change, Erase):
            yield path, change.node.id, None
        else:
            raise TypeError(f"not a change: {change!r}")
    if held is not None:
        yield at, held.id, held
