"""What is different about a node's arguments, by parameter name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qdqviz.ir.change import same
from qdqviz.ir.node import NodeState, OpInfo
from qdqviz.ir.text import value_text
from qdqviz.ir.values import Ref, Value, map_refs

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """One argument that differs."""

    name: str
    """Parameter name; `argument 2` where there is no schema."""
    old: str | None
    """Its value before, as text; None where it was not given."""
    new: str | None
    """Its value after, as text; None where it is not given."""

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.name} {self.new}, left out before"
        if self.new is None:
            return f"{self.name} left out, {self.old} before"
        return f"{self.name} {self.new} instead of {self.old}"


def differences(
    old: NodeState,
    new: NodeState,
    ops: Mapping[str, OpInfo],
    name_of: Callable[[int], str],
    *,
    literals: bool,
) -> list[Difference]:
    """The arguments of a node that differ before and after.

    Args:
        old: The node before.
        new: The node after; of the same target.
        ops: What is known of call targets.
        name_of: Gives a node's name from its identity.
        literals: Leave out arguments that differ in nothing but which nodes they use.
    """
    before: dict[str, Any] = dict(_named(old, ops))
    after: dict[str, Any] = dict(_named(new, ops))
    found = []
    for name in dict.fromkeys((*before, *after)):
        left, right = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if _alike(left, right, literals):
            continue
        texts = [None if v is _ABSENT else value_text(v, name_of) for v in (left, right)]
        found.append(Difference(name, *texts))
    return found


def _named(node: NodeState, ops: Mapping[str, OpInfo]) -> Iterator[tuple[str, Value]]:
    params = ops[node.target].params if node.target in ops else ()
    for index, value in enumerate(node.args):
        yield (params[index] if index < len(params) else f"argument {index}"), value
    yield from node.kwargs


def _alike(left: Any, right: Any, literals: bool) -> bool:
    if left is _ABSENT or right is _ABSENT or not literals:
        return same(left, right)
    return same(_without_nodes(left), _without_nodes(right))


def _without_nodes(value: Value) -> Value:
    return map_refs(value, lambda _: Ref(-1))
