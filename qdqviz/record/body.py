"""One live torch.fx graph and what the trace last said of it."""

from __future__ import annotations

from collections.abc import Iterable
from operator import lt
from typing import Any

import torch
from msgspec.structs import replace
from torch.fx import Graph, GraphModule, Node

from qdqviz.ir.node import Constant, NodeState
from qdqviz.ir.order import between, spread
from qdqviz.record.constants import ConstantPool
from qdqviz.record.encode import Encoder
from qdqviz.record.identity import Identities
from qdqviz.record.increasing import longest_increasing
from qdqviz.record.mirror import Mirror, alike, read_meta, same_items, same_meta


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
        encoder = self.encoder
        args, kwargs = encoder.args(node)
        meta, op = read_meta(node), node.op
        return NodeState(
            nid,
            order,
            node.name,
            op,
            encoder.targets.text(node.target),
            args,
            kwargs,
            encoder.spec(meta.get("val")),
            encoder.meta(meta),
            self._sharer(nid, meta),
            None if op == "call_function" else self.constant(node, nid),
        )

    def snapshot(self) -> list[NodeState]:
        """Read all nodes for the first time."""
        nodes = list(self.graph.nodes)
        nids = [self._ids.ensure(node) for node in nodes]
        states, encode, mirrors = [], self.encode, self.mirrors
        for node, nid, order in zip(nodes, nids, spread(len(nodes)), strict=True):
            state = encode(node, nid, order)
            mirrors[nid] = Mirror(node, state)
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
        old, encoder = mirror.state, self.encoder
        args, kwargs = old.args, old.kwargs
        if not self._same_args(mirror, node):
            args, kwargs = encoder.args(node)
        meta, op, name = read_meta(node), node.op, node.name
        spec, short, sharer = old.spec, old.meta, old.shares_meta
        if meta is not mirror.meta or not same_meta(mirror, meta):
            val = meta.get("val")
            if val is not mirror.val or val is None:
                spec = encoder.spec(val)
            if not same_items(mirror.meta_items, meta):
                short = encoder.meta(meta)
            sharer = self._sharer(nid, meta)
        target = old.target if node.target is mirror.target else encoder.targets.text(node.target)
        constant = self.constant(node, nid) if op == "get_attr" else old.constant
        state = old
        if not (
            args is old.args
            and kwargs is old.kwargs
            and name == old.name
            and order == old.order
            and (spec is old.spec or spec == old.spec)
            and short is old.meta
            and sharer == old.shares_meta
            and (target is old.target or target == old.target)
            and (constant is old.constant or constant == old.constant)
            and op == old.op
        ):
            state = NodeState(nid, order, name, op, target, args, kwargs, spec, short, sharer, constant)
        mirror.take(node, state)
        return state

    def _same_args(self, mirror: Mirror, node: Node) -> bool:
        """Whether a node, or its copy elsewhere, has the arguments that were last read."""
        if node._args is mirror.args and node._kwargs is mirror.kwargs:
            return True
        if node is mirror.node or mirror.args is None:
            return False
        ids = self._ids.of
        args, kwargs = node._args, node._kwargs
        if len(args) != len(mirror.args):
            return False
        for old, new in zip(mirror.args, args, strict=True):
            if old is new:
                continue
            if type(old) is Node is type(new):  # the most common case, without a call
                if ids.get(old, -1) != ids.get(new, -2):
                    return False
            elif not alike(old, new, ids):
                return False
        return not (mirror.kwargs or kwargs) or alike(mirror.kwargs, kwargs, ids)

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
        return mirror is not None and not same_meta(mirror, read_meta(mirror.node))

    def _sharer(self, nid: int, meta: dict[str, Any]) -> int | None:
        """The other node of this graph whose metadata is the very same dictionary, or None."""
        holder = self._meta_holder.setdefault(id(meta), nid)
        if holder != nid:
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
        there = [key for key in known if key is not None]
        if len(there) == len(known) and all(map(lt, there, there[1:])):
            return dict(zip(sequence, there, strict=True))
        kept = longest_increasing(known)
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
