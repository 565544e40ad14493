"""Values by node, within a memory cap, and how they are computed from one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from qdqviz.check.operations import Missing
from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState

CAP = 1 << 30
"""Bytes of values that a world keeps by default; others are computed again when they are asked for."""


ABSENT = object()
"""Stands for no value; None is one."""


@dataclass
class Values:
    """Values by node, within a memory cap: the oldest are dropped first."""

    cap: int
    """Bytes."""
    _held: dict[int, Any] = field(default_factory=dict)
    _pinned: dict[int, Any] = field(default_factory=dict)
    _bytes: int = 0

    def get(self, node: int, default: Any = None) -> Any:
        """The value, or `default`."""
        if node in self._pinned:
            return self._pinned[node]
        return self._held.get(node, default)

    def __contains__(self, node: int) -> bool:
        return node in self._held or node in self._pinned

    def put(self, node: int, value: Any) -> None:
        """Keep a value; others may be dropped for it."""
        self.drop(node)
        self._held[node] = value
        self._bytes += size_of(value)
        while self._bytes > self.cap and len(self._held) > 1:
            self.drop(next(iter(self._held)))

    def pin(self, node: int, value: Any) -> None:
        """Keep a value that cannot be computed again."""
        self.drop(node)
        self._pinned[node] = value

    def drop(self, node: int) -> None:
        """Forget a value."""
        self._pinned.pop(node, None)
        if node in self._held:
            self._bytes -= size_of(self._held.pop(node))


def evaluate(
    body: Body,
    wanted: Sequence[int],
    known: Callable[[int], Any],
    run: Callable[[NodeState], Any],
    into: dict[int, Any],
) -> None:
    """Compute nodes and what they need, inputs first, without recursion.

    Args:
        body: The graph.
        wanted: The nodes.
        known: A node's value, or `ABSENT`; sees what is put into `into`.
        run: Computes a node whose inputs are known.
        into: Takes the values.
    """
    stack, opened = list(reversed(wanted)), set[int]()
    while stack:
        node = stack[-1]
        if known(node) is not ABSENT:
            stack.pop()
            continue
        state = body.get(node)
        if state is None:
            into[node] = Missing(str(node), "", "it uses a node that does not exist", fails=True)
            continue
        waiting = [each for each in state.input_ids() if known(each) is ABSENT]
        if not waiting:
            into[node] = run(state)
        elif node in opened:
            into[node] = Missing(state.name, state.target, "it uses its own value", fails=True)
        else:
            opened.add(node)
            stack.extend(reversed(waiting))


def size_of(value: Any) -> int:
    """Bytes of the tensors in a value."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, list | tuple):
        return sum(map(size_of, value))
    return 0
