"""What a person who knows the graph would add to an answer."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from qdqviz.explain.answer import Why
from qdqviz.explain.guards.code import Code, dotted
from qdqviz.explain.naming import enumerated, op_word
from qdqviz.explain.nearest import are_kin
from qdqviz.explain.seen_text import op_text, seen_targets
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import op_name
from qdqviz.trace.events import Event, Kind, Site

SHAPE_QUERIES = frozenset(
    {"sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "size", "stride", "dim"}
)
"""Ops, by plain name, that read a tensor's shape and none of its data."""

COMPOSITE = frozenset(
    {"linear", "matmul", "conv1d", "conv2d", "conv3d", "batch_norm", "layer_norm", "group_norm", "chunk"}
    | {"reshape", "flatten", "unflatten", "movedim", "softmax", "adaptive_avg_pool2d", "max_pool2d"}
)
"""Ops, by plain name, that export or the lowering to edge takes apart unless they are preserved."""

_MOST_KIN = 3
"""How many members of a collection are named."""


def remarks_on(answer: Why, body: Body) -> tuple[str, ...]:
    """What the nodes that an answer names are, where that is what matters.

    Args:
        answer: The answer.
        body: The graph that holds its node, before the pass.
    """
    return (*_shape_queries(answer, body), *_nearest(answer, body))


def _shape_queries(answer: Why, body: Body) -> Iterator[str]:
    """Users that count as users, although no data flows to them."""
    guard = answer.guard
    for link in guard.nodes if guard is not None else ():
        node = body.get(link.id)
        if node is not None and node.op == "call_function" and op_name(node.target).plain in SHAPE_QUERIES:
            read = enumerated([body[each].name for each in body.inputs(node.id) if each in body])
            yield f"{node.name} reads only the shape of {read}, none of its data"


def _nearest(answer: Why, body: Body) -> Iterator[str]:
    """What the nearest node computes, and whether it is what is left of the op that is wanted."""
    nodes = [node for link in answer.nearest if (node := body.get(link.id)) is not None]
    if len(nodes) == 1:
        yield f"{nodes[0].name} is {_expression(nodes[0], body, 2)}"
    have = {op_name(node.target).plain for node in nodes}
    for wanted in dict.fromkeys(map(_plain_name, answer.wanted)):
        if wanted in COMPOSITE and have and wanted not in have:
            parts = enumerated(sorted(have))
            yield (
                f"{wanted} may have been taken apart into {parts}: preserve it in the lowering, "
                f"or run a pass before that restores it"
            )


def _plain_name(target: str) -> str:
    """`linear` for `edge.aten.linear.default`, and for `linear.default`."""
    known = op_name(target)
    return op_name(target.partition(".")[0]).plain if target.count(".") == 1 else known.plain


def _expression(node: NodeState, body: Body, depth: int) -> str:
    """`addmm(bias, view(x), permute(dequantize))`."""
    if node.op != "call_function":
        return node.name
    inputs = [body[each] for each in body.inputs(node.id) if each in body]
    if not inputs or not depth:
        return op_word(node)
    return f"{op_word(node)}({', '.join(_expression(each, body, depth - 1) for each in inputs)})"


# -- kin in a collection -----------------------------------------------------------------------------


def kin_in_collections(
    events: Sequence[Event],
    sites: Mapping[int, Site],
    nodes: Sequence[NodeState],
    code_of: Callable[[str], Code | None],
) -> tuple[str, ...]:
    """Collections that lack what one of these nodes calls, but hold an op that stands for the same.

    Args:
        events: What an attempt asked.
        sites: Sites by id.
        nodes: The nodes that the answer is about.
        code_of: Gives a file's source: what a large collection holds is read off it.
    """
    called = {op_text(node.target) for node in nodes if node.op == "call_function"}
    called |= {text.rpartition(".")[0] for text in called}
    found: dict[str, None] = {}
    for event in events:
        site = sites.get(event.site)
        if event.kind is not Kind.COMPARE or site is None or event.outcome is not (site.operator == "not in"):
            continue
        if site.operator not in ("in", "not in") or len(event.values) != 2:
            continue
        asked = [op_text(target) for target in seen_targets(event.values[0])]
        if len(asked) != 1 or asked[0] not in called:
            continue
        name = _collection_name(site)
        members = [op_text(each) for each in seen_targets(event.values[1])] or _members(
            name, code_of(site.file)
        )
        kin = [each for each in dict.fromkeys(members) if are_kin(each, asked[0])]
        if name and kin:
            found[f"{name} holds {enumerated(kin[:_MOST_KIN])}, but not {asked[0]}"] = None
    return tuple(found)


def _collection_name(site: Site) -> str:
    """The name of what a membership test searches; empty for a computed one, and for text cut short."""
    try:
        tree = ast.parse(site.text, mode="eval").body
    except SyntaxError:
        return ""
    return dotted(tree.comparators[0]) if isinstance(tree, ast.Compare) else ""


def _members(name: str, code: Code | None) -> list[str]:
    """The ops in a collection that a module binds to a name."""
    for statement in code.tree.body if code is not None else ():
        targets: list[ast.expr] = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        if value is not None and any(isinstance(each, ast.Name) and each.id == name for each in targets):
            parts = {id(node.value) for node in ast.walk(value) if isinstance(node, ast.Attribute)}
            whole = (node for node in ast.walk(value) if id(node) not in parts)
            return [text for node in whole if (text := _op_of(dotted(node)))]
    return []


def _op_of(text: str) -> str:
    """`edge.aten.clone` for `exir_ops.edge.aten.clone`; empty for what is no op, or only a part of one."""
    for prefix, kept in (("exir_ops.edge.", "edge."), ("torch.ops.", "")):
        rest = text.removeprefix(prefix)
        if rest != text and rest.count(".") in (1, 2):
            return kept + rest
    return ""
