"""What a rewrite gained in bytes: what the data-movement ops around it move, before and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qdqviz.explain.effect import Effect
from qdqviz.explain.naming import Names
from qdqviz.ir.computed import ComputedSpecs
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import Role, role
from qdqviz.ir.text import spec_bytes


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
    was, is_now = _Moved(names.before), _Moved(names.after)
    candidates = [*(effect.crossing.crossed if effect.crossing else ())]
    candidates += [each.new.id for each in effect.net.updated if each.path == effect.path]
    candidates += names.same_as
    nodes, before, after = [], 0, 0
    for each in dict.fromkeys(candidates):
        now, then = is_now.bytes(each), was.bytes(names.same_as.get(each, each))
        if now is not None and then is not None and now != then:
            nodes.append(names.after[each])
            before, after = before + then, after + now
    paired = {node.id for group in effect.groups for node in (*group.old, *group.new)}
    gone = was.total(
        node for path, node in effect.net.removed if path == effect.path and node.id not in paired
    )
    come = is_now.total(
        node for path, node in effect.net.added if path == effect.path and node.id not in paired
    )
    return Gain(tuple(nodes), before, after, gone - come)


class _Moved:
    """Bytes that the data-movement ops of one state move."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._specs = ComputedSpecs(body)

    def bytes(self, node: int) -> int | None:
        """Bytes of what a data-movement op makes; None for any other node, and for an unknown size."""
        found = self._body.get(node)
        if found is None or role(found) is not Role.MOVEMENT:
            return None
        return spec_bytes(self._specs.spec(node))

    def total(self, nodes: Iterable[NodeState]) -> int:
        """Bytes that several nodes move, unknown ones left out."""
        return sum(self.bytes(node.id) or 0 for node in nodes)
