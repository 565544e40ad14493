"""The words for each kind of rewrite: the first half of its sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from qdqviz.explain.arguments import Difference, differences
from qdqviz.explain.effect import Effect, Kind
from qdqviz.explain.naming import Names, counted, enumerated, op_word, op_words
from qdqviz.explain.title import order_word
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState, OpInfo
from qdqviz.ir.roles import Role, role

Ops = Mapping[str, OpInfo]
"""What is known of call targets."""


def wording(effect: Effect, names: Names, ops: Ops) -> str:
    """What a rewrite did, without a full stop and without what it gained."""
    return _WORDING[effect.kind](effect, names, ops)


def _moved(effect: Effect, names: Names, ops: Ops) -> str:
    if effect.crossing is None:
        raise ValueError("a node that moved has crossed something")
    what = names.list(effect.old)
    text = f"Moved {what} {effect.crossing.direction} {_chain(names.crossed(effect), names)}"
    if len(effect.new) > len(effect.old):
        text += f", as {len(effect.new)} copies"
    elif len(effect.new) < len(effect.old):
        text += f", merged into {counted(len(effect.new), 'node')}"
    adapted = [str(d) for d in _changes(effect.old[0], effect.new[0], names, ops)]
    text += f", with {enumerated(adapted)}" if adapted else ""
    return text + _besides(effect, names)


def _became(effect: Effect, names: Names, ops: Ops) -> str:
    old, new = effect.old, effect.new
    if effect.kind is Kind.FUSED:
        return f"Fused {_with_ops(old, names)} into {_with_ops(new, names)}"
    verb = "Split" if effect.kind is Kind.SPLIT and len(old) == 1 else "Replaced"
    if len(old) == len(new) == 1 and old[0].name == new[0].name:
        return f"Turned {names.of(new[0])} from {op_word(old[0])} into {op_word(new[0])}"
    link = "into" if verb == "Split" else "by"
    return f"{verb} {_with_ops(old, names)} {link} {_with_ops(new, names)}"


def _folded(effect: Effect, names: Names, ops: Ops) -> str:
    text = f"Folded {names.list(effect.old)} into {names.list(effect.new)}"
    taken = [str(d) for each in effect.changed for d in _changes(each.old, each.new, names, ops)]
    return text + (f", with {enumerated(taken)}" if taken else "")


def _merged(effect: Effect, names: Names, ops: Ops) -> str:
    if effect.groups and effect.new and effect.new[0].id in {n.id for _, n in effect.net.added}:
        return f"Merged {names.list(effect.old)} into {names.list(effect.new)}"
    return f"Merged {names.list(effect.old)} into {names.list(effect.new)}, which does the same"


def _removed(effect: Effect, names: Names, ops: Ops) -> str:
    what = names.list(effect.old)
    if len(effect.old) > 3:
        what = f"{counted(len(effect.old), 'node')} ({op_words(effect.old)})"
    if not effect.changed:
        return (
            f"Removed {what}, which nothing used"
            if len(effect.old) == 1
            else f"Removed {what}: nothing used them"
        )
    readers = _readers_by_source(effect)
    if not readers:
        return f"Removed {what} from the inputs of {names.list([each.new for each in effect.changed])}"
    clauses = [
        f"{names.list(users)} now {'reads' if len(users) == 1 else 'read'} {names.of_id(source)}"
        for source, users in readers.items()
    ]
    return f"Removed {what}: {', '.join(clauses) if len(clauses) <= 3 else clauses[0] + ' and so on'}"


def _copied(effect: Effect, names: Names, ops: Ops) -> str:
    text = f"Copied {names.list(effect.old)}"
    text += f" as {names.list(effect.new)}"
    return text + (f" for {names.list([each.new for each in effect.changed])}" if effect.changed else "")


def _inserted(effect: Effect, names: Names, ops: Ops) -> str:
    new = {node.id for node in effect.new}
    sources = [
        ref for node in effect.new for ref in node.input_ids() if ref in names.before and ref not in new
    ]
    data = [names.of_id(ref) for ref in dict.fromkeys(sources)][:1]
    what = _with_ops(effect.new, names)
    renewed = [node for group in effect.groups for node in group.new]
    readers = [
        node for node in (*(each.new for each in effect.changed), *renewed) if set(node.input_ids()) & new
    ]
    if data and readers:
        return f"Inserted {what} between {data[0]} and {names.list(readers)}"
    if data:
        return f"Inserted {what} after {data[0]}"
    return f"Inserted {what}" + (f" before {names.list(readers)}" if readers else "")


def _rewired(effect: Effect, names: Names, ops: Ops) -> str:
    first = effect.changed[0]
    now, then = _fresh(first.old, first.new), _fresh(first.new, first.old)
    text = f"Rewired {names.list(effect.old)}"
    if not now or not then:
        return text
    reads = (
        f"{enumerated([names.of_id(r) for r in now])} instead of {enumerated([names.of_id(r) for r in then])}"
    )
    return f"{text} to read {reads}"


def _renewed(effect: Effect, names: Names, ops: Ops) -> str:
    return f"Made {names.list(effect.old)} anew as {names.list(effect.new)}"


def _arguments(effect: Effect, names: Names, ops: Ops) -> str:
    first = effect.changed[0]
    found = [str(d) for d in _changes(first.old, first.new, names, ops)]
    return f"Changed {names.list(effect.old)}" + (f": {enumerated(found)}" if found else "")


def _constants(effect: Effect, names: Names, ops: Ops) -> str:
    targets = [node.constant.target if node.constant is not None else names.of(node) for node in effect.new]
    return f"Edited the content of {enumerated(targets)}"


def _reordered(effect: Effect, names: Names, ops: Ops) -> str:
    word = order_word(effect)
    if word == "reordered":
        return f"Reordered {names.list(effect.old)}"
    text = f"Moved {names.list(effect.old)} {word} in the execution order"
    if len(effect.new) > 1:
        return text
    near = _last_source if word == "earlier" else _first_user
    neighbour = near(names.after, effect.new[0])
    return text + (f", nearer to {names.of(neighbour)}" if neighbour is not None else "")


def _metadata(effect: Effect, names: Names, ops: Ops) -> str:
    keys: dict[str, None] = {}
    for each in effect.changed:
        old, new = dict(each.old.meta), dict(each.new.meta)
        keys.update(
            dict.fromkeys(k for k in (*old, *new) if old.get(k) != new.get(k) or (k in old) != (k in new))
        )
        keys.update({"val": None} if "spec" in each.fields else {})
    which = enumerated(list(keys)) or "the dictionary that nodes share"
    return f"Metadata only: {which} of {names.list(effect.old)}"


def _renamed(effect: Effect, names: Names, ops: Ops) -> str:
    if len(effect.new) > 1:
        return f"Renamed {counted(len(effect.new), 'node')}"
    old, new = effect.old[0], effect.new[0]
    if old.target != new.target:
        return f"Renamed the attribute {old.target} to {new.target}"
    return f"Renamed {old.name} to {new.name}"


def _graph(effect: Effect, names: Names, ops: Ops) -> str:
    net = effect.net
    if net.graphs_added or net.graphs_dropped:
        verb, paths = ("Added", net.graphs_added) if net.graphs_added else ("Dropped", net.graphs_dropped)
        nodes = sum(path in paths for path, _ in (net.added if net.graphs_added else net.removed))
        return f"{verb} the sub-graph {enumerated(paths)} with {counted(nodes, 'node')}"
    return (
        f"Replaced the whole graph: {counted(len(net.removed), 'node')} by {counted(len(net.added), 'node')}"
    )


def _nothing(effect: Effect, names: Names, ops: Ops) -> str:
    return "Changed nothing in the end: the edits cancel out"


_WORDING: Mapping[Kind, Callable[[Effect, Names, Ops], str]] = {
    Kind.MOVED: _moved,
    Kind.FUSED: _became,
    Kind.REPLACED: _became,
    Kind.SPLIT: _became,
    Kind.FOLDED: _folded,
    Kind.MERGED: _merged,
    Kind.REMOVED: _removed,
    Kind.COPIED: _copied,
    Kind.INSERTED: _inserted,
    Kind.REWIRED: _rewired,
    Kind.ARGUMENTS: _arguments,
    Kind.CONSTANTS: _constants,
    Kind.REORDERED: _reordered,
    Kind.METADATA: _metadata,
    Kind.RENAMED: _renamed,
    Kind.GRAPH: _graph,
    Kind.RENEWED: _renewed,
    Kind.NOTHING: _nothing,
}


def _chain(nodes: Sequence[NodeState], names: Names) -> str:
    """`view_2`, `view_2 and permute_4`, `4 nodes (view_2 to permute_9)`."""
    if len(nodes) <= 3:
        return names.list(nodes)
    return f"{len(nodes)} nodes ({names.of(nodes[0])} to {names.of(nodes[-1])})"


def _with_ops(nodes: Sequence[NodeState], names: Names) -> str:
    """Nodes by name, or of many how many and what they call."""
    if len(nodes) <= 3:
        return names.list(nodes)
    return f"{counted(len(nodes), 'node')} ({op_words(nodes)})"


def _besides(effect: Effect, names: Names) -> str:
    """What else came or went with a move; the nodes that were merely made anew are no news."""
    paired = {node.id for group in effect.groups for node in (*group.old, *group.new)}
    shown = (Role.CONSTANT, Role.INPUT, Role.GETITEM)
    gone, come = (
        [node for _, node in nodes if node.id not in paired and role(node) not in shown]
        for nodes in (effect.net.removed, effect.net.added)
    )
    text = f", removed {_with_ops(gone, names)}" if gone else ""
    return text + (f", inserted {_with_ops(come, names)}" if come else "")


def _changes(old: NodeState, new: NodeState, names: Names, ops: Ops) -> list[Difference]:
    """Arguments that differ in more than which nodes they use."""
    if old.target != new.target:
        return []
    return differences(old, new, ops, names.of_id, literals=True)


def _fresh(old: NodeState, new: NodeState) -> list[int]:
    """Nodes that `new` uses and `old` did not."""
    before = set(old.input_ids())
    return [ref for ref in new.input_ids() if ref not in before]


def _readers_by_source(effect: Effect) -> dict[int, list[NodeState]]:
    """What is read instead of nodes that are gone -> the nodes that read it."""
    gone = {node.id for _, node in effect.net.removed}
    found: dict[int, list[NodeState]] = {}
    for each in effect.changed:
        if set(each.old.input_ids()) & gone:
            for source in _fresh(each.old, each.new):
                found.setdefault(source, []).append(each.new)
    return found


def _last_source(body: Body, node: NodeState) -> NodeState | None:
    """The last node to run among those that `node` uses."""
    sources = [body[ref] for ref in body.inputs(node.id)]
    return max(sources, key=lambda each: each.order, default=None)


def _first_user(body: Body, node: NodeState) -> NodeState | None:
    """The first node to run among those that use `node`."""
    users = body.users(node.id)
    return body[users[0]] if users else None
