"""What kind of rewrite it was, told from the graph before and after alone, so for any pass."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from qdqviz.explain.crossing import Crossing, crossing
from qdqviz.explain.net import Net, Updated, net_of
from qdqviz.explain.pairs import Group, groups_of
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import QUANTIZATION, Role, role
from qdqviz.ir.values import refs
from qdqviz.trace.model import Rewrite
from qdqviz.trace.reader import Trace


class Kind(StrEnum):
    """What a rewrite did."""

    MOVED = "moved"
    """A node now stands on the other side of others along the data flow."""
    FUSED = "fused"
    """Several nodes became fewer."""
    FOLDED = "folded"
    """Nodes are gone and a surviving node took over what they did."""
    REPLACED = "replaced"
    """Nodes became as many others."""
    SPLIT = "split"
    """Nodes became more."""
    MERGED = "merged"
    """Nodes are gone because an equal one was there already."""
    REMOVED = "removed"
    """Nodes are gone."""
    COPIED = "copied"
    """Nodes are new that equal one that is there."""
    INSERTED = "inserted"
    """Nodes are new."""
    REWIRED = "rewired"
    """Nodes read other nodes."""
    ARGUMENTS = "arguments"
    """Arguments differ that are no nodes."""
    CONSTANTS = "constants"
    """The content of constants differs."""
    REORDERED = "reordered"
    """Nodes run earlier or later, and read what they read before."""
    RENEWED = "renewed"
    """Nodes were made anew where they stood, and do what they did."""
    METADATA = "metadata"
    """Only metadata differs."""
    RENAMED = "renamed"
    """Only names differ, of nodes or of the attributes that they stand for."""
    GRAPH = "graph"
    """A whole graph was replaced, or sub-graphs came or went."""
    NOTHING = "nothing"
    """The edits cancel out."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A rewrite, understood."""

    kind: Kind
    """What it did."""
    net: Net
    """The difference it made."""
    old: tuple[NodeState, ...] = ()
    """Nodes that it is about, as they were."""
    new: tuple[NodeState, ...] = ()
    """Nodes that they became, as they are."""
    crossing: Crossing | None = None
    """For `moved`: past what."""
    changed: tuple[Updated, ...] = ()
    """Surviving nodes that it is about: rewired, with other arguments, moved in the order."""
    path: str = ""
    """Graph of the nodes that it is about."""
    groups: tuple[Group, ...] = ()
    """Nodes that were created anew in place of equal ones."""


def states_around(trace: Trace, rewrite: Rewrite) -> tuple[GraphState, GraphState]:
    """The states of its subject right before and right after a rewrite.

    The state before learns who uses whom first: the state after is made from it and inherits that,
    so a walk through all steps of a large graph asks only once.
    """
    before = trace.before(rewrite.step)
    if rewrite.path in before.bodies:
        before.body(rewrite.path).user_sets()
    return before, trace.after(rewrite.step)


def effect_of(rewrite: Rewrite, before: GraphState, after: GraphState) -> Effect:
    """What a rewrite did.

    Args:
        rewrite: The rewrite, with its changes.
        before: State of its subject right before it.
        after: State of its subject right after it.
    """
    net = net_of(rewrite, before, after)
    if net.empty:
        return Effect(Kind.NOTHING, net)
    if rewrite.note or net.graphs_added or net.graphs_dropped:
        return Effect(Kind.GRAPH, net)
    groups = groups_of(net)
    return (
        _became_others(net, groups)
        or _moved(rewrite, net, groups, before, after)
        or _gone(net, groups, after)
        or _new(net, groups, after)
        or _updated(net, groups)
    )


def _became_others(net: Net, groups: tuple[Group, ...]) -> Effect | None:
    """Nodes that became other nodes: what is gone and what is new are no copies of each other."""
    paired = {node.id for group in groups for node in (*group.old, *group.new)}
    turned = [each for each in net.updated if "target" in each.fields and each.new.op.startswith("call_")]
    gone = [*_operations(net.removed, paired), *(each.old for each in turned)]
    come = [*_operations(net.added, paired), *(each.new for each in turned)]
    if not gone or not come:
        return None
    kind = Kind.FUSED if len(gone) > len(come) else Kind.SPLIT if len(gone) < len(come) else Kind.REPLACED
    return Effect(kind, net, tuple(gone), tuple(come), path=_path(net), groups=groups)


def _moved(
    rewrite: Rewrite, net: Net, groups: tuple[Group, ...], before: GraphState, after: GraphState
) -> Effect | None:
    """A node that passed others: created anew elsewhere, else rewired in place."""
    same_as = {new.id: old.id for group in groups for new, old in group.pairs()}
    in_place = [Group(each.path, (each.old,), (each.new,)) for each in net.updated if each.rewired]
    for group in (*groups, *sorted(in_place, key=lambda group: _rank(group, rewrite.focus))):
        there, here = before.bodies.get(group.path), after.bodies.get(group.path)
        if there is None or here is None:
            continue
        found = crossing(there, here, group.old, group.new, same_as)
        if found is not None:
            return Effect(Kind.MOVED, net, group.old, group.new, found, path=group.path, groups=groups)
    return None


def _gone(net: Net, groups: tuple[Group, ...], after: GraphState) -> Effect | None:
    """Nodes that are gone for good: merged into an equal one, folded into a neighbour, or removed."""
    paired = {node.id for group in groups for node in group.old}
    gone = tuple(_operations(net.removed, paired))
    if not gone:
        several = next((group for group in groups if len(group.old) > len(group.new)), None)
        if several is not None:
            return Effect(Kind.MERGED, net, several.old, several.new, path=several.path, groups=groups)
        gone = tuple(node for _, node in net.removed if node.id not in paired)
    if not gone:
        return None
    path = _path(net)
    anew = [group for group in groups if _operations(tuple((path, node) for node in group.new), set())]
    if anew:
        old = sorted((*gone, *(node for group in anew for node in group.old)), key=lambda node: node.order)
        new = tuple(node for group in anew for node in group.new)
        return Effect(Kind.FUSED, net, tuple(old), new, path=path, groups=groups)
    takers = tuple(each for each in net.updated if each.literals_changed or _reads_new(each, net))
    if takers:
        return Effect(Kind.FOLDED, net, gone, tuple(each.new for each in takers), None, takers, path)
    equal = _equal_survivor(gone, net, after.bodies.get(path))
    if equal is not None:
        return Effect(Kind.MERGED, net, gone, (equal,), path=path)
    return Effect(Kind.REMOVED, net, gone, changed=_rewired(net, groups), path=path)


def _new(net: Net, groups: tuple[Group, ...], after: GraphState) -> Effect | None:
    """Nodes that are new: copies of one that is there, or inserted."""
    several = next((group for group in groups if len(group.new) > len(group.old)), None)
    if several is not None:
        return Effect(Kind.COPIED, net, several.old, several.new, path=several.path, groups=groups)
    paired = {node.id for group in groups for node in group.new}
    come = tuple(_operations(net.added, paired)) or tuple(n for _, n in net.added if n.id not in paired)
    if not come:
        return None
    path = _path(net)
    equal = _equal_survivor(come, net, after.bodies.get(path))
    if equal is not None:
        return Effect(Kind.COPIED, net, (equal,), come, changed=_rewired(net, groups), path=path)
    return Effect(Kind.INSERTED, net, (), come, changed=_rewired(net, groups), path=path, groups=groups)


def _updated(net: Net, groups: tuple[Group, ...]) -> Effect:
    """Nodes that survive, or were made anew where they stood: the field that says most decides."""
    renewed = [Updated(group.path, old, new, ("args",)) for group in groups for new, old in group.pairs()]
    literals = [each for each in (*renewed, *net.updated) if each.literals_changed]
    for kind, chosen in (
        (Kind.ARGUMENTS, literals),
        (Kind.REWIRED, [each for each in (*renewed, *_rewired(net, groups)) if _reads_others(each, groups)]),
        (Kind.RENEWED, renewed),
        (Kind.CONSTANTS, [each for each in net.updated if _content(each.old) != _content(each.new)]),
        (Kind.REORDERED, [each for each in net.updated if "order" in each.fields]),
        (Kind.METADATA, [each for each in net.updated if set(each.fields) & {"meta", "spec", "shares_meta"}]),
        (Kind.RENAMED, [each for each in net.updated if set(each.fields) & {"name", "target"}]),
    ):
        if chosen:
            old, new = tuple(each.old for each in chosen), tuple(each.new for each in chosen)
            return Effect(kind, net, old, new, None, tuple(chosen), chosen[0].path, groups)
    removed, added = (tuple(node for _, node in nodes) for nodes in (net.removed, net.added))
    return Effect(Kind.REPLACED, net, removed, added, path=_path(net))


def _operations(nodes: tuple[tuple[str, NodeState], ...], but: set[int]) -> list[NodeState]:
    """The nodes that compute something: no constants, no taking apart of several outputs."""
    support = (Role.CONSTANT, Role.INPUT, Role.OUTPUT, Role.GETITEM)
    return [node for _, node in nodes if node.id not in but and role(node) not in support]


def _rewired(net: Net, groups: tuple[Group, ...] = ()) -> tuple[Updated, ...]:
    """Survivors that read something else; those that only follow a node made anew do not count."""
    edited = [each for each in net.updated if {"args", "kwargs"} & set(each.fields)]
    return tuple(each for each in edited if each.literals_changed or _reads_others(each, groups))


def _reads_others(each: Updated, groups: tuple[Group, ...]) -> bool:
    """Whether a node reads other nodes than before, those made anew in place of equal ones aside."""
    same_as = {new.id: old.id for group in groups for new, old in group.pairs()}
    now = [same_as.get(ref, ref) for ref in refs((each.new.args, each.new.kwargs))]
    return now != list(refs((each.old.args, each.old.kwargs)))


def _reads_new(each: Updated, net: Net) -> bool:
    """Whether a survivor reads a node that is new, such as a folded weight."""
    fresh = {node.id for _, node in net.added}
    return any(ref in fresh for ref in each.new.input_ids())


def _content(node: NodeState) -> str | None:
    """Fingerprint of the constant that a node stands for."""
    return node.constant.fingerprint if node.constant is not None else None


def _equal_survivor(nodes: tuple[NodeState, ...], net: Net, after: Body | None) -> NodeState | None:
    """A node that does what `nodes` did or do, from the same inputs; the reads of the rewrite lead to it."""
    if after is None:
        return None
    touched = {node.id for _, node in net.added}
    near = {ref for each in net.updated for ref in (*each.new.input_ids(), *each.old.input_ids())}
    for ref in sorted(near - touched):
        found = after.get(ref)
        if found is not None and all(_same_work(found, node) for node in nodes):
            return found
    return None


def _same_work(left: NodeState, right: NodeState) -> bool:
    return (left.op, left.target, left.args, left.kwargs) == (
        right.op,
        right.target,
        right.args,
        right.kwargs,
    )


def _rank(group: Group, focus: int | None) -> tuple[bool, bool]:
    """Of two nodes that changed places, the one that moved: the focus, else the quantization op."""
    node = group.new[0]
    return (node.id != focus, role(node) not in QUANTIZATION)


def _path(net: Net) -> str:
    for path, _ in (*net.removed, *net.added):
        return path
    return net.updated[0].path if net.updated else ""
