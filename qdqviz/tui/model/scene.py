"""What the graph panes show at a place: two states of a graph, what to look at, and the picture of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdqviz.ir.graph import ROOT, Body, GraphState
from qdqviz.ir.node import OpInfo
from qdqviz.ir.roles import Role, role
from qdqviz.trace.model import PassRun
from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.place_sentence import run_sentence, start_sentence

if TYPE_CHECKING:
    from qdqviz.draw.engine import Cancel, LayoutEngine
    from qdqviz.draw.grid import Cells
    from qdqviz.draw.picture import Picture, View

MOST_FOCUS = 60
"""Most nodes that the picture of a whole pass looks at; the rest is left out and counted."""

VIEWS: tuple[View, ...] = ("before", "after", "union")
"""What is drawn of every picture."""


@dataclass(frozen=True, slots=True)
class Lens:
    """How one looks at a place."""

    radius: int = 2
    """Uses between a node and what is looked at."""
    opened: frozenset[int] = frozenset()
    """Folds that are shown unfolded."""
    anchor: int | None = None
    """A node to look at in place of what the rewrite is about."""
    path: str | None = None
    """The graph that holds the anchor; None for the rewrite's own."""


@dataclass(frozen=True)
class Sight:
    """What there is to see at a place, before any picture is made of it."""

    path: str
    """Graph that is shown."""
    before: Body | None
    """The graph before; None where only one state is shown."""
    after: Body
    """The graph after, or the only state."""
    focus: tuple[int, ...]
    """Nodes in the middle."""
    sentence: str
    """What happened here, in one sentence; safe to show."""
    left_out: int = 0
    """Nodes that the rewrite or pass is about and that are not looked at."""


@dataclass(frozen=True)
class Scene:
    """A place seen through a lens."""

    place: Place
    """Where."""
    lens: Lens
    """How."""
    sight: Sight
    """What there is to see."""
    picture: Picture
    """Where everything is."""
    cells: Mapping[View, Cells]
    """The picture drawn: before, after, and both at once."""

    @property
    def is_pair(self) -> bool:
        """Whether two states are shown."""
        return self.sight.before is not None

    def has(self, node: int) -> bool:
        """Whether the graph holds a node, before or after."""
        return node in self.sight.after or (self.sight.before is not None and node in self.sight.before)

    def name(self, node: int) -> str:
        """What a node that the graph holds is called in the picture; safe to show."""
        from qdqviz.ir.labels import short_name
        from qdqviz.ir.text import safe_text

        body = self.sight.after if node in self.sight.after else self.sight.before
        assert body is not None
        return safe_text(short_name(body[node].name))


def make_scene(
    archive: Archive, place: Place, lens: Lens, engine: LayoutEngine, cancel: Cancel | None = None
) -> Scene:
    """Read what is at a place, lay it out and draw it. Call it in a worker.

    Raises:
        LayoutError: The engine is missing, failed, took too long or was cancelled.
        TraceFileError: The trace is damaged.
    """
    return draw_scene(look(archive, place, lens), archive.lists.ops, place, lens, engine, cancel)


def draw_scene(
    seen: Sight,
    ops: Mapping[str, OpInfo],
    place: Place,
    lens: Lens,
    engine: LayoutEngine,
    cancel: Cancel | None = None,
) -> Scene:
    """Lay out and draw what there is to see at a place. Call it in a worker.

    Raises:
        LayoutError: The engine is missing, failed, took too long or was cancelled.
    """
    from qdqviz.draw.cells import draw_cells
    from qdqviz.draw.picture import picture

    shown = picture(
        seen.before,
        seen.after,
        seen.focus,
        ops,
        radius=_radius(place, lens, seen),
        opened=lens.opened,
        engine=engine,
        cancel=cancel,
    )
    return Scene(place, lens, seen, shown, {view: draw_cells(shown.with_view(view)) for view in VIEWS})


def look(archive: Archive, place: Place, lens: Lens) -> Sight:
    """What there is to see at a place."""
    if place.step is not None:
        return _rewrite(archive, place.step, lens)
    if place.run is None:
        return _start(archive, place, lens)
    run = archive.lists.runs[place.run]
    if place.kind == "run" and run.rewrites:
        return _whole_run(archive, place, lens)
    state = archive.at(place.subject, run.last_step if place.kind == "error" else run.first_step)
    return _one_state(state, lens, _run_sentence(archive, run))


def _radius(place: Place, lens: Lens, seen: Sight) -> int:
    """A rewrite has the lens's radius, a whole pass less, an overview of one state more."""
    if lens.anchor is not None or place.kind == "step":
        return lens.radius
    return lens.radius + 2 if seen.before is None else max(lens.radius - 1, 0)


def _rewrite(archive: Archive, step: int, lens: Lens) -> Sight:
    from qdqviz.explain.effect import effect_of
    from qdqviz.explain.sentence import sentence_of
    from qdqviz.ir.neighbourhood import touched
    from qdqviz.ir.text import safe_text

    rewrite, before, after = archive.around(step)
    paths = dict.fromkeys((rewrite.path, *(change.path for change in rewrite.changes)))
    path = next((each for each in paths if touched(rewrite.changes, each)), rewrite.path)
    focus = touched(rewrite.changes, path) or tuple(() if rewrite.focus is None else (rewrite.focus,))
    said = safe_text(sentence_of(effect_of(rewrite, before, after), before, after, archive.lists.ops))
    return _pair(before, after, path, focus, lens, said)


def _whole_run(archive: Archive, place: Place, lens: Lens) -> Sight:
    from qdqviz.ir.neighbourhood import differing

    assert place.run is not None
    run = archive.lists.runs[place.run]
    before = archive.at(place.subject, run.first_step)
    after = archive.at(place.subject, run.last_step)
    said = _run_sentence(archive, run)
    for path in sorted({*before.paths(), *after.paths()}):
        focus = differing(before.bodies.get(path) or Body(), after.bodies.get(path) or Body())
        if focus:
            return _pair(before, after, path, focus, lens, said)
    return _one_state(after, lens, said)


def _run_sentence(archive: Archive, run: PassRun) -> str:
    own = [archive.lists.headers[step - 1] for step in archive.lists.own_steps.get(run.id, ())]
    is_clear = run.attempts - run.declined == sum(each.focus is not None for each in own)
    return run_sentence(run, None if is_clear else archive.endings(run.id))


def _pair(
    before: GraphState, after: GraphState, path: str, focus: tuple[int, ...], lens: Lens, said: str
) -> Sight:
    shown = path if lens.path is None else lens.path
    first, last = before.bodies.get(shown) or Body(), after.bodies.get(shown) or Body()
    if lens.anchor is not None and (lens.anchor in first or lens.anchor in last):
        return Sight(shown, first, last, (lens.anchor,), said)
    left_out = max(len(focus) - MOST_FOCUS, 0)
    return Sight(shown, first, last, focus[:MOST_FOCUS], said, left_out)


def _start(archive: Archive, place: Place, lens: Lens) -> Sight:
    state = archive.at(place.subject, 0)
    subject = next(each for each in archive.lists.subjects if each.id == place.subject)
    return _one_state(state, lens, start_sentence(subject, state))


def _one_state(state: GraphState, lens: Lens, said: str) -> Sight:
    path = ROOT if lens.path is None or lens.path not in state.bodies else lens.path
    body = state.body(path)
    if lens.anchor is not None and lens.anchor in body:
        return Sight(path, None, body, (lens.anchor,), said)
    return Sight(path, None, body, _entrance(body), said)


def _entrance(body: Body) -> tuple[int, ...]:
    """Where a graph begins: what reads its first input, else its first node that computes."""
    nodes = body.in_order()
    first = next((node for node in nodes if role(node) is Role.INPUT and body.users(node.id)), None)
    if first is not None:
        return (body.users(first.id)[0],)
    computing = next((node for node in nodes if role(node) is not Role.CONSTANT), None)
    return () if computing is None else (computing.id,)
