"""One live torch.fx graph and what the trace last said of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import repeat
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.immutable_collections import immutable_dict, immutable_list
from torch.fx.node import _NodeBase

from qdqviz.ir.node import Constant, NodeState
from qdqviz.ir.order import between, spread
from qdqviz.record.constants import ConstantPool
from qdqviz.record.encode import SPEC_KEYS, Encoder
from qdqviz.record.identity import Identities

read_meta = _NodeBase.__dict__["meta"].__get__
"""A node's metadata, read past the watcher."""


class Mirror:
    """What was read off one node the last time, to tell cheaply whether it has changed."""

    __slots__ = ("args", "kwargs", "meta", "meta_items", "node", "state", "target", "val")

    def __init__(self, node: Node, state: NodeState) -> None:
        self.take(node, state)

    def take(self, node: Node, state: NodeState) -> None:
        """Be the mirror of a node that reads as `state` now."""
        self.node = node
        self.state = state
        self.target: Any = node.target
        self.args: Any = node._args
        self.kwargs: Any = node._kwargs
        self.meta: dict[str, Any] = read_meta(node)
        self.meta_items = dict(self.meta)
        self.val = self.meta.get("val")


class LiveBody:
    """A graph of a subject while it is recorded: its path, the Graph object, a mirror of each node."""

    def __init__(
        self, subject: int, path: str, graph: Graph, ids: Identities, encoder: Encoder, pool: ConstantPool
    ) -> None:
        self.subject = subject
        self.path = path
        self.graph = graph
        self.module: GraphModule | None = graph.owning_module
        self.mirrors: dict[int, Mirror] = {}
        """Mirror of every node that the trace says is in this graph."""
        self.lifted: dict[str, Constant] = {}
        """Constants that placeholders stand for, by the name they had when the program was made known."""
        self.lifted_ids: dict[int, Constant] = {}
        """The same by identity."""
        self.versions: list[Graph] = []
        """Graph objects that this body has been, copies included, as far as they may come back."""
        self._graphs: dict[int, tuple[Any, str]] = {}
        self._ids = ids
        self.encoder = encoder
        self._pool = pool
        self._meta_holder: dict[int, int] = {}

    # -- reading nodes -----------------------------------------------------------------------------

    def encode(self, node: Node, nid: int, order: bytes) -> NodeState:
        """The node as it is now."""
        args, kwargs = self.encoder.args(node)
        meta = read_meta(node)
        return NodeState(
            nid,
            order,
            node.name,
            node.op,
            self.encoder.targets.text(node.target),
            args,
            kwargs,
            self.encoder.spec(meta.get("val")),
            self.encoder.meta(meta),
            self._sharer(nid, meta),
            self.constant(node, nid),
        )

    def snapshot(self) -> list[NodeState]:
        """Read all nodes for the first time."""
        nodes = list(self.graph.nodes)
        for node in nodes:
            self._ids.ensure(node)
        states = []
        for node, order in zip(nodes, spread(len(nodes)), strict=True):
            nid = self._ids.of[node]
            state = self.encode(node, nid, order)
            self.mirrors[nid] = Mirror(node, state)
            states.append(state)
        return states

    def refresh(self, nid: int) -> NodeState:
        """Read one node again, cheaply where it has not changed, and keep what it is now."""
        mirror = self.mirrors[nid]
        return self._read(nid, mirror, mirror.node, mirror.state.order)

    def refresh_copy(self, nid: int, node: Node, order: bytes) -> NodeState:
        """Read a node off its copy in another graph; gives the same state object where nothing changed."""
        return self._read(nid, self.mirrors[nid], node, order)

    def _read(self, nid: int, mirror: Mirror, node: Node, order: bytes) -> NodeState:
        old = mirror.state
        args, kwargs = old.args, old.kwargs
        if not self._same_args(mirror, node):
            args, kwargs = self.encoder.args(node)
        meta = read_meta(node)
        spec, short, sharer = old.spec, old.meta, old.shares_meta
        if not _same_meta(mirror, meta):
            val = meta.get("val")
            if val is not mirror.val or val is None:
                spec = self.encoder.spec(val)
            if not _same_items(mirror.meta_items, meta):
                short = self.encoder.meta(meta)
            sharer = self._sharer(nid, meta)
        target = old.target if node.target is mirror.target else self.encoder.targets.text(node.target)
        constant = self.constant(node, nid) if node.op == "get_attr" else old.constant
        state = old
        if not (
            args is old.args
            and kwargs is old.kwargs
            and node.name == old.name
            and order == old.order
            and spec == old.spec
            and short is old.meta
            and sharer == old.shares_meta
            and target == old.target
            and constant == old.constant
            and node.op == old.op
        ):
            state = NodeState(
                nid, order, node.name, node.op, target, args, kwargs, spec, short, sharer, constant
            )
        mirror.take(node, state)
        return state

    def _same_args(self, mirror: Mirror, node: Node) -> bool:
        """Whether a node, or its copy elsewhere, has the arguments that were last read."""
        if node._args is mirror.args and node._kwargs is mirror.kwargs:
            return True
        if node is mirror.node or mirror.args is None:
            return False
        ids = self._ids.of
        return _alike(mirror.args, node._args, ids) and _alike(mirror.kwargs, node._kwargs, ids)

    def take_identity(self, twin: int, nid: int, state: NodeState | None) -> None:
        """Let the node known as `twin` be known as `nid`, which was erased."""
        mirror = self.mirrors.pop(twin)
        assert state is not None
        mirror.state = state
        self.mirrors[nid] = mirror
        self._ids.of[mirror.node] = nid
        self._meta_holder[id(mirror.meta)] = nid

    def meta_changed(self, nid: int) -> bool:
        """Whether the node's metadata differs from what was last read."""
        mirror = self.mirrors.get(nid)
        return mirror is not None and not _same_meta(mirror, read_meta(mirror.node))

    def _sharer(self, nid: int, meta: dict[str, Any]) -> int | None:
        """The other node of this graph whose metadata is the very same dictionary, or None."""
        holder = self._meta_holder.get(id(meta))
        if holder is not None and holder != nid:
            mirror = self.mirrors.get(holder)
            if mirror is not None and read_meta(mirror.node) is meta:
                return holder
        self._meta_holder[id(meta)] = nid
        return None

    # -- sub-graphs --------------------------------------------------------------------------------

    def path_of(self, module: Any) -> str | None:
        """Path of the sub-graph that an object fetched by a node is, or None."""
        known = self._graphs.get(id(module))
        return None if known is None else known[1]

    def name_graph(self, module: Any, path: str) -> None:
        """Say which sub-graph an object is (the object is held, so that its id stays its own)."""
        self._graphs[id(module)] = (module, path)

    def graph_paths(self) -> set[str]:
        """Paths of all sub-graphs that nodes of this graph name."""
        return {path for _, path in self._graphs.values()}

    # -- constants ---------------------------------------------------------------------------------

    def fetch(self, node: Node) -> Any:
        """The object that a get_attr or call_module node names, or None."""
        found: Any = self.module
        for part in str(node.target).split("."):
            found = getattr(found, part, None)
        return found

    def constant(self, node: Node, nid: int) -> Constant | None:
        """The constant behind a get_attr node or a lifted placeholder."""
        if node.op == "placeholder":
            return self.lifted_ids.get(nid) or self.lifted.get(node.name)
        if node.op not in ("get_attr", "call_module"):
            return None
        found = self.fetch(node)
        target = str(node.target)
        if isinstance(found, torch.Tensor):
            kind = "parameter" if isinstance(found, torch.nn.Parameter) else "buffer"
            return self._pool.tensor(kind, target, found)
        path = self.path_of(found)
        if path is not None:
            return Constant("graph" if isinstance(found, GraphModule) else "delegate", path, None)
        if found is None:
            return None
        self._pool.modules[target] = found
        return Constant("module" if isinstance(found, torch.nn.Module) else "object", target, None)

    # -- order -------------------------------------------------------------------------------------

    def order_at(self, node: Node) -> bytes:
        """A sort key for where the node stands in its graph now."""
        return between(self._key(node._prev), self._key(node._next))

    def _key(self, node: Node) -> bytes | None:
        mirror = self.mirrors.get(self._ids.of.get(node, -1))
        return None if mirror is None else mirror.state.order

    def replace_order(self, nid: int, node: Node) -> None:
        """Give a node that has moved the sort key of its new place."""
        mirror = self.mirrors[nid]
        mirror.state = replace(mirror.state, order=self.order_at(node))

    def orders(self, nids: Iterable[int]) -> dict[int, bytes]:
        """Sort keys for nodes in this order: kept where already increasing, new where not.

        The kept ones are a longest increasing subsequence, so that the fewest nodes move.
        """
        sequence = list(nids)
        known = [mirror.state.order if (mirror := self.mirrors.get(nid)) else None for nid in sequence]
        kept = _longest_increasing(known)
        found: dict[int, bytes] = {}
        upper: list[bytes | None] = [None] * (len(sequence) + 1)
        for index in range(len(sequence) - 1, -1, -1):
            upper[index] = known[index] if index in kept else upper[index + 1]
        low: bytes | None = None
        for index, nid in enumerate(sequence):
            key = known[index] if index in kept else between(low, upper[index])
            assert key is not None
            found[nid] = low = key
        return found


def _same_meta(mirror: Mirror, meta: dict[str, Any]) -> bool:
    """Whether a node's metadata is the dictionary that was last read, with the same objects in it."""
    if meta is not mirror.meta or len(meta) != len(mirror.meta_items):
        return False
    items = mirror.meta_items
    # A loop, not all(): this runs for every node that a pass looks at.
    for key, item in meta.items():  # noqa: SIM110
        if items.get(key, mirror) is not item:
            return False
    return True


def _alike(left: Any, right: Any, ids: dict[Node, int]) -> bool:
    """Whether two raw arguments encode the same: nodes by identity, the rest by type and value."""
    kind = type(left)
    if kind is not type(right):
        return False
    if left is right:
        return True
    if kind is Node:
        found = ids.get(left)
        return found is not None and found == ids.get(right)
    if kind in _SEQUENCES:
        return len(left) == len(right) and all(map(_alike, left, right, repeat(ids)))
    if kind is immutable_dict:
        return list(left) == list(right) and all(map(_alike, left.values(), right.values(), repeat(ids)))
    if kind is float:
        return repr(left) == repr(right)
    return kind in _PLAIN and left == right


_SEQUENCES = frozenset({tuple, list, immutable_list})
_PLAIN = frozenset({int, str, bool})


def _same_items(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether two metadata dictionaries hold the same objects, besides what belongs to the spec."""
    rest = len(before)
    for key in SPEC_KEYS:
        rest -= key in before
    for key, item in now.items():
        if key not in SPEC_KEYS:
            if before.get(key, before) is not item:
                return False
            rest -= 1
    return rest == 0


def _longest_increasing(keys: list[bytes | None]) -> set[int]:
    """Indices of a longest strictly increasing subsequence; None never belongs to it."""
    from bisect import bisect_left

    tails: list[bytes] = []
    tail_index: list[int] = []
    parent: dict[int, int] = {}
    for index, key in enumerate(keys):
        if key is None:
            continue
        at = bisect_left(tails, key)
        if at:
            parent[index] = tail_index[at - 1]
        if at == len(tails):
            tails.append(key)
            tail_index.append(index)
        else:
            tails[at] = key
            tail_index[at] = index
    found: set[int] = set()
    index = tail_index[-1] if tail_index else -1
    while index >= 0:
        found.add(index)
        index = parent.get(index, -1)
    return found
