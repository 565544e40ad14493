"""What a graph has instead of the op that a pass asks for: that of another dialect, or its next of kin."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from dataclasses import replace

from qdqviz.explain.answer import Guard, NodeLink, Why
from qdqviz.explain.evidence import Evidence
from qdqviz.explain.seen_text import op_text
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import OpName, op_name
from qdqviz.trace.model import PassRun

MOST_NEAREST = 3
"""How many nodes are named."""

LIKE = 0.6
"""How much two op names must have in common, by difflib's ratio."""

KIN = (
    # What ATen's decompositions and export turn into each other (torch/_decomp/decompositions.py).
    frozenset({"linear", "addmm", "mm", "bmm", "baddbmm", "matmul"}),
    frozenset({"convolution", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d"}),
    frozenset({"view", "reshape", "squeeze", "unsqueeze", "flatten", "unflatten", "unsafe_view"}),
    frozenset({"permute", "transpose", "t", "movedim"}),
    frozenset({"split", "split_with_sizes", "chunk", "unbind", "slice", "select"}),
    frozenset({"clone", "clone_dim_order", "contiguous", "to_dim_order", "alias"}),
    frozenset({"batch_norm", "native_batch_norm", "native_batch_norm_legit_no_training"}),
    frozenset({"layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "rms_norm"}),
    frozenset({"softmax", "log_softmax", "safe_softmax"}),
    frozenset({"avg_pool2d", "adaptive_avg_pool2d", "mean"}),
    frozenset({"max_pool2d", "max_pool2d_with_indices", "amax"}),
    frozenset({"upsample_bilinear2d", "upsample_nearest2d", "interpolate"}),
)
"""Ops that stand for one another, by plain name."""


def nearest_to(body: Body, wanted: Sequence[str], path: str) -> tuple[NodeLink, ...]:
    """The nodes of a graph that come nearest to some targets; none where nothing comes near."""
    scored = [(score, node) for node in body if (score := max((_score(node, w) for w in wanted), default=0))]
    best = max((score for score, _ in scored), default=0)
    found = [node for score, node in scored if score == best]
    return tuple(NodeLink(node.id, node.name, path) for node in found[:MOST_NEAREST])


def absent_targets(body: Body, wanted: Sequence[str]) -> tuple[str, ...]:
    """Those of some targets that no node of a graph calls."""
    present = {name for node in body for name in (node.target, _packet(node.target), *_names(node.target))}
    return tuple(target for target in wanted if target not in present and _packet(target) not in present)


def wanted_here(evidence: Evidence, run: PassRun, answer: Why) -> Why:
    """An answer whose guard compared the node's target with ones that the graph lacks, with the nearest."""
    guard, link = answer.guard, answer.node
    if guard is None or link is None:
        return answer
    body = evidence.known_before(run, link.path)
    node = body.get(link.id)
    if node is None or node.op not in ("call_function", "call_method", "call_module"):
        return answer  # an output's target reads like its kind, and that was compared
    wanted = tuple(
        dict.fromkeys(target for each in (guard, *guard.siblings) for target in _wanted(each, node))
    )
    if not wanted or absent_targets(body, wanted) != wanted:
        return answer
    near = tuple(each for each in nearest_to(body, wanted, link.path) if each.id != link.id)
    return replace(answer, wanted=wanted, nearest=near)


def are_kin(one: str, other: str) -> bool:
    """Whether two targets are different ops that stand for one another."""
    left, right = op_name(one), op_name(other)
    if (left.namespace, left.base) == (right.namespace, right.base):
        return False
    return left.plain == right.plain or any(left.plain in kin and right.plain in kin for kin in KIN)


def with_kinship(evidence: Evidence, run: PassRun, answer: Why) -> Why:
    """An answer that says how near the node, or else the nearest one, comes to what the pass asks for."""
    if answer.verdict not in ("declined", "never"):
        return answer
    for link in (answer.node, *answer.nearest):
        node = evidence.known_before(run, link.path).get(link.id) if link is not None else None
        said = _kinship(node.target, answer.wanted) if node is not None and node.op == "call_function" else ""
        if node is not None and said:
            return replace(answer, kinship=f"{node.name} calls {op_text(node.target)}: {said}")
    return answer


def _kinship(target: str, wanted: Sequence[str]) -> str:
    """How a target differs from the nearest of those wanted, if in overload or dialect only."""
    have, edge = op_name(target), target.startswith("edge.")
    found: dict[tuple[bool, bool], str] = {}
    for text in map(op_text, wanted):
        want = op_name(text)
        if (have.namespace, have.base) == (want.namespace, want.base):
            overload = bool(have.overload and want.overload) and have.overload != want.overload
            found.setdefault((overload, edge != text.startswith("edge.")), text)
    for (overload, dialect), text in sorted(found.items()):
        if overload:
            return f"another overload of {text}{', and another dialect' if dialect else ''}"
        if dialect:
            return f"the {'edge dialect' if edge else 'plain'} form of {text}"
    return ""


def _wanted(guard: Guard, node: NodeState) -> list[str]:
    """The targets that a guard compared the node's own target with, be it by their names."""
    own = {node.target, _packet(node.target)}
    targets = [target for seen in guard.values for target in seen.targets]
    if any(target in own or _packet(target) in own for target in targets):
        return [target for target in targets if target not in own]
    names = _names(node.target)
    said = [seen.value.strip("'") for seen in guard.values if seen.value.startswith("'")]
    if any(text in names for text in said):
        return [text for text in (*_literals(guard.text), *said) if text not in names]
    return []


def _names(target: str) -> set[str]:
    """What a pass may call a target by, whatever its dialect: `linear.default`, `linear`."""
    name = op_name(target)
    full = f"{name.base}.{name.overload}"
    return {name.base, full, f"{name.namespace}.{full}"}


def _literals(text: str) -> list[str]:
    """The string literals that an expression compares something with."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:  # cut short
        return []
    if not isinstance(tree.body, ast.Compare):
        return []
    found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [value for value in found if isinstance(value, str) and value]


def _packet(target: str) -> str:
    """A target without its overload; the packets of edge ops come out as their overloads do."""
    text = op_text(target)
    name = op_name(text)
    dialect = "edge." if text.startswith("edge.") else ""
    return f"{dialect}{name.namespace}.{name.base}" if name.overload else text


def _wanted_name(wanted: str) -> OpName:
    """A target taken apart; `linear.default` is a name with an overload."""
    base, dot, overload = wanted.partition(".")
    return OpName("", base, overload) if dot and "." not in overload else op_name(wanted)


def _score(node: NodeState, wanted: str) -> int:
    """How near a node's op comes to a target: 0 for not at all."""
    if node.op != "call_function":
        return 0
    if wanted in (node.target, *_names(node.target)):
        return 0
    have, want = op_name(node.target), _wanted_name(wanted)
    if (have.namespace, have.base) == (want.namespace, want.base):
        return 5
    if have.plain == want.plain:
        return 4
    if any(have.plain in kin and want.plain in kin for kin in KIN):
        return 3
    ratio = difflib.SequenceMatcher(None, have.plain, want.plain).ratio()
    return 2 if ratio >= LIKE else 0
