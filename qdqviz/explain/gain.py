"""What a rewrite gained in bytes: what the data-movement ops around it move, before and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qdqviz.explain.effect import Effect
from qdqviz.explain.naming import Names
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState, TensorSpec
from qdqviz.ir.qparams import qparams
from qdqviz.ir.roles import Role, role

DEEPEST = 200
"""Data-movement ops that are followed upwards to learn an element type."""


@dataclass(frozen=True, slots=True)
class Gain:
    """Bytes that data-movement ops move, before and after a rewrite."""

    nodes: tuple[NodeState, ...]
    """Ops that move another number of bytes now, as they are after the rewrite."""
    before: int
    """Bytes that they moved."""
    after: int
    """Bytes that they move."""
    saved: int = 0
    """Bytes moved by data-movement ops that are gone, less those moved by new ones."""


def gain_of(effect: Effect, names: Names) -> Gain:
    """The bytes that a rewrite gained; sizes of unknown dimensions count for nothing."""
    same_as = names.same_as
    candidates = [*(effect.crossing.crossed if effect.crossing else ())]
    candidates += [each.new.id for each in effect.net.updated if each.path == effect.path]
    candidates += same_as
    nodes, before, after = [], 0, 0
    for each in dict.fromkeys(candidates):
        now = moved_bytes(names.after, each)
        then = moved_bytes(names.before, same_as.get(each, each))
        if now is not None and then is not None and now != then:
            nodes.append(names.after[each])
            before, after = before + then, after + now
    paired = {node.id for group in effect.groups for node in (*group.old, *group.new)}
    gone = _total(names.before, effect.net.removed, effect.path, paired)
    come = _total(names.after, effect.net.added, effect.path, paired)
    return Gain(tuple(nodes), before, after, gone - come)


def moved_bytes(body: Body, node: int) -> int | None:
    """Bytes of what a data-movement op makes; None for any other node, and for an unknown size."""
    found = body.get(node)
    if found is None or role(found) is not Role.MOVEMENT:
        return None
    dtype = element_type(body, node)
    if dtype is None or not isinstance(found.spec, TensorSpec):
        return None
    return TensorSpec(dtype, found.spec.shape).nbytes


def element_type(body: Body, node: int) -> str | None:
    """The dtype of a node's value, told from the nearest node above that sets one.

    A pass that moves a quantize leaves the recorded value of what it passed as it was; data movement
    keeps the dtype of its input, so that is where to look.
    """
    for _ in range(DEEPEST):
        found = body.get(node)
        if found is None:
            return None
        kind = role(found)
        if kind is Role.QUANTIZE and (params := qparams(found)) is not None and params.dtype:
            return params.dtype
        inputs = body.inputs(node)
        keeps_dtype = kind is Role.MOVEMENT and "to_dim_order" not in found.target
        if not keeps_dtype or not inputs:
            return found.spec.dtype if isinstance(found.spec, TensorSpec) else _real(found, kind)
        node = inputs[0]
    return None


def _real(node: NodeState, kind: Role) -> str | None:
    if kind is not Role.DEQUANTIZE:
        return None
    params = qparams(node)
    return (params.real_dtype if params is not None else None) or "float32"


def _total(body: Body, nodes: Iterable[tuple[str, NodeState]], path: str, but: set[int]) -> int:
    return sum(
        moved_bytes(body, node.id) or 0 for where, node in nodes if where == path and node.id not in but
    )
