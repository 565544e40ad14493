"""One graph out of several states of a body: what is in all of them, what came, what went.

Boxes are known by the identity of their node, so that one layout of the union serves every state and
nothing jumps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from qdqviz.ir.graph import Body
from qdqviz.ir.labels import NameOf, label_lines, short_name, short_names
from qdqviz.ir.neighbourhood import Fold, Neighbourhood
from qdqviz.ir.node import NodeState, OpInfo, TensorSpec
from qdqviz.ir.roles import Role, role
from qdqviz.ir.text import bytes_text, safe_text, spec_bytes, spec_text

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


@dataclass(frozen=True, slots=True)
class Face:
    """What a box says in one state. All text is safe to show."""

    name: str
    """Short name, for the frame."""
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
    names = _shown_names(bodies, near)
    nodes = [
        *(_single(bodies, node, near, focus, ops, names) for node in near.nodes),
        *(_folded(bodies, fold, near, names) for fold in near.folds),
    ]
    nodes.sort(key=lambda node: _latest(bodies, node.id).order)
    return Union(tuple(nodes), _edges(bodies, nodes))


def _latest(bodies: Sequence[Body], node: int) -> NodeState:
    return next(found for body in reversed(bodies) if (found := body.get(node)) is not None)


def _shown_names(bodies: Sequence[Body], near: Neighbourhood) -> dict[str, str]:
    """Short names for every name that a box or a label may show."""
    ids = (*near.nodes, *(member for fold in near.folds for member in fold.members))
    return short_names(state.name for body in bodies for node in ids if (state := body.get(node)) is not None)


def _single(
    bodies: Sequence[Body],
    node: int,
    near: Neighbourhood,
    focus: Collection[int],
    ops: Mapping[str, OpInfo],
    names: Mapping[str, str],
) -> UnionNode:
    faces = tuple(
        None if (state := body.get(node)) is None else _face(state, ops, _namer(body), names)
        for body in bodies
    )
    return UnionNode(
        id=node,
        kind="node",
        members=(node,),
        full_name=safe_text(_latest(bodies, node).name),
        faces=faces,
        mark=_mark(bodies[0].get(node), bodies[-1].get(node)) if len(bodies) > 1 else Mark.NONE,
        focus=node in focus,
        more_inputs=near.more_inputs.get(node, 0),
        more_users=near.more_users.get(node, 0),
    )


def _namer(body: Body) -> NameOf:
    def name_of(node: int) -> str:
        found = body.get(node)
        return "?" if found is None else short_name(found.name)

    return name_of


def _face(state: NodeState, ops: Mapping[str, OpInfo], name_of: NameOf, names: Mapping[str, str]) -> Face:
    lines = tuple(safe_text(line) for line in label_lines(state, ops, name_of))
    return Face(safe_text(names.get(state.name, state.name)), lines, role(state), _dtype(state))


def _dtype(state: NodeState) -> str | None:
    specs = state.spec if isinstance(state.spec, tuple) else (state.spec,)
    found = next((spec for spec in specs if isinstance(spec, TensorSpec)), None)
    return None if found is None else found.dtype


def _folded(bodies: Sequence[Body], fold: Fold, near: Neighbourhood, names: Mapping[str, str]) -> UnionNode:
    faces = tuple(_fold_face(body, fold, names) for body in bodies)
    return UnionNode(
        id=fold.id,
        kind=fold.kind,
        members=fold.members,
        full_name=safe_text(_latest(bodies, fold.id).name),
        faces=faces,
        mark=_fold_mark(faces),
        focus=False,
        more_inputs=near.more_inputs.get(fold.id, 0),
        more_users=near.more_users.get(fold.id, 0),
    )


def _fold_face(body: Body, fold: Fold, names: Mapping[str, str]) -> Face | None:
    members = [state for member in fold.members if (state := body.get(member)) is not None]
    if not members:
        return None
    if fold.kind == "constants":
        title, kind = f"{len(members)} constants", Role.CONSTANT
        detail = ", ".join(names.get(state.name, state.name) for state in members)
    else:
        title, kind = f"{len(members)} moves of data", Role.MOVEMENT
        size = spec_bytes(members[-1].spec)
        detail = spec_text(members[-1].spec) + ("" if size is None else f"  {bytes_text(size)}")
    return Face("folded", (title, safe_text(detail)), kind, _dtype(members[-1]))


def _fold_mark(faces: Sequence[Face | None]) -> Mark:
    first, last = faces[0], faces[-1]
    return Mark.NONE if first is None or last is None or first.dtype == last.dtype else Mark.CHANGED


def _mark(before: NodeState | None, after: NodeState | None) -> Mark:
    if before is None or after is None:
        return Mark.NONE if before is after else Mark.ADDED if before is None else Mark.REMOVED
    if before.input_ids() != after.input_ids():
        return Mark.REWIRED
    same = (before.target, before.args, before.kwargs, before.spec, before.constant)
    return (
        Mark.NONE
        if same == (after.target, after.args, after.kwargs, after.spec, after.constant)
        else Mark.CHANGED
    )


def _edges(bodies: Sequence[Body], nodes: Sequence[UnionNode]) -> tuple[UnionEdge, ...]:
    box_of = {member: node.id for node in nodes for member in node.members}
    present: dict[tuple[int, int], list[bool]] = {}
    dtypes: dict[tuple[int, int], list[str | None]] = {}
    for box in nodes:
        for index, body in enumerate(bodies):
            for source in (ref for member in box.members if member in body for ref in body.inputs(member)):
                key = (box_of.get(source, box.id), box.id)
                if key[0] == key[1]:
                    continue
                present.setdefault(key, [False] * len(bodies))[index] = True
                dtypes.setdefault(key, [None] * len(bodies))[index] = _dtype(body[source])
    return tuple(
        UnionEdge(source, target, tuple(present[source, target]), tuple(dtypes[source, target]))
        for source, target in present
    )
