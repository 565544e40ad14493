"""Follows a graph that is executed into a new one, so that it reads as edits of the old one.

`ExportPass.call` and `fx.Transformer` run each old node and trace what it does into a new graph.
An old node that gives one equal node is that node still. Whatever else a node's run makes is a
rewrite with the old node as focus: created nodes, a result that is another node, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from msgspec.structs import replace
from torch.fx import Graph, GraphModule, Node

from qdqviz.ir.change import same
from qdqviz.ir.node import NodeState
from qdqviz.ir.values import Ref, Value, map_refs
from qdqviz.record.attempt import Token
from qdqviz.record.body import LiveBody
from qdqviz.record.editlog import EditLog
from qdqviz.record.identity import Identities
from qdqviz.record.mirror import Mirror
from qdqviz.record.owner import Owner


@dataclass(eq=False, slots=True)
class NodeRun:
    """What the run of one old node made."""

    old: Node
    """The old node."""
    nid: int
    """Its identity."""
    attempt: Token
    """The attempt that was open meanwhile."""
    created: list[Node]
    """Nodes that it created in the new graph, in order."""
    result: Any
    """What it returned: a proxy or a structure of them; None where it raised."""
    own_code: bool
    """Whether code of the pass ran on the way, and not the framework's alone."""

    @property
    def owner(self) -> Owner:
        """Owner of what is not a plain copy."""
        return self.attempt.owner


@dataclass(eq=False, slots=True)
class Retrace:
    """One graph being executed into another."""

    body: LiveBody
    """The old graph."""
    old: Graph
    """Its Graph object when the retrace began."""
    interpreter: Any = None
    """The interpreter that runs it."""
    runs: list[NodeRun] = field(default_factory=list)
    """Nodes run so far."""
    runner: Any = None
    """The interpreter that ran the latest of them."""
    new: Graph | None = None
    """The graph that it traces into."""

    def traced_into(self, interpreter: Any) -> Graph | None:
        """The graph that an interpreter traces into, or None if it only computes."""
        if interpreter is not self.runner:
            self.runner, self.new = interpreter, new_graph(interpreter)
        return self.new


def new_graph(interpreter: Any) -> Graph | None:
    """The graph that an interpreter traces into, or None if it only computes."""
    callback = getattr(interpreter, "callback", None)
    tracer = getattr(callback, "tracer", None)
    graph = getattr(tracer, "graph", None) if tracer is not None else getattr(interpreter, "new_graph", None)
    return graph if isinstance(graph, Graph) else None


def result_node(result: Any) -> Node | None:
    """The new node that a run returned, if it returned exactly one value that a node computes."""
    node = getattr(result, "proxy_or_node", None)
    if node is None:
        node = getattr(result, "node", None) if isinstance(result, torch.fx.Proxy) else result
    if isinstance(node, torch.fx.Proxy):
        node = node.node
    return node if type(node) is Node else None


class RetraceReader:
    """Turns a finished (or broken off) retrace into versions in the edit log."""

    def __init__(self, retrace: Retrace, ids: Identities, log: EditLog, settle: Owner) -> None:
        self._retrace = retrace
        self._body = retrace.body
        self._ids = ids
        self._log = log
        self._settle = settle
        self._own = {run.nid for run in retrace.runs if run.own_code and run.old.op != "get_attr"}
        """Nodes that the pass's own code ran on; other metadata is what tracing leaves on a node."""
        self._owner_of: dict[int, Owner] = {}
        self._becomes: dict[int, int] = {}
        """Old identity -> identity of the node that stands for its value now."""
        self._split: dict[int, int] = {}
        """Identity of a get_attr that a retrace split off -> the one it was split from."""

    def finish(self, module: GraphModule) -> None:
        """Bring the body to the new graph."""
        old_module = self._body.module
        self._match_runs()
        new_nodes = list(module.graph.nodes)
        self._match_attributes(new_nodes, old_module, module)
        for node in new_nodes:
            self._ids.ensure(node)
        self._rewire_old()
        self._body.graph, self._body.module = module.graph, module
        self._read(new_nodes)

    def _match_runs(self) -> None:
        """Give identities to what the runs made, in their order: equal copies keep theirs."""
        for run in self._retrace.runs:
            result = result_node(run.result)
            copy = self._copy_of(run, result)
            if copy is not None:
                self._ids.of[copy] = run.nid
            for node in run.created:
                if node.op != "get_attr" and node is not copy:
                    self._owner_of[self._ids.ensure(node)] = run.owner
            if run.old.op == "output" or run.old.op == "placeholder":
                self._becomes[run.nid] = run.nid
            elif result is not None and result in self._ids.of:
                self._becomes[run.nid] = self._ids.of[result]

    def _copy_of(self, run: NodeRun, result: Node | None) -> Node | None:
        """The created node that is the old one still, if any: equal arguments before equal target."""
        if len(run.created) == 1 and result is run.created[0] and result.op == run.old.op == "call_function":
            return result if result.target == run.old.target else None
        like = [
            n for n in run.created if n.op == run.old.op and (n.op == "output" or n.target == run.old.target)
        ]
        if run.old.op == "placeholder":
            like = [node for node in run.created if node.op == "placeholder"]
        if len(like) <= 1 and (not like or like[0] is result or run.old.op in ("output", "placeholder")):
            return like[0] if like else None
        expected = (
            self._expected(self._body.mirrors[run.nid].state) if run.nid in self._body.mirrors else None
        )
        for node in like:
            if expected is not None and same(self._body.encoder.args(node)[0], expected):
                return node
        return result if result in like else (like[0] if like else None)

    def _expected(self, state: NodeState) -> tuple[Value, ...]:
        """The old node's arguments with each used node replaced by what it has become."""
        return map_refs(state.args, lambda nid: Ref(self._becomes.get(nid, nid)))  # type: ignore[return-value]

    def _match_attributes(self, nodes: list[Node], old: GraphModule | None, new: GraphModule) -> None:
        """get_attr nodes are matched by the object that they fetch; the first takes the identity."""
        by_object: dict[Any, int] = {}
        for nid, mirror in self._body.mirrors.items():
            if mirror.node.op == "get_attr":
                by_object.setdefault(self._key(fetch(old, mirror.node)), nid)
        taken: set[int] = set()
        for node in nodes:
            if node.op != "get_attr":
                continue
            found = by_object.get(self._key(fetch(new, node)))
            if found is None:
                continue
            if found not in taken and node not in self._ids.of:
                taken.add(found)
                self._ids.of[node] = found
                self._becomes[found] = found
            else:
                self._split[self._ids.ensure(node)] = found

    def _key(self, found: Any) -> Any:
        path = self._body.path_of(found)
        return id(found) if path is None else path

    def _rewire_old(self) -> None:
        """Write, for every old use of a replaced value, the new value; the replaced node's owner did it."""
        replaced = {old: new for old, new in self._becomes.items() if old != new}
        if not replaced:
            return
        owners = {run.nid: run for run in self._retrace.runs}
        for nid, mirror in list(self._body.mirrors.items()):
            for old in dict.fromkeys(mirror.state.input_ids()):
                new = replaced.get(old)
                if new is not None:
                    state = _rewired(self._body.mirrors[nid].state, old, new)
                    self._log.put(self._body, nid, owners[old].owner, state)
                    self._body.mirrors[nid].state = state
                    self._body.mirrors[nid].args = None

    def _read(self, nodes: list[Node]) -> None:
        """Compare each new node with what the trace says of it, and write the difference."""
        body, ids = self._body, self._ids.of
        orders = body.orders(ids[node] for node in nodes)
        runs = {run.nid: run for run in self._retrace.runs}
        present = set(orders)
        for node in nodes:
            nid = ids[node]
            mirror = body.mirrors.get(nid)
            if mirror is None:
                state = body.encode(node, nid, orders[nid])
                self._log.put(body, nid, self._creator(nid, node), state)
                body.mirrors[nid] = Mirror(node, state)
            else:
                self._read_known(node, nid, mirror, orders[nid], runs)
        for nid in [nid for nid in body.mirrors if nid not in present]:
            self._erase(nid, runs)

    def _creator(self, nid: int, node: Node) -> Owner:
        if nid in self._split:
            return self._settle
        return self._owner_of.get(nid) or self._first_user_owner(node) or self._settle

    def _first_user_owner(self, node: Node) -> Owner | None:
        """Owner of the first user: a new get_attr belongs to whoever fetched it."""
        return next((owner for user in node.users if (owner := self._owner_of.get(self._ids.of[user]))), None)

    def _read_known(
        self, node: Node, nid: int, mirror: Mirror, order: bytes, runs: dict[int, NodeRun]
    ) -> None:
        body, old = self._body, mirror.state
        state = body.refresh_copy(nid, node, order)
        if state is old:
            return
        self._log.note_base(body, nid, old)
        args_changed = not (same(old.args, state.args) and same(old.kwargs, state.kwargs))
        meta_changed = nid in self._own and _own_meta(old) != _own_meta(state)
        if args_changed and self._only_split(old, state):
            args_changed = False
        if args_changed or meta_changed or (old.target != state.target and node.op == "call_function"):
            middle = replace(
                state, name=old.name, order=old.order, spec=old.spec, shares_meta=old.shares_meta
            )
            self._log.put(body, nid, runs[nid].owner if nid in runs else self._settle, middle)
        self._log.put(body, nid, self._settle, state)

    def _only_split(self, old: NodeState, state: NodeState) -> bool:
        """Whether the arguments differ only by get_attr nodes that the retrace split."""

        def unsplit(nid: int) -> Value:
            return Ref(self._split.get(nid, nid))

        return same(map_refs(old.args, unsplit), map_refs(state.args, unsplit)) and same(
            tuple((key, map_refs(value, unsplit)) for key, value in old.kwargs),
            tuple((key, map_refs(value, unsplit)) for key, value in state.kwargs),
        )

    def _erase(self, nid: int, runs: dict[int, NodeRun]) -> None:
        body = self._body
        node = body.mirrors[nid].node
        owner = None
        if node.op == "get_attr":
            owner = self._last_user_owner(node)
        elif nid in runs:
            owner = runs[nid].owner
        self._log.put(body, nid, owner or self._settle, None)
        del body.mirrors[nid]

    def _last_user_owner(self, attribute: Node) -> Owner | None:
        """Owner of the run of a get_attr's last user; None where it was dead before."""
        return next(
            (run.owner for run in reversed(self._retrace.runs) if attribute in run.old._input_nodes), None
        )


TRACER_META = frozenset(
    {
        "from_node",
        "seq_nr",
        "stack_trace",
        "nn_module_stack",
        "torch_fn",
        "original_aten",
        "source_fn_stack",
        "custom",
    }
)
"""Metadata that tracing itself writes on every node that it makes (`torch.fx.traceback`, `fx.Tracer`)."""


def _own_meta(state: NodeState) -> tuple[tuple[str, Value], ...]:
    """The metadata that a pass may have had a hand in."""
    return tuple(item for item in state.meta if item[0] not in TRACER_META)


def _rewired(state: NodeState, old: int, new: int) -> NodeState:
    def swap(nid: int) -> Value:
        return Ref(new if nid == old else nid)

    args: Any = map_refs(state.args, swap)
    kwargs = tuple((key, map_refs(value, swap)) for key, value in state.kwargs)
    return replace(state, args=args, kwargs=kwargs)


def fetch(module: GraphModule | None, node: Node) -> Any:
    """The object that a get_attr or call_module node names in a module, or None."""
    found: Any = module
    for part in str(node.target).split("."):
        found = getattr(found, part, None)
    return found
