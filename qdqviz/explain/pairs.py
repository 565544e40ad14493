"""Nodes that a pass erased and created anew: a pass moves a node by making an equal one elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

from qdqviz.explain.net import Net, signature
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import QUANTIZATION, role


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that are gone and nodes that came in their place."""

    path: str
    """Graph that holds them."""
    old: tuple[NodeState, ...]
    """Equal nodes, as they were; several where a pass merges them."""
    new: tuple[NodeState, ...]
    """Equal nodes, as they are; several where a pass copies one for each user."""

    def pairs(self) -> Iterator[tuple[NodeState, NodeState]]:
        """Each new node with the old one that it stands for."""
        for index, new in enumerate(self.new):
            yield new, self.old[min(index, len(self.old) - 1)]


def groups_of(net: Net) -> tuple[Group, ...]:
    """Which of the new nodes stand for which of the nodes that are gone; quantization ops first.

    First those are matched that do exactly the same to their input; then, where one node of a target
    is left on either side, those two, though an argument differs (a channel axis or a permutation that
    was adapted to the new place).
    """
    exact = _match(net, {}, lambda node: signature(node))
    paired = {node.id: True for group in exact for node in (*group.old, *group.new)}
    adapted = _match(net, paired, _target_of_call)
    single = [group for group in adapted if len(group.old) == len(group.new) == 1]
    return tuple(sorted((*exact, *single), key=_rank))


def _match(net: Net, but: dict[int, bool], key: Callable[[NodeState], Hashable | None]) -> list[Group]:
    gone, come = _by_key(net.removed, but, key), _by_key(net.added, but, key)
    return [Group(place[0], tuple(old), tuple(come[place])) for place, old in gone.items() if place in come]


def _by_key(
    nodes: tuple[tuple[str, NodeState], ...],
    but: dict[int, bool],
    key: Callable[[NodeState], Hashable | None],
) -> dict[tuple[str, Hashable], list[NodeState]]:
    found: dict[tuple[str, Hashable], list[NodeState]] = defaultdict(list)
    for path, node in nodes:
        value = key(node)
        if node.id not in but and value is not None:
            found[path, value].append(node)
    return dict(found)


def _target_of_call(node: NodeState) -> Hashable | None:
    return node.target if node.op.startswith("call_") else None


def _rank(group: Group) -> bool:
    return role(group.new[0]) not in QUANTIZATION
