"""Which node is which: identities that survive copies and retraces, kept outside `node.meta`."""

from __future__ import annotations

from torch.fx import Node


class Identities:
    """Node objects to identities. Holds the nodes, so that no object id is ever re-used."""

    def __init__(self) -> None:
        self.of: dict[Node, int] = {}
        """Identity of every node object seen."""
        self._next = 0

    def new(self, node: Node) -> int:
        """Give a node a fresh identity."""
        found = self.of[node] = self._next
        self._next += 1
        return found

    def ensure(self, node: Node) -> int:
        """The node's identity, a fresh one if it has none."""
        found = self.of.get(node)
        return self.new(node) if found is None else found

    def same(self, copy: Node, original: Node) -> None:
        """Say that `copy` stands for the same node as `original`, in a copied graph."""
        found = self.of.get(original)
        if found is not None:
            self.of[copy] = found
