"""Takes one graph for another where nothing was seen of how it came about: a copy, a graph built anew."""

from __future__ import annotations

from msgspec.structs import replace
from torch.fx import GraphModule, Node

from qdqviz.ir.change import same
from qdqviz.ir.node import NodeState
from qdqviz.record.body import LiveBody
from qdqviz.record.identity import Identities
from qdqviz.record.mirror import Mirror
from qdqviz.record.owner import Owner
from qdqviz.record.runlog import RunLog

REPLACED = "graph replaced"
"""Name and note of the rewrite that holds what cannot be followed node by node."""


def differs(body: LiveBody, module: GraphModule, ids: Identities) -> bool:
    """Whether a graph computes something else than what the trace says of the body, as far as nodes tell."""
    nodes = list(module.graph.nodes)
    if len(nodes) != len(body.mirrors):
        return True
    for node in nodes:
        mirror = body.mirrors.get(ids.of.get(node, -1))
        if mirror is None or mirror.state.op != node.op:
            return True
        if node.op == "call_function" and body.encoder.targets.text(node.target) != mirror.state.target:
            return True
        args, kwargs = body.encoder.args(node)
        if not (same(args, mirror.state.args) and same(kwargs, mirror.state.kwargs)):
            return True
    return False


class Reconciler:
    """Brings a body to another graph; nodes of the same identity are the same node."""

    def __init__(self, body: LiveBody, ids: Identities, log: RunLog, settle: Owner) -> None:
        self._body = body
        self._ids = ids.of
        self._log = log
        self._settle = settle
        self._replaced = Owner("call", None, body.path, REPLACED)

    def bring_to(self, module: GraphModule) -> None:
        """Read the module's graph as the body's new state."""
        body = self._body
        nodes: list[Node] = list(module.graph.nodes)
        kept = sum(1 for node in nodes if self._ids[node] in body.mirrors)
        if 2 * kept < len(body.mirrors):
            self._replaced.note = REPLACED
        body.graph, body.module = module.graph, module
        orders = body.orders(self._ids[node] for node in nodes)
        for node in nodes:
            self._read(node, orders[self._ids[node]])
        for nid in [nid for nid in body.mirrors if nid not in orders]:
            self._log.edits.put(body, nid, self._replaced, None)
            del body.mirrors[nid]

    def _read(self, node: Node, order: bytes) -> None:
        body, nid = self._body, self._ids[node]
        mirror = body.mirrors.get(nid)
        if mirror is None:
            state = body.encode(node, nid, order)
            self._log.edits.put(body, nid, self._log.elsewhere.get(node, self._replaced), state)
            body.mirrors[nid] = Mirror(node, state)
            return
        old = mirror.state
        self._log.edits.note_base(body, nid, old)
        state = body.refresh_copy(nid, node, order)
        if _settled(old, state):
            if state != old:
                self._log.edits.put(body, nid, self._settle, state)
            return
        middle = replace(state, name=old.name, order=old.order, spec=old.spec, shares_meta=old.shares_meta)
        self._log.edits.put(body, nid, self._rewirer(node), middle)
        self._log.edits.put(body, nid, self._settle, state)

    def _rewirer(self, node: Node) -> Owner:
        """Owner of a kept node's change: whoever made one of its new inputs."""
        found = (self._log.elsewhere.get(source) for source in node._input_nodes)
        return next((owner for owner in found if owner is not None), self._replaced)


def _settled(old: NodeState, new: NodeState) -> bool:
    """Whether two states of a node differ in bookkeeping only."""
    same_call = old.target == new.target or old.op != "call_function"
    return same_call and same(old.args, new.args) and same(old.kwargs, new.kwargs) and old.meta == new.meta
