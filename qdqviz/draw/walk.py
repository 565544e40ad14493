"""Several rewrites as one animated, self-contained SVG: one layout for all states, so that nothing jumps.

    states = [trace.before(steps[0]).body(path), *(trace.after(step).body(path) for step in steps)]
    shown = walk(states, focuses, captions, trace.ops)
    svg = walk_svg(shown, theme, title="AdvanceQuantize on encoder")

It runs by itself and in a loop where animations are allowed; where they are not (or a person asked for
less motion), the last frame shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from qdqviz.draw.dot import union_source
from qdqviz.draw.engine import Cancel, LayoutEngine
from qdqviz.draw.picture import Picture
from qdqviz.draw.svg import SCALE, svg_boxes, svg_edges, svg_label, svg_open
from qdqviz.draw.text import cut
from qdqviz.draw.theme import Theme
from qdqviz.draw.union import Mark, Union, UnionNode, unite
from qdqviz.ir.graph import Body
from qdqviz.ir.neighbourhood import Neighbourhood, neighbourhood
from qdqviz.ir.node import OpInfo
from qdqviz.ir.text import safe_text

MOST_NODES = 160
"""Most nodes that a walk shows."""

_MARGIN, _HEAD, _FOOT = 20.0, 30.0, 30.0
_COLUMN = SCALE / 10


@dataclass(frozen=True, slots=True)
class Frame:
    """One moment of a walk."""

    picture: Picture
    """What is there."""
    caption: str
    """A line about it, safe to show."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A laid-out walk; all frames share one layout."""

    frames: tuple[Frame, ...]
    """The first state without marks, then what each rewrite leaves, in its after view."""
    cut: bool
    """True where nodes are left out because of the limit."""


def walk(
    states: Sequence[Body],
    focuses: Sequence[Iterable[int]],
    captions: Sequence[str],
    ops: Mapping[str, OpInfo],
    *,
    radius: int = 1,
    fold: bool = True,
    limit: int = MOST_NODES,
    engine: LayoutEngine | None = None,
    cancel: Cancel | None = None,
) -> Walk:
    """Lay out a walk over the rewrites between consecutive states of one body.

    Args:
        states: The state before the first rewrite, then the state after each.
        focuses: The nodes that each rewrite is about.
        captions: What to say about each rewrite.
        ops: What is known of call targets.
        radius: How many uses away from any rewrite's focus a node may be.
        fold: Fold long data-movement chains and constants.
        limit: Most nodes to show.
        engine: Lays it out; None uses a new one.
        cancel: Lets another thread end the layout.

    Raises:
        LayoutError: If the engine is missing, fails or takes too long.
    """
    foci = [frozenset(focus) for focus in focuses]
    everything = dict.fromkeys(node for focus in foci for node in sorted(focus))
    near = neighbourhood(states, everything, radius=radius, fold=fold, limit=limit)
    unions = [unite(states[:1], _within(near, states[:1]), frozenset(), ops)]
    for index, focus in enumerate(foci):
        pair = states[index : index + 2]
        unions.append(unite(pair, _within(near, pair), focus, ops))
    whole = _as_large_as(unite(states, near, frozenset(everything), ops), unions)
    layout = (engine or LayoutEngine(remembered=0)).layout(union_source(whole), cancel)
    said = ("before", *map(safe_text, captions))
    pictures = (Picture(union, layout, "after", near.cut) for union in unions)
    return Walk(tuple(map(Frame, pictures, said)), near.cut)


def _as_large_as(whole: Union, unions: Sequence[Union]) -> Union:
    """The union of all states, its boxes saying what they say in the frames."""
    boxes = [{node.id: node for node in union.nodes} for union in unions]

    def shown(node: UnionNode) -> UnionNode:
        frames = [found.get(node.id) for found in boxes]
        faces = tuple(None if each is None else each.faces[-1] for each in frames)
        marks = (each.mark for each in frames if each is not None and each.mark is not Mark.NONE)
        return replace(node, faces=faces, mark=next(marks, node.mark))

    return replace(whole, nodes=tuple(map(shown, whole.nodes)))


def _within(near: Neighbourhood, bodies: Sequence[Body]) -> Neighbourhood:
    """What some states hold of a neighbourhood of more."""
    nodes = tuple(node for node in near.nodes if any(node in body for body in bodies))
    folds = tuple(fold for fold in near.folds if any(fold.id in body for body in bodies))
    return replace(near, nodes=nodes, folds=folds)


def walk_svg(shown: Walk, theme: Theme, *, title: str = "", seconds: float = 2.0) -> str:
    """A walk as one animated SVG document.

    What looks alike in several frames is drawn once. No scripts: the animation is CSS.

    Args:
        shown: The walk.
        theme: Its colours.
        title: A line above it; from anywhere, it is made safe.
        seconds: How long each frame stays.
    """
    size = shown.frames[0].picture.layout
    wide = max(size.width * SCALE, 60 * _COLUMN)
    high = size.height * SCALE + _HEAD + _FOOT
    layers = _Layers(len(shown.frames))
    for draw in (svg_edges, svg_boxes):
        layers.add([draw(frame.picture, theme) for frame in shown.frames])
    columns = int(wide / _COLUMN)
    captions = [
        cut(f"{index}/{len(shown.frames) - 1}  {frame.caption}", columns)
        for index, frame in enumerate(shown.frames)
    ]
    foot = size.height * SCALE + _FOOT
    layers.add([[svg_label(caption, 0, foot, theme.ui["foreground"])] for caption in captions])
    body = list(layers.fragments())
    return "\n".join(
        [
            svg_open(wide + 2 * _MARGIN, high + 2 * _MARGIN, theme, title, layers.css(seconds)),
            svg_label(title, _MARGIN, _MARGIN + 12, theme.ui["foreground"], bold=True) if title else "",
            f'<g transform="translate({_MARGIN} {_MARGIN + _HEAD})">',
            *body,
            "</g>",
            "</svg>\n",
        ]
    )


class _Layers:
    """Fragments and the frames that they are in; one CSS class for each set of frames."""

    def __init__(self, frames: int) -> None:
        self._frames = frames
        self._fragments: dict[str, list[int]] = {}
        self._classes: dict[tuple[int, ...], str] = {}

    def add(self, drawn: Sequence[Sequence[str]]) -> None:
        """Add the fragments of each frame, above those added before."""
        for index, fragments in enumerate(drawn):
            for fragment in fragments:
                # One document may hold an id once only.
                self._fragments.setdefault(fragment.replace('<g id="', '<g data-box="', 1), []).append(index)

    def fragments(self) -> Iterator[str]:
        """Every fragment once, in its class."""
        for fragment, frames in self._fragments.items():
            if len(frames) == self._frames:
                yield fragment
            else:
                name = self._classes.setdefault(tuple(frames), f"f{len(self._classes)}")
                yield f'<g class="{name}">{fragment}</g>'

    def css(self, seconds: float) -> str:
        """Rules that show each class in its frames, once the fragments are known.

        Without motion those of the last frame show.
        """
        rules = []
        for frames, name in self._classes.items():
            still = "visible" if self._frames - 1 in frames else "hidden"
            motion = f"animation:{name} {self._frames * seconds:g}s step-end infinite"
            rules.append(f".{name}{{visibility:{still};{motion}}}")
            rules.append(f"@keyframes {name}{{{''.join(self._keyframes(frames))}}}")
        rules.append("@media (prefers-reduced-motion:reduce){g{animation:none!important}}")
        return "".join(rules)

    def _keyframes(self, frames: Sequence[int]) -> Iterator[str]:
        inside = frozenset(frames)
        for index in range(self._frames):
            if index == 0 or (index in inside) != (index - 1 in inside):
                state = "visible" if index in inside else "hidden"
                yield f"{100 * index / self._frames:.4g}%{{visibility:{state}}}"
