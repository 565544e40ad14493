"""One graph out of several states of a body: what is in all of them, what came, what went.

Boxes are known by the identity of their node, so that one layout of the union serves every state and
nothing jumps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from qdqviz.ir.change import same
from qdqviz.ir.computed import ComputedSpecs
from qdqviz.ir.graph import Body
from qdqviz.ir.labels import label_lines, short_name, short_names
from qdqviz.ir.neighbourhood import Fold, Neighbourhood
from qdqviz.ir.node import Constant, NodeState, OpInfo, TensorSpec
from qdqviz.ir.position import position_text
from qdqviz.ir.roles import Role, op_name, role
from qdqviz.ir.text import bytes_text, safe_text, spec_bytes, spec_text

_ESSENTIAL = ("target", "args", "kwargs", "spec", "constant")

Kind = Literal["node", "chain", "constants"]
"""A node of its own, or a fold of several."""


class Mark(StrEnum):
    """What the step does to a box or an edge."""

    NONE = ""
    """Nothing."""
    ADDED = "+"
    """It is there only after the step."""
    REMOVED = "-"
    """It is there only before the step."""
    REWIRED = "~"
    """Its inputs are others after the step."""
    CHANGED = "*"
    """What it does, or what it makes, is another after the step; its inputs are the same."""
    MOVED = "↕"
    """It is the same, but runs earlier or later."""


@dataclass(frozen=True, slots=True)
class Face:
    """What a box says in one state. All text is safe to show."""

    name: str
    """Short name, for the frame; empty where a line says it already."""
    lines: tuple[str, ...]
    """The op with the argument that matters; then what it makes."""
    role: Role
    """What the node is for."""
    dtype: str | None
    """dtype of the first tensor that it makes; None where it makes none."""


@dataclass(frozen=True, slots=True)
class UnionNode:
    """A box over all states."""

    id: int
    """Identity of its node; of a fold, that of its first member."""
    kind: Kind
    """A node of its own, or a fold of several."""
    members: tuple[int, ...]
    """Identities of its nodes in execution order."""
    full_name: str
    """Whole name of the node in the latest state that has it, safe to show; of a fold that of its first."""
    faces: tuple[Face | None, ...]
    """What it says in each state; None where it is not there."""
    mark: Mark
    """What happens to it between the first and the last state."""
    focus: bool
    """True where the rewrite is about this node."""
    more_inputs: int
    """Inputs that the picture does not show."""
    more_users: int
    """Users that the picture does not show."""


@dataclass(frozen=True, slots=True)
class UnionEdge:
    """A use of one box's value by another, over all states."""

    source: int
    """Box that makes the value."""
    target: int
    """Box that uses it."""
    present: tuple[bool, ...]
    """Whether it is there, in each state."""
    dtypes: tuple[str | None, ...]
    """dtype of the value in each state."""


@dataclass(frozen=True, slots=True)
class Union:
    """Several states of a body as one graph, boxes and edges in execution order."""

    nodes: tuple[UnionNode, ...]
    """Boxes, in execution order."""
    edges: tuple[UnionEdge, ...]
    """Edges, by their users in execution order."""


def unite(
    bodies: Sequence[Body], near: Neighbourhood, focus: Collection[int], ops: Mapping[str, OpInfo]
) -> Union:
    """The union graph of what a neighbourhood shows.

    Args:
        bodies: States of one body, oldest first.
        near: What to show of them.
        focus: Identities of the nodes that the step is about.
        ops: What is known of call targets.
    """
    builder = _Builder(bodies, near, frozenset(focus), ops)
    nodes = [*map(builder.single, near.nodes), *map(builder.folded, near.folds)]
    nodes.sort(key=lambda node: builder.latest(node.id).order)
    return Union(tuple(nodes), builder.edges(nodes))


class _Builder:
    """Makes boxes and edges."""

    def __init__(
        self, bodies: Sequence[Body], near: Neighbourhood, focus: frozenset[int], ops: Mapping[str, OpInfo]
    ) -> None:
        self._bodies = bodies
        self._specs = [ComputedSpecs(body) for body in bodies]
        self._near = near
        self._focus = focus
        self._ops = ops
        shown = (*near.nodes, *(member for fold in near.folds for member in fold.members))
        states = (state for node in shown for state in self._states(node) if state is not None)
        self._names = short_names(state.name for state in states)

    def _states(self, node: int) -> list[NodeState | None]:
        return [specs.node(node) for specs in self._specs]

    def latest(self, node: int) -> NodeState:
        """The node in the last state that has it."""
        return next(state for state in reversed(self._states(node)) if state is not None)

    def single(self, node: int) -> UnionNode:
        """The box of one node."""
        states = self._states(node)
        faces = tuple(
            None if state is None else self._face(state, body)
            for state, body in zip(states, self._bodies, strict=True)
        )
        mark = mark_of(states[0], states[-1])
        if mark is Mark.MOVED:
            faces = self._placed(node, faces)
        return self._box("node", node, (node,), faces, mark)

    def _placed(self, node: int, faces: tuple[Face | None, ...]) -> tuple[Face | None, ...]:
        """The faces of a node that only moves, with where it stands: nothing else tells its states apart."""
        start = position_text(self._bodies[0], node, self._short)
        end = position_text(self._bodies[-1], node, self._short)
        first, *_, last = faces
        assert first is not None and last is not None
        return (
            replace(first, lines=(*first.lines, safe_text(f"runs {start}"))),
            *faces[1:-1],
            replace(last, lines=(*last.lines, safe_text(f"runs {start}"), safe_text(f"→ {end}"))),
        )

    def _short(self, name: str) -> str:
        return self._names.get(name) or short_name(name)

    def folded(self, fold: Fold) -> UnionNode:
        """The box of several nodes."""
        columns = zip(*(self._states(member) for member in fold.members), strict=True)
        faces = tuple(
            self._fold_face(fold, [state for state in states if state is not None]) for states in columns
        )
        return self._box(fold.kind, fold.id, fold.members, faces, _fold_mark(faces))

    def _box(
        self, kind: Kind, node: int, members: tuple[int, ...], faces: tuple[Face | None, ...], mark: Mark
    ) -> UnionNode:
        return UnionNode(
            id=node,
            kind=kind,
            members=members,
            full_name=safe_text(self.latest(node).name),
            faces=faces,
            mark=mark,
            focus=node in self._focus,
            more_inputs=self._near.more_inputs.get(node, 0),
            more_users=self._near.more_users.get(node, 0),
        )

    def _face(self, state: NodeState, body: Body) -> Face:
        def name_of(node: int) -> str:
            found = body.get(node)
            return "?" if found is None else found.name

        def constant_of(node: int) -> Constant | None:
            found = body.get(node)
            return None if found is None else found.constant

        texts = label_lines(state, self._ops, name_of, constant_of)
        lines = tuple(safe_text(line) for line in texts)
        name = safe_text(self._names.get(state.name, state.name))
        return Face("" if name == lines[0] else name, lines, role(state), _dtype(state))

    def _fold_face(self, fold: Fold, members: Sequence[NodeState]) -> Face | None:
        if not members:
            return None
        if fold.kind == "constants":
            names = ", ".join(self._names.get(state.name, state.name) for state in members)
            lines, kind = (f"{len(members)} constants", names), Role.CONSTANT
        else:
            size = spec_bytes(members[-1].spec)
            made = spec_text(members[-1].spec) + ("" if size is None else f"  {bytes_text(size)}")
            ops = " ".join(op_name(state.target).plain for state in members)
            lines, kind = (f"{len(members)} moves: {ops}", made), Role.MOVEMENT
        return Face("", tuple(map(safe_text, lines)), kind, _dtype(members[-1]))

    def edges(self, nodes: Sequence[UnionNode]) -> tuple[UnionEdge, ...]:
        """Edges between boxes, by their users in execution order."""
        box_of = {member: node.id for node in nodes for member in node.members}
        count = len(self._bodies)
        present: dict[tuple[int, int], list[bool]] = {}
        dtypes: dict[tuple[int, int], list[str | None]] = {}
        for box in nodes:
            for index, source in self._uses(box):
                key = (box_of.get(source, box.id), box.id)
                if key[0] != key[1]:
                    present.setdefault(key, [False] * count)[index] = True
                    dtypes.setdefault(key, [None] * count)[index] = self._dtype_of(index, source)
        return tuple(UnionEdge(*key, tuple(present[key]), tuple(dtypes[key])) for key in present)

    def _uses(self, box: UnionNode) -> Iterator[tuple[int, int]]:
        """(state, node used) for every use by a member of a box."""
        for index, body in enumerate(self._bodies):
            for member in box.members:
                if member in body:
                    yield from ((index, source) for source in body.inputs(member))

    def _dtype_of(self, index: int, node: int) -> str | None:
        state = self._specs[index].node(node)
        return None if state is None else _dtype(state)


def mark_of(before: NodeState | None, after: NodeState | None) -> Mark:
    """What happens to a node between two states of it."""
    if before is None or after is None:
        return Mark.NONE if before is after else Mark.ADDED if before is None else Mark.REMOVED
    if before is after:
        return Mark.NONE
    if before.input_ids() != after.input_ids():
        return Mark.REWIRED
    pairs = ((getattr(before, field), getattr(after, field)) for field in _ESSENTIAL)
    if not all(same(old, new) for old, new in pairs):
        return Mark.CHANGED
    return Mark.NONE if before.order == after.order else Mark.MOVED


def _dtype(state: NodeState) -> str | None:
    specs = state.spec if isinstance(state.spec, tuple) else (state.spec,)
    found = next((spec for spec in specs if isinstance(spec, TensorSpec)), None)
    return None if found is None else found.dtype


def _fold_mark(faces: Sequence[Face | None]) -> Mark:
    first, last = faces[0], faces[-1]
    return Mark.NONE if first is None or last is None or first.dtype == last.dtype else Mark.CHANGED
