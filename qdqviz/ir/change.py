"""The smallest edits of a graph state; each knows its inverse."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from qdqviz.ir.node import NodeState
from qdqviz.ir.values import refs

UPDATABLE = (
    "args",
    "kwargs",
    "target",
    "op",
    "name",
    "order",
    "spec",
    "meta",
    "shares_meta",
    "constant",
)
"""Fields of a node that an `Update` may change."""

_updatable = attrgetter(*UPDATABLE)


class Insert(Struct, frozen=True, gc=False, tag_field="t", tag="+"):
    """A node appears; the first in a path makes the sub-graph appear."""

    path: str
    """Graph that holds the node."""
    node: NodeState
    """The node as it is when it appears; its order key says where."""

    def inverse(self) -> Erase:
        """The change that takes this one back."""
        return Erase(self.path, self.node)

    @property
    def node_id(self) -> int:
        """Identity of the node that changes."""
        return self.node.id

    @property
    def kind(self) -> str:
        """Name of the kind of edit."""
        return "create"


class Erase(Struct, frozen=True, gc=False, tag_field="t", tag="-"):
    """A node disappears; the last of a sub-graph takes the sub-graph along."""

    path: str
    """Graph that held the node."""
    node: NodeState
    """The node as it was."""

    def inverse(self) -> Insert:
        """The change that takes this one back."""
        return Insert(self.path, self.node)

    @property
    def node_id(self) -> int:
        """Identity of the node that changes."""
        return self.node.id

    @property
    def kind(self) -> str:
        """Name of the kind of edit."""
        return "erase"


class Update(Struct, frozen=True, gc=False, tag_field="t", tag="u"):
    """One field of a node changes."""

    path: str
    """Graph that holds the node."""
    node: int
    """Identity of the node."""
    field: str
    """One of `UPDATABLE`."""
    old: Any
    """Value before."""
    new: Any
    """Value after."""

    def inverse(self) -> Update:
        """The change that takes this one back."""
        return Update(self.path, self.node, self.field, self.new, self.old)

    def on(self, node: NodeState) -> NodeState:
        """The node after this change."""
        return replace(node, **{self.field: self.new})

    @property
    def node_id(self) -> int:
        """Identity of the node that changes."""
        return self.node

    @property
    def kind(self) -> str:
        """Name of the kind of edit: rewire, set_args, set_target, move, rename, set_metadata, constant."""
        if self.field in ("args", "kwargs"):
            return "rewire" if _shape(self.old) == _shape(self.new) else "set_args"
        return {
            "target": "set_target",
            "op": "set_target",
            "order": "move",
            "name": "rename",
            "constant": "constant",
        }.get(self.field, "set_metadata")


Change: TypeAlias = Insert | Erase | Update


def _shape(value: Any) -> Any:
    """The argument structure with node uses made equal, to tell a rewired input from other edits."""
    from qdqviz.ir.values import Ref, map_refs

    if not any(True for _ in refs(value)):
        return value
    return map_refs(value, lambda _: Ref(-1))


def diff_node(path: str, old: NodeState, new: NodeState) -> list[Update]:
    """The updates that lead from one state of a node to another."""
    return updates_of(path, old, new, changed_fields(old, new))


def updates_of(path: str, old: NodeState, new: NodeState, fields: Iterable[str]) -> list[Update]:
    """The updates of the named fields that lead from one state of a node to another."""
    return [Update(path, old.id, field, getattr(old, field), getattr(new, field)) for field in fields]


def changed_fields(old: NodeState, new: NodeState) -> tuple[str, ...]:
    """The fields of `UPDATABLE` in which two states of a node differ."""
    if old is new:
        return ()
    triples = zip(UPDATABLE, _updatable(old), _updatable(new), strict=True)
    return tuple([field for field, left, right in triples if left is not right and not same(left, right)])


def same(left: Any, right: Any) -> bool:
    """Equality of argument values that tells 1 from 1.0 and True, and -0.0 from 0.0; NaN equals NaN."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return repr(left) == repr(right)
    if hasattr(left, "items") and isinstance(left.items, tuple):
        return same(left.items, right.items)
    return bool(left == right)
