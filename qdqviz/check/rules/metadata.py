"""Metadata that gets lost, is shared, or is handed to two nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qdqviz.check.rules.rule import Rule, Suspicion, Touched
from qdqviz.ir.change import Update
from qdqviz.ir.computed import data_source
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import op_name, role
from qdqviz.ir.values import Value

KEYS = ("debug_handle", "stack_trace", "nn_module_stack", "quantization_tag")
"""Metadata that tools downstream read: runtime debugging, error messages, delegation, quantizers."""


class SharedMetadata(Rule):
    """Two nodes hold the very same metadata dictionary: what is written to one appears on the other."""

    names = ("shared-meta",)

    def suspect(self, touched: Touched) -> Iterator[Suspicion]:
        """Look at new nodes, and at nodes whose dictionary was set."""
        changed = {
            change.node
            for change in touched.rewrite.changes
            if isinstance(change, Update) and change.field == "shares_meta" and change.path == touched.path
        }
        for node in sorted(changed | touched.region.inserted):
            state = touched.after.get(node)
            if state is not None and _sharer(state, touched.after) is not None:
                other = touched.after[state.shares_meta].name  # type: ignore[index]
                found = f"its metadata is the same dictionary as that of {other}"
                yield Suspicion(self.names[0], node, found, "a dictionary of its own (copy it)")

    def stands(self, suspicion: Suspicion, body: Body) -> bool:
        """Whether it still shares its dictionary with a node that exists."""
        return _sharer(body[suspicion.node], body) is not None


def _sharer(node: NodeState, body: Body) -> NodeState | None:
    return None if node.shares_meta is None else body.get(node.shares_meta)


class LostMetadata(Rule):
    """A node has lost a key, or a new node lacks one that what it stands for had."""

    names = tuple(f"lost-{key.replace('_', '-')}" for key in KEYS)

    def suspect(self, touched: Touched) -> Iterator[Suspicion]:
        """Look at rewritten metadata and at new nodes."""
        for change in touched.rewrite.changes:
            if isinstance(change, Update) and change.field == "meta" and change.path == touched.path:
                old, new = dict(change.old), dict(change.new)
                for key in KEYS:
                    if key in old and key not in new:
                        yield self._suspicion(change.node, key, old[key], "as before")
        for node in sorted(touched.region.inserted):
            yield from self._new_node(touched, touched.after[node])

    def _new_node(self, touched: Touched, node: NodeState) -> Iterator[Suspicion]:
        if node.op != "call_function":
            return
        models = _models(touched, node)
        for key in KEYS:
            if _has(node, key):
                continue
            had = [model for model in models if _has(model, key)]
            if had and len(had) == len(models):
                yield self._suspicion(node.id, key, had[0].meta_value(key), f"as {had[0].name} had")

    def _suspicion(self, node: int, key: str, value: Value, whence: str) -> Suspicion:
        text = f"{key} {_short(value)}" if isinstance(value, str | int) else key
        return Suspicion(f"lost-{key.replace('_', '-')}", node, f"no {key}", f"{text}, {whence}", key)

    def stands(self, suspicion: Suspicion, body: Body) -> bool:
        """Whether it still lacks the key."""
        return not _has(body[suspicion.node], suspicion.about)


def _short(value: str | int) -> str:
    line = next((line.strip() for line in str(value).splitlines() if line.strip()), "")
    return line if len(line) <= 60 else f"{line[:59]}…"


def _has(node: NodeState, key: str) -> bool:
    return any(name == key for name, _ in node.meta)


def _models(touched: Touched, node: NodeState) -> list[NodeState]:
    """The nodes that a new node's metadata should be like.

    Those that it replaces: erased ones of the same op, else of the same role, else any; where nothing was
    erased, the kept node that the pass looked at, else its kept neighbours.
    """
    gone = [touched.before[each] for each in sorted(touched.region.erased)]
    gone = [each for each in gone if each.op == "call_function"]
    plain = op_name(node.target).plain
    same_op = [each for each in gone if op_name(each.target).plain == plain]
    same_role = [each for each in gone if role(each) is role(node)]
    for found in (same_op, same_role, gone):
        if found:
            return found[:1]
    focus = touched.before.get(touched.rewrite.focus) if touched.rewrite.focus is not None else None
    if focus is not None and focus.op == "call_function":
        return [focus]
    around = [*touched.after.inputs(node.id), *touched.after.users(node.id)]
    kept = (touched.before.get(each) for each in around)
    return [each for each in kept if each is not None and each.op == "call_function"]


class CopiedHandle(Rule):
    """A new node has the debug handle of a node that is still there, though handles told nodes apart.

    The two halves of a requantize (a dequantize in front of a quantize) may have one: they stand for one op.
    """

    names = ("copied-debug-handle",)

    def suspect(self, touched: Touched) -> Iterator[Suspicion]:
        """Look at new nodes with a handle."""
        new = [touched.after[node] for node in sorted(touched.region.inserted)]
        if not any(_has(node, "debug_handle") for node in new):
            return
        before = _by_handle(touched.before)
        for node in new:
            handle = node.meta_value("debug_handle")
            owners = [each for each in before.get(handle, []) if each in touched.after]
            if handle is not None and len(before.get(handle, [])) == 1 and owners:
                if _requantizes(node, touched.after[owners[0]], touched.after):
                    continue
                name = touched.after[owners[0]].name
                found = f"debug_handle {handle}, which {name} has as well"
                yield Suspicion(self.names[0], node.id, found, "a handle of its own, or none", owners[0])

    def stands(self, suspicion: Suspicion, body: Body) -> bool:
        """Whether both still have it."""
        other = body.get(suspicion.about)
        handle = body[suspicion.node].meta_value("debug_handle")
        return other is not None and handle is not None and other.meta_value("debug_handle") == handle


def _requantizes(new: NodeState, kept: NodeState, body: Body) -> bool:
    """Whether a new dequantize feeds a quantize and nothing else."""
    halves = (str(role(new)), str(role(kept))) == ("dequantize", "quantize")
    return halves and list(body.users(new.id)) == [kept.id]


def _by_handle(body: Body) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for node in body:
        handle = node.meta_value("debug_handle")
        if handle is not None:
            found.setdefault(handle, []).append(node.id)
    return found


def bare_quantization(body: Body) -> Iterator[Suspicion]:
    """A dequantize without the metadata of the op that uses it, or a quantize without that of its op.

    Where an op is annotated (`quantization_tag`), partitioners look for the tag on the q/dq around it too.
    What several ops share (a dequantize with several users, a value with several quantizes) belongs to none
    of them, as in PortNodeMetaForQDQ.
    """
    for node in body:
        op = _belongs_to(node, body)
        if op is None or op.op != "call_function" or not _has(op, "quantization_tag"):
            continue
        for key in ("quantization_tag", "stack_trace"):
            if _has(op, key) and not _has(node, key):
                wanted = f"the {key} of {op.name}"
                yield Suspicion("bare-quantization", node.id, f"no {key}", wanted, key)


def _belongs_to(node: NodeState, body: Body) -> NodeState | None:
    """The only op that a dequantize feeds, or whose only quantize a node is."""
    kind = str(role(node))
    if kind == "dequantize":
        users = list(body.users(node.id))
        return body[users[0]] if len(users) == 1 else None
    source = data_source(node) if kind == "quantize" else None
    if source is None or source not in body:
        return None
    quantizes = [user for user in body.users(source) if str(role(body[user])) == "quantize"]
    return body[source] if quantizes == [node.id] else None
