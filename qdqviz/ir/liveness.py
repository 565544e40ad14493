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
from typing import Literal

from qdqviz.ir.computed import computed_specs
from qdqviz.ir.graph import Body
from qdqviz.ir.node import Dim, NodeState, ScalarSpec, Spec, TensorSpec
from qdqviz.ir.roles import QUANTIZATION, Role, role
from qdqviz.ir.text import is_real, spec_bytes
from qdqviz.ir.values import DictArg, ListArg, Ref, SliceArg, refs

Which = Literal["qdq", "carried", "all"]
"""Which values count.

qdq: those made by quantize, dequantize and requantize nodes. carried: these, what data movement makes of
them, and what data movement brings to them: here it shows that a rewrite moved a quantize or a dequantize.
all: all values but constants.
"""

_HOLDERS = frozenset({tuple, ListArg, DictArg, SliceArg})


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


def liveness(body: Body, which: Which | Collection[int] = "qdq") -> Liveness:
    """The live ranges of a graph's values, in time linear in the size of the graph.

    Args:
        body: The graph.
        which: `qdq`, `carried`, `all` (see `Which`), or the identities of the nodes whose values count.
    """
    nodes = body.in_order()
    roles = _roles(nodes)
    lives = _Lives(nodes, computed_specs(nodes, roles))
    wanted = _choose(nodes, roles, which)
    ranges = tuple(item for node in nodes if node.id in wanted for item in lives.ranges(node))
    peak, at = _peak(ranges, len(nodes))
    return Liveness(
        which=which if isinstance(which, str) else "chosen",
        ranges=ranges,
        length=len(nodes),
        peak_bytes=peak,
        peak_step=at,
        byte_steps=sum(item.byte_steps for item in ranges),
        unknown=sum(item.nbytes is None for item in ranges),
    )


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


def _choose(
    nodes: Collection[NodeState], roles: dict[int, Role], which: Which | Collection[int]
) -> Collection[int]:
    """Identities of the nodes whose values count."""
    if not isinstance(which, str):
        return frozenset(which)
    if which == "all":
        return {node for node, found in roles.items() if found is not Role.CONSTANT}
    made = {node for node, found in roles.items() if found in QUANTIZATION}
    return made if which == "qdq" else _carried(nodes, roles, made)


def _carried(nodes: Collection[NodeState], roles: dict[int, Role], made: set[int]) -> set[int]:
    """What q/dq nodes make, what is moved on from there, and what is moved towards them."""
    carriers = (Role.MOVEMENT, Role.GETITEM)
    forward, backward = set(made), set[int]()
    for node in nodes:
        if roles[node.id] in carriers and not forward.isdisjoint(node.input_ids()):
            forward.add(node.id)
    for node in reversed(tuple(nodes)):
        if roles[node.id] in QUANTIZATION:
            backward.update(node.input_ids()[:1])
        elif node.id in backward and roles[node.id] in carriers:
            backward.update(node.input_ids())
    backward = {node for node in backward if roles.get(node, Role.CONSTANT) is not Role.CONSTANT}
    return forward | backward


def _roles(nodes: Collection[NodeState]) -> dict[int, Role]:
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


class _Lives:
    """When each value of a graph is last used."""

    def __init__(self, nodes: Collection[NodeState], specs: dict[int, Spec]) -> None:
        self._specs = specs
        self._sizes: dict[tuple[str, tuple[Dim, ...]], int | None] = {}
        self._positions = {node.id: index for index, node in enumerate(nodes)}
        self._nodes = tuple(nodes)
        self._last: dict[int, int] = {}
        self._last_of_part: dict[int, dict[int, int]] = {}
        self._taken: dict[int, tuple[int, int]] = {}
        for index, node in enumerate(nodes):
            self._note_uses(index, node)
        for node in reversed(self._nodes):
            if node.id in self._taken:
                self._hand_on(node)

    def _note_uses(self, index: int, node: NodeState) -> None:
        part = _part_taken(node)
        if part is not None:
            owner = self._specs.get(part[0])
            if isinstance(owner, tuple) and owner:
                # A part may be counted from the end.
                self._taken[node.id] = part[0], part[1] % len(owner)
                return
        last = self._last
        for value in node.args:
            if type(value) is Ref:
                last[value.node] = index
            elif type(value) in _HOLDERS:
                last.update(dict.fromkeys(refs(value), index))
        for _, value in node.kwargs:
            last.update(dict.fromkeys(refs(value), index))

    def _hand_on(self, node: NodeState) -> None:
        """A part taken by getitem is needed for as long as the getitem's users need it."""
        parent, part = self._taken[node.id]
        parts = self._last_of_part.setdefault(parent, {})
        own = self._last_of_part.get(node.id, {}).values()
        end = max(self._last.get(node.id, self._positions[node.id]), *own, -1)
        parts[part] = max(end, parts.get(part, -1))

    def ranges(self, node: NodeState) -> Iterator[LiveRange]:
        """The ranges of the values that a node makes."""
        if node.id in self._taken or node.op == "output":
            return
        spec = self._specs[node.id]
        if isinstance(spec, tuple):
            for index, part in enumerate(spec):
                taken = self._last_of_part.get(node.id, {})
                position = index if index in taken else index - len(spec)
                yield from self._range(
                    node, index, part, max(self._last.get(node.id, -1), taken.get(position, -1))
                )
        else:
            yield from self._range(node, None, spec, self._last.get(node.id, -1))

    def _range(self, node: NodeState, output: int | None, spec: Spec, last: int) -> Iterator[LiveRange]:
        dtype = _dtype(spec)
        if dtype is None:
            return
        start = self._positions[node.id]
        user = self._nodes[last] if last >= 0 else None
        returned = user is not None and user.op == "output"
        last_user = None if user is None else user.id
        size = self._size(spec)
        yield LiveRange(node.id, output, node.name, dtype, size, start, max(start, last), last_user, returned)

    def _size(self, spec: Spec) -> int | None:
        """Bytes of a spec, worked out once for each dtype and shape."""
        if type(spec) is not TensorSpec:
            return spec_bytes(spec)
        key = spec.dtype, spec.shape
        if key not in self._sizes:
            self._sizes[key] = spec.nbytes
        return self._sizes[key]


def _part_taken(node: NodeState) -> tuple[int, int] | None:
    """(node, index) for a getitem of one part of a node's value."""
    if len(node.args) != 2 or not node.target.endswith("getitem"):
        return None
    parent, part = node.args
    return (parent.node, part) if isinstance(parent, Ref) and isinstance(part, int) else None


def _dtype(spec: Spec) -> str | None:
    if type(spec) is TensorSpec:
        return spec.dtype
    while isinstance(spec, tuple):
        spec = next((part for part in spec if isinstance(part, TensorSpec | tuple)), None)
    return spec.dtype if isinstance(spec, TensorSpec) else None


def _alive(ranges: Collection[LiveRange], length: int) -> list[int]:
    growth = [0] * (length + 1)
    for item in ranges:
        growth[item.start] += item.nbytes or 0
        growth[item.end + 1] -= item.nbytes or 0
    return list(accumulate(growth[:-1]))


def _peak(ranges: Collection[LiveRange], length: int) -> tuple[int, int]:
    """Most bytes alive in one step, and the first step with that many."""
    alive = _alive(ranges, length)
    peak = max(alive, default=0)
    return peak, alive.index(peak) if alive else 0
