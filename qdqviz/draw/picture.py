"""A picture of a rewrite, as data: what is shown, where it is, and how it looks before, after and united.

    engine = LayoutEngine()
    shown = picture(before, after, focus, trace.ops, engine=engine)     # runs Graphviz once
    left, right = shown.with_view("before"), shown.with_view("after")   # same layout, costs nothing
    cells = draw_cells(left)                                            # qdqviz.draw.cells
    write_picture(shown, Path("step.svg"), theme)                       # qdqviz.draw.files

`before` and `after` are bodies: `trace.before(step).body(path)` and `trace.after(step).body(path)`;
the focus is `touched(rewrite.changes, path)` (`qdqviz.ir.neighbourhood`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Literal

from qdqviz.draw.dot import union_source
from qdqviz.draw.engine import Cancel, LayoutEngine
from qdqviz.draw.layout import Layout, Point, Rect
from qdqviz.draw.union import Face, Kind, Mark, Union, UnionEdge, UnionNode, unite
from qdqviz.ir.graph import Body
from qdqviz.ir.neighbourhood import DEFAULT_LIMIT, neighbourhood
from qdqviz.ir.node import OpInfo
from qdqviz.ir.roles import Role

View = Literal["before", "after", "union"]
"""Which state a picture shows, or both at once."""


class Presence(StrEnum):
    """Whether a box or edge is there in the view."""

    SOLID = "solid"
    """It is there."""
    GHOST = "ghost"
    """It is gone: drawn faintly in its old place."""
    GAP = "gap"
    """It is not there yet: its place stays empty."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box as the view shows it."""

    id: int
    """Identity of its node; of a fold, that of its first member."""
    kind: Kind
    """node, or a fold: chain or constants."""
    members: tuple[int, ...]
    """Identities of the nodes that it stands for."""
    rect: Rect
    """Its place."""
    name: str
    """Short name, for the frame."""
    full_name: str
    """Whole name."""
    lines: tuple[str, ...]
    """What it says: the op, then dtype, shape and bytes."""
    role: Role
    """What the node is for; gives the colour."""
    dtype: str | None
    """dtype of what it makes."""
    mark: Mark
    """What the step does to it; NONE in a picture of one state."""
    presence: Presence
    """Whether it is there."""
    focus: bool
    """True where the rewrite is about it."""
    more_inputs: int
    """Inputs that the picture does not show."""
    more_users: int
    """Users that the picture does not show."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as the view shows it."""

    source: int
    """Box that makes the value."""
    target: int
    """Box that uses it."""
    points: tuple[Point, ...]
    """Control points of cubic Bézier segments from source to target."""
    dtype: str | None
    """dtype of the value."""
    mark: Mark
    """ADDED, REMOVED or NONE."""
    presence: Presence
    """Whether it is there."""
    is_faint: bool
    """True for what is gone or, where both states are shown at once, what goes: drawn dotted."""


@dataclass(frozen=True)
class Picture:
    """A laid-out picture, seen in one view. All its text is safe to show."""

    union: Union
    """All states as one graph."""
    layout: Layout
    """Where everything is; the same in every view."""
    view: View
    """Which state is shown."""
    cut: bool
    """True where the picture leaves out nodes that the radius would show, because of the limit."""

    @property
    def width(self) -> float:
        """Inches."""
        return self.layout.width

    @property
    def height(self) -> float:
        """Inches."""
        return self.layout.height

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """All boxes in execution order, ghosts and gaps among them."""
        return tuple(self._box(node) for node in self.union.nodes)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All edges; those that are ghosts or gaps among them."""
        return tuple(self._edge(edge) for edge in self.union.edges)

    def with_view(self, view: View) -> Picture:
        """The same picture in another view; nothing moves, nothing is computed again."""
        return self if view == self.view else replace(self, view=view)

    def box(self, node: int) -> Box | None:
        """The box that shows a node, alone or in a fold."""
        return next((box for box in self.boxes if node in box.members), None)

    def _box(self, node: UnionNode) -> Box:
        face, presence = self._face(node)
        return Box(
            id=node.id,
            kind=node.kind,
            members=node.members,
            rect=self.layout.boxes[node.id],
            name=face.name,
            full_name=node.full_name,
            lines=face.lines,
            role=face.role,
            dtype=face.dtype,
            mark=node.mark,
            presence=presence,
            focus=node.focus,
            more_inputs=node.more_inputs,
            more_users=node.more_users,
        )

    def _face(self, node: UnionNode) -> tuple[Face, Presence]:
        first, last = node.faces[0], node.faces[-1]
        if self.view == "before":
            return (first, Presence.SOLID) if first else (_some(node.faces), Presence.GAP)
        if self.view == "after" or last:
            return (last, Presence.SOLID) if last else (_some(node.faces), Presence.GHOST)
        return _some(node.faces), Presence.SOLID

    @cached_property
    def _gone(self) -> frozenset[int]:
        return frozenset(node.id for node in self.union.nodes if node.faces[-1] is None)

    def _edge(self, edge: UnionEdge) -> Edge:
        before, after = edge.present[0], edge.present[-1]
        mark = Mark.NONE if before == after else Mark.ADDED if after else Mark.REMOVED
        presence = Presence.SOLID
        if self.view == "before" and not before:
            presence = Presence.GAP
        elif self.view == "after" and not after:
            # Ghosts keep their edges; between nodes that stay, an edge that is gone would only be in the way.
            presence = Presence.GAP if self._gone.isdisjoint((edge.source, edge.target)) else Presence.GHOST
        first, last = (
            (edge.dtypes[0], edge.dtypes[-1]) if self.view == "before" else (edge.dtypes[-1], edge.dtypes[0])
        )
        points = self.layout.splines.get((edge.source, edge.target), ())
        is_faint = mark is Mark.REMOVED and self.view != "before"
        return Edge(edge.source, edge.target, points, first or last, mark, presence, is_faint)


def picture(
    before: Body | None,
    after: Body | None,
    focus_nodes: Iterable[int],
    ops: Mapping[str, OpInfo],
    *,
    radius: int = 2,
    view: View = "after",
    fold: bool = True,
    opened: Collection[int] = frozenset(),
    limit: int = DEFAULT_LIMIT,
    engine: LayoutEngine | None = None,
    cancel: Cancel | None = None,
) -> Picture:
    """A picture of the neighbourhood of some nodes, before and after in one layout.

    Takes some 10 to 30 ms for 60 nodes, nearly all of it in the layout engine: call it in a worker.

    Args:
        before: The graph before the step; None for a picture of one state.
        after: The graph after the step; None for a picture of one state.
        focus_nodes: Identities of the nodes in the middle, such as `touched(rewrite.changes, path)`.
        ops: What is known of call targets (`trace.ops`), for parameter names; may be empty.
        radius: How many uses away from the focus a node may be.
        view: What to show first; see `Picture.with_view`.
        fold: False shows every node of long chains and every constant.
        opened: Identities of folds that are shown unfolded.
        limit: Most nodes to show; beyond it the picture is `cut`.
        engine: Lays it out and remembers layouts; None uses a new one.
        cancel: Lets another thread end the layout.

    Raises:
        LayoutError: If the engine is missing, fails or takes too long.
        LayoutCancelledError: If `cancel` was used.
    """
    bodies = [body for body in (before, after) if body is not None]
    focus = tuple(focus_nodes)
    near = neighbourhood(bodies, focus, radius=radius, fold=fold, opened=opened, limit=limit)
    union = unite(bodies, near, frozenset(focus), ops) if bodies else Union((), ())
    layout = (engine or LayoutEngine(remembered=0)).layout(union_source(union), cancel)
    return Picture(union, layout, view, near.cut)


def _some(faces: Sequence[Face | None]) -> Face:
    return next(face for face in reversed(faces) if face is not None)
