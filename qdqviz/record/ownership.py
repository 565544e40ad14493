"""Finds the owner of an edit: the attempt that is open, a named call, or the nodes around what is edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.fx import Node

from qdqviz.record.attempt import Token
from qdqviz.record.editlog import EditLog
from qdqviz.record.owner import Owner


class Ownership:
    """Who owns the edits of one pass run."""

    def __init__(self, ids: dict[Node, int], path_of: Callable[[Node], str], edits: EditLog) -> None:
        self.call: str | None = None
        """The named call that is running, such as `eliminate_dead_code`."""
        self.current: Token | None = None
        """The attempt that is open, or None."""
        self._ids = ids
        self._path_of = path_of
        self._edits = edits
        self._connected: set[Owner] = set()
        self._calls: dict[str, Owner] = {}
        self._nodes: dict[int, Owner] = {}
        self._unused_by: dict[int, Owner] = {}

    def of(self, node: Node, towards: Any = None) -> Owner:
        """Owner of an edit of `node` that happens now.

        Args:
            node: The node that is edited.
            towards: A node, or arguments that hold nodes, that become its inputs, if that is the edit.
        """
        if self.current is not None:
            return self.current.owner
        if self.call is not None:
            return self._call_owner(node)
        for candidate in (node, *_nodes_in(towards)):
            found = self._nodes.get(self._ids.get(candidate, -1))
            if found is not None:
                if candidate is not node:
                    self._connected.add(found)
                return found
        return self.of_itself(node)

    def of_itself(self, node: Node) -> Owner:
        """Owner of an edit of `node` made by no attempt and no named call."""
        nid = self._ids.get(node, -1)
        owner = self._nodes.get(nid)
        if owner is None:
            owner = self._nodes[nid] = Owner("node", nid, self._path_of(node), node.name)
        return owner

    def of_creation(self, node: Node) -> Owner:
        """Owner of the creation of `node`: outside attempts whoever made one of its inputs, or itself.

        Who made an input counts only until an older node uses what it made: that ends its rewrite.
        """
        if self.current is not None or self.call is not None:
            return self.of(node)
        for source in node._input_nodes:
            found = self._nodes.get(self._ids.get(source, -1))
            if found is not None and found not in self._connected:
                self._nodes[self._ids[node]] = found
                return found
        return self.of_itself(node)

    def of_erasure(self, node: Node) -> Owner:
        """Owner of the erasure of `node`: outside attempts, whoever removed its last use."""
        if self.current is not None:
            return self.current.owner
        nid = self._ids.get(node, -1)
        found = self._unused_by.get(nid) or self._nodes.get(nid)
        if found is not None:
            return found
        return self.of_itself(node) if self.call is None else self._call_owner(node)

    def of_constant(self, node: Node) -> Owner:
        """Owner of an edit of the constant that `node` stands for: whoever edited a reader of it last."""
        readers = [self._ids.get(user, -1) for user in node.users]
        return self._edits.last_writer(readers) or self.of_itself(node)

    def note_unused(self, node: Node, owner: Owner) -> None:
        """`owner` has just removed the last use of `node`."""
        self._unused_by[self._ids.get(node, -1)] = owner

    def forget(self) -> None:
        """After a flush: what is written is written, later edits form rewrites of their own."""
        self._calls.clear()
        self._nodes.clear()
        self._unused_by.clear()
        self._connected.clear()

    def _call_owner(self, node: Node) -> Owner:
        assert self.call is not None
        if self.call not in self._calls:
            self._calls[self.call] = Owner("call", None, self._path_of(node), self.call)
        return self._calls[self.call]


def _nodes_in(value: Any) -> list[Node]:
    """The nodes among arguments; exact containers only."""
    found: list[Node] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is Node:
            found.append(item)
        elif isinstance(item, (tuple, list)):
            stack.extend(item)
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())
    return found
