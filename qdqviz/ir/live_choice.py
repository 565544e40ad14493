"""Which nodes' values count in live ranges."""

from __future__ import annotations

from collections.abc import Sequence

from qdqviz.ir.node import NodeState, ScalarSpec
from qdqviz.ir.roles import QUANTIZATION, Role, role


def chosen_nodes(nodes: Sequence[NodeState], roles: dict[int, Role], which: str) -> frozenset[int]:
    """Identities of the nodes whose values count.

    Args:
        nodes: All nodes of a graph in execution order.
        roles: Their roles.
        which: qdq, carried or all, see `qdqviz.ir.liveness.Which`.
    """
    if which == "all":
        return frozenset(node for node, found in roles.items() if found is not Role.CONSTANT)
    made = {node for node, found in roles.items() if found in QUANTIZATION}
    return frozenset(made if which == "qdq" else _carried(nodes, roles, made))


def _carried(nodes: Sequence[NodeState], roles: dict[int, Role], made: set[int]) -> set[int]:
    """What q/dq nodes make, what is moved on from there, and what is moved towards them."""
    carriers = (Role.MOVEMENT, Role.GETITEM)
    forward, backward = set(made), set[int]()
    for node in nodes:
        if roles[node.id] in carriers and not forward.isdisjoint(node.input_ids()):
            forward.add(node.id)
    for node in reversed(nodes):
        if roles[node.id] in QUANTIZATION:
            backward.update(node.input_ids()[:1])
        elif node.id in backward and roles[node.id] in carriers:
            backward.update(node.input_ids())
    backward = {node for node in backward if roles.get(node, Role.CONSTANT) is not Role.CONSTANT}
    return forward | backward


def roles_of(nodes: Sequence[NodeState]) -> dict[int, Role]:
    """The role of every node, decided once for each target."""
    known: dict[tuple[str, str, bool], Role] = {}
    found: dict[int, Role] = {}
    for node in nodes:
        if node.constant is not None:
            found[node.id] = role(node)
            continue
        key = node.op, node.target, type(node.spec) is ScalarSpec
        if key not in known:
            known[key] = role(node)
        found[node.id] = known[key]
    return found
