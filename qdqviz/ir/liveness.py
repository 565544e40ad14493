"""Live ranges: how long each value is needed, and how many bytes are alive at a time.

A value is alive from the step that makes it to the last step that uses it, both included; a step is the
execution of one node, in the graph's order. What the graph returns is alive to the end, a value that
nobody uses for one step. Every value counts with its own bytes: whether a runtime lets a view share its
input's memory is the runtime's affair. What a value is follows `qdqviz.ir.computed`. Parameters and other
constants do not count, they are never freed.

A node with several outputs has a value per output, and `getitem` makes none: it names one of those.
Each graph of a program is looked at by itself; a control-flow node uses what it passes to its sub-graphs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from qdqviz.ir.computed import computed_specs
from qdqviz.ir.graph import Body
from qdqviz.ir.last_uses import LastUses
from qdqviz.ir.live_choice import chosen_nodes, roles_of
from qdqviz.ir.node import Dim, NodeState, Spec, TensorSpec
from qdqviz.ir.text import is_real, spec_bytes

_Sizes: TypeAlias = "dict[tuple[str, tuple[Dim, ...]], int | None]"

Which = Literal["qdq", "carried", "all"]
"""Which values count.

qdq: those made by quantize, dequantize and requantize nodes. carried: these, what data movement makes of
them, and what data movement brings to them: here it shows that a rewrite moved a quantize or a dequantize.
all: all values but constants.
"""


@dataclass(frozen=True, slots=True)
class LiveRange:
    """One value and the steps in which it is alive."""

    node: int
    """Identity of the node that makes it."""
    output: int | None
    """Which output of that node, or None where it has one only."""
    name: str
    """Name of the node that makes it."""
    dtype: str
    """dtype of the value; of a nested output that of its first tensor."""
    nbytes: int | None
    """Bytes of the value; None if a size is unknown."""
    start: int
    """Step that makes it: an index into the graph's execution order."""
    end: int
    """Last step in which it is needed."""
    last_user: int | None
    """Identity of the node that uses it last; None where nobody does."""
    returned: bool
    """True where the graph returns it."""

    @property
    def steps(self) -> int:
        """Number of steps in which it is alive, at least 1."""
        return self.end - self.start + 1

    @property
    def byte_steps(self) -> int:
        """Bytes times steps; 0 where the bytes are unknown."""
        return (self.nbytes or 0) * self.steps

    @property
    def is_real(self) -> bool:
        """True for floating-point values."""
        return is_real(self.dtype)

    @property
    def key(self) -> tuple[int, int | None]:
        """Names the value, the same before and after a step."""
        return self.node, self.output


@dataclass(frozen=True, slots=True)
class Liveness:
    """The live ranges of one graph."""

    which: str
    """`qdq`, `carried`, `all`, or `chosen`."""
    ranges: tuple[LiveRange, ...]
    """By the step that makes the value."""
    length: int
    """Number of steps: nodes of the graph."""
    peak_bytes: int
    """Most bytes alive in one step."""
    peak_step: int
    """First step with that many."""
    byte_steps: int
    """Sum over all steps of the bytes alive."""
    unknown: int
    """How many values have no known size; they count as 0 bytes."""

    @property
    def real_byte_steps(self) -> int:
        """The part of `byte_steps` that floating-point values make."""
        return sum(item.byte_steps for item in self.ranges if item.is_real)

    def of(self, node: int) -> tuple[LiveRange, ...]:
        """The ranges of one node's outputs."""
        return tuple(item for item in self.ranges if item.node == node)


@dataclass(frozen=True, slots=True)
class RangeChange:
    """What a step does to one value's range."""

    before: LiveRange | None
    """None where the value is new."""
    after: LiveRange | None
    """None where the value is gone."""

    @property
    def steps(self) -> int:
        """By how many steps it lives longer."""
        return (self.after.steps if self.after else 0) - (self.before.steps if self.before else 0)

    @property
    def byte_steps(self) -> int:
        """By how many byte-steps it grows."""
        return (self.after.byte_steps if self.after else 0) - (self.before.byte_steps if self.before else 0)


@dataclass(frozen=True, slots=True)
class LiveDifference:
    """Live ranges before and after a step, side by side."""

    before: Liveness
    """Before."""
    after: Liveness
    """After."""
    changes: tuple[RangeChange, ...]
    """Values that came, went, or live for another number of steps or bytes, in order of their start."""

    @property
    def peak_bytes(self) -> int:
        """Growth of the peak; negative is a gain."""
        return self.after.peak_bytes - self.before.peak_bytes

    @property
    def byte_steps(self) -> int:
        """Growth of the byte-steps; negative is a gain."""
        return self.after.byte_steps - self.before.byte_steps

    @property
    def real_byte_steps(self) -> int:
        """Growth of the byte-steps of floating-point values; negative is a gain."""
        return self.after.real_byte_steps - self.before.real_byte_steps


class LiveValues:
    """All values of one graph: worked out once, then looked at in several ways."""

    def __init__(self, body: Body) -> None:
        self._nodes = body.in_order()
        self._roles = roles_of(self._nodes)
        self._uses = LastUses(self._nodes, computed_specs(self._nodes, self._roles))
        self._chosen: dict[str, frozenset[int]] = {}

    def nodes(self, which: Which) -> frozenset[int]:
        """Identities of the nodes whose values count."""
        if which not in self._chosen:
            self._chosen[which] = chosen_nodes(self._nodes, self._roles, which)
        return self._chosen[which]

    def over(self, nodes: Collection[int], which: str = "chosen") -> Liveness:
        """The live ranges of these nodes' values; `which` says how they were chosen."""
        sizes: _Sizes = {}
        ranges = tuple(item for node in self._nodes if node.id in nodes for item in self._ranges(node, sizes))
        alive = _alive(ranges, len(self._nodes))
        peak = max(alive, default=0)
        return Liveness(
            which=which,
            ranges=ranges,
            length=len(self._nodes),
            peak_bytes=peak,
            peak_step=alive.index(peak) if alive else 0,
            byte_steps=sum(alive),
            unknown=sum(item.nbytes is None for item in ranges),
        )

    def _ranges(self, node: NodeState, sizes: _Sizes) -> Iterator[LiveRange]:
        for output, spec, start, last, user in self._uses.values(node):
            dtype = _dtype(spec)
            if dtype is None:
                continue
            size = _size(spec, sizes)
            returned = user is not None and user.op == "output"
            user_id = None if user is None else user.id
            end = max(start, last)
            yield LiveRange(node.id, output, node.name, dtype, size, start, end, user_id, returned)


def liveness(body: Body, which: Which | Collection[int] = "qdq") -> Liveness:
    """The live ranges of a graph's values, in time linear in the size of the graph.

    To compare two states use `live_pair`: it looks at the same values in both.

    Args:
        body: The graph.
        which: `qdq`, `carried`, `all` (see `Which`), or the identities of the nodes whose values count.
    """
    values = LiveValues(body)
    return (
        values.over(values.nodes(which), which) if isinstance(which, str) else values.over(frozenset(which))
    )


def live_pair(before: LiveValues, after: LiveValues, which: Which) -> tuple[Liveness, Liveness]:
    """The live ranges before and after a step, of the same values in both.

    A value that is carried to a quantize before the step only counts after it too: it is still there.
    """
    nodes = before.nodes(which) | after.nodes(which)
    return before.over(nodes, which), after.over(nodes, which)


def difference(before: Liveness, after: Liveness) -> LiveDifference:
    """What differs between the live ranges before and after a step."""
    old = {item.key: item for item in before.ranges}
    new = {item.key: item for item in after.ranges}
    pairs = [RangeChange(old.get(key), new.get(key)) for key in (old | new)]
    changed = [pair for pair in pairs if _differs(pair)]
    changed.sort(key=lambda pair: min(item.start for item in (pair.before, pair.after) if item is not None))
    return LiveDifference(before, after, tuple(changed))


def _differs(pair: RangeChange) -> bool:
    one, other = pair.before, pair.after
    if one is None or other is None:
        return True
    return (one.steps, one.nbytes, one.dtype) != (other.steps, other.nbytes, other.dtype)


def alive_bytes(live: Liveness) -> list[int]:
    """Bytes alive in each step."""
    return _alive(live.ranges, live.length)


def _size(spec: Spec, sizes: _Sizes) -> int | None:
    """Bytes of a spec, worked out once for each dtype and shape."""
    if type(spec) is not TensorSpec:
        return spec_bytes(spec)
    key = spec.dtype, spec.shape
    if key not in sizes:
        sizes[key] = spec.nbytes
    return sizes[key]


def _alive(ranges: Collection[LiveRange], length: int) -> list[int]:
    growth = [0] * (length + 1)
    for item in ranges:
        growth[item.start] += item.nbytes or 0
        growth[item.end + 1] -= item.nbytes or 0
    return list(accumulate(growth[:-1]))


def _dtype(spec: Spec) -> str | None:
    """The dtype of a value, of the first tensor where it is nested; None for what is no tensor."""
    if type(spec) is TensorSpec:
        return spec.dtype
    while isinstance(spec, tuple):
        spec = next((part for part in spec if isinstance(part, TensorSpec | tuple)), None)
    return spec.dtype if isinstance(spec, TensorSpec) else None
