"""A few words for each rewrite, for lists: `quantize_7 above view_2`."""

from __future__ import annotations

from qdqviz.explain.effect import Effect, Kind, effect_of, states_around
from qdqviz.explain.naming import Names, counted, op_word, op_words
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import op_name
from qdqviz.trace.model import Rewrite
from qdqviz.trace.reader import Trace


def title(trace: Trace, rewrite: Rewrite) -> str:
    """What a rewrite did, in a few words.

    Text from the graph is in it as it is: make it safe (`qdqviz.ir.text.safe_text`) where it is shown.

    Args:
        trace: The trace.
        rewrite: One of its rewrites, with its changes.
    """
    before, after = states_around(trace, rewrite)
    return title_of(effect_of(rewrite, before, after), before, after)


def title_of(effect: Effect, before: GraphState, after: GraphState) -> str:
    """What a rewrite did, in a few words, given the states around it."""
    names = Names(effect, before, after)
    old, new = effect.old, effect.new
    match effect.kind:
        case Kind.MOVED if effect.crossing is not None:
            return f"{_few(old, names)} {effect.crossing.direction} {_few(names.crossed(effect), names)}"
        case Kind.FUSED | Kind.SPLIT | Kind.REPLACED:
            return _became(old, new)
        case Kind.FOLDED:
            return f"{_few(old, names)} into {_few(new, names)}"
        case Kind.MERGED:
            return f"{_few(old, names)} merged into {_few(new, names)}"
        case Kind.REMOVED:
            return f"remove {_few(old, names)}"
        case Kind.INSERTED:
            return f"insert {_few(new, names)}"
        case Kind.COPIED:
            return f"copy {_few(old, names)}" + (f" {len(new)} times" if len(new) > 1 else "")
        case Kind.REORDERED:
            return f"{_few(old, names)} {order_word(effect)}"
        case Kind.RENEWED:
            return f"{_few(old, names)} made anew"
        case Kind.REWIRED:
            return f"rewire {_few(old, names)}"
        case Kind.ARGUMENTS:
            return f"arguments of {_few(old, names)}"
        case Kind.CONSTANTS:
            return f"constant of {_few(old, names)}"
        case Kind.METADATA:
            return f"metadata of {_few(old, names)}"
        case Kind.RENAMED:
            return f"{names.of(old[0])} renamed" if len(new) == 1 else f"{len(new)} nodes renamed"
        case Kind.GRAPH:
            return _graph(effect)
    return "no difference"


def order_word(effect: Effect) -> str:
    """`earlier`, `later`, or `reordered` where nodes went both ways."""
    ways = {each.new.order < each.old.order for each in effect.changed}
    return "reordered" if len(ways) != 1 else "earlier" if ways.pop() else "later"


def _few(nodes: tuple[NodeState, ...] | list[NodeState], names: Names) -> str:
    """One node by its name; of several equal ones how many, else the first and how many more."""
    if len(nodes) == 1:
        return names.of(nodes[0])
    words = {op_word(node) for node in nodes}
    if len(words) == 1:
        return f"{len(nodes)} {words.pop()}"
    return f"{names.of(nodes[0])} and {len(nodes) - 1} more"


def _became(old: tuple[NodeState, ...], new: tuple[NodeState, ...]) -> str:
    left, right = _words(old), _words(new)
    if left == right and len(old) == len(new) == 1:
        left, right = (f"{op_name(node.target).namespace}.{op_word(node)}" for node in (*old, *new))
    return f"{left} → {right}"


def _words(nodes: tuple[NodeState, ...]) -> str:
    return op_words(nodes) if len(nodes) < 5 else counted(len(nodes), "node")


def _graph(effect: Effect) -> str:
    net = effect.net
    if net.graphs_added:
        return f"new graph {net.graphs_added[0]}"
    return f"drop graph {net.graphs_dropped[0]}" if net.graphs_dropped else "graph replaced"
