"""What the graph panes show of a comparison: the left graph and the right one, and where they differ."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from qdqviz.explain.difference import Told
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.neighbourhood import differing, touched
from qdqviz.ir.node import NodeState
from qdqviz.ir.order import between
from qdqviz.ir.text import safe_text
from qdqviz.trace.compare.graphs import longest_increasing
from qdqviz.trace.compare.model import SubjectPair
from qdqviz.trace.compare.subjects import align_paths
from qdqviz.tui.compare.archive import PairArchive
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.scene import MOST_FOCUS, Lens, Sight

MOST_LINES = 3
"""How many differences the sentence below the panes tells; the Why tab tells all."""


def look(archive: PairArchive, place: Place, lens: Lens) -> Sight:
    """What there is to see at a place."""
    left, right = archive.states(place)
    path, focus = _focus(archive, place, left or GraphState(), right or GraphState())
    shown = path if lens.path is None else lens.path
    first, last = _bodies(left or GraphState(), right or GraphState(), shown)
    said = sentence(archive, place)
    if lens.anchor is not None and (lens.anchor in first or lens.anchor in last):
        return Sight(shown, first, last, (lens.anchor,), said)
    return Sight(shown, first, last, focus[:MOST_FOCUS], said, max(len(focus) - MOST_FOCUS, 0))


def _focus(
    archive: PairArchive, place: Place, left: GraphState, right: GraphState
) -> tuple[str, tuple[int, ...]]:
    """The graph to show, and the nodes in the middle."""
    if place.step is None:
        for path in left.paths():
            found = differing(*_bodies(left, right, path))
            if found:
                return path, found
        return "", ()
    rewrites = archive.rewrites(place.step)
    paths = dict.fromkeys(path for each in rewrites for path in _paths(each.path, each.changes))
    path = next((each for each in paths if any(touched(r.changes, each) for r in rewrites)), "")
    nodes = dict.fromkeys(node for each in rewrites for node in touched(each.changes, path))
    if not nodes:
        nodes = dict.fromkeys(each.focus for each in rewrites if each.focus is not None)
    return path, tuple(nodes)


def _paths(path: str, changes: object) -> list[str]:
    assert isinstance(changes, tuple)
    return [path, *(change.path for change in changes)]


def _bodies(left: GraphState, right: GraphState, path: str) -> tuple[Body, Body]:
    """A graph on both sides; what stands in the same order has the same keys, so that it is not marked."""
    there = path if path in right.bodies else align_paths(left, right).get(path, path)
    first, last = left.bodies.get(path) or Body(), right.bodies.get(there) or Body()
    return first, with_keys_of(first, last)


def with_keys_of(first: Body, last: Body) -> Body:
    """A body in its own order, by the keys of another one as far as both have the same order."""
    nodes = last.in_order()
    both = [node for node in nodes if node.id in first]
    if all(first[node.id].order == node.order for node in both):
        return last
    places = {node.id: index for index, node in enumerate(first.in_order())}
    kept = {both[index].id for index in longest_increasing([places[node.id] for node in both])}
    low: bytes | None = None
    run: list[NodeState] = []
    for node in nodes:
        if node.id not in kept:
            run.append(node)
            continue
        high = first[node.id].order
        last = _replaced(last, [*zip(run, _spread(low, high, len(run)), strict=True), (node, high)])
        low, run = high, []
    return _replaced(last, zip(run, _spread(low, None, len(run)), strict=True))


def _replaced(body: Body, keys: Iterable[tuple[NodeState, bytes]]) -> Body:
    for node, key in keys:
        if key != node.order:
            body = body.with_node(replace(node, order=key))
    return body


def _spread(low: bytes | None, high: bytes | None, count: int) -> list[bytes]:
    """Increasing keys between two keys; their lengths grow with the logarithm of how many there are."""
    if not count:
        return []
    middle = between(low, high)
    half = count // 2
    return [*_spread(low, middle, half), middle, *_spread(middle, high, count - half - 1)]


def sentence(archive: PairArchive, place: Place) -> str:
    """What differs at a place, in a sentence; safe to show."""
    if place.step is not None:
        return safe_text(told_sentence(archive.told(place.step), archive.compared.sides))
    if place.run is None:
        return safe_text(_graphs_sentence(archive, archive.subject(place.subject)))
    run, pair = archive.lists.runs[place.run], archive.pairs.runs[place.run]
    if run.error is not None:
        return safe_text(f"{run.name} raised {run.error.type}: {run.error.message}")
    if pair is None:
        return safe_text(f"{run.rewrites:,} rewrites do not differ, save perhaps in metadata.")
    sides = archive.compared.sides
    if pair.left is None or pair.right is None:
        return safe_text(f"{run.name} did not run in {sides[0 if pair.left is None else 1]}.")
    counts = (
        f"{pair.count('equal') + len(pair.metadata):,} the same",
        f"{pair.count('different'):,} differ",
        f"{pair.count('only_left'):,} only {sides[0]}",
        f"{pair.count('only_right'):,} only {sides[1]}",
    )
    moved = "; it runs at another place" if pair.moved else ""
    return safe_text(f"{run.name}: rewrites {', '.join(counts)}{moved}.")


def told_sentence(told: Told, sides: tuple[str, str]) -> str:
    """A pair of rewrites in a sentence."""
    pair = told.pair
    if pair.absence is not None:
        side = sides[0 if pair.right is None else 1]
        return f"Only {side}: {told.left or told.right}; {told.lacking.rstrip('.')}."
    titles = " | ".join(dict.fromkeys((told.left, told.right)))
    if pair.status == "equal":
        return f"The same in both: {titles}."
    more = f"; and {len(told.lines) - MOST_LINES} more" if len(told.lines) > MOST_LINES else ""
    return f"{titles}: {'; '.join(told.lines[:MOST_LINES])}{more}."


def _graphs_sentence(archive: PairArchive, subject: SubjectPair) -> str:
    name, sides = archive.teller.graph_name(subject), archive.compared.sides
    if subject.left is None or subject.right is None:
        return f"Only {sides[0 if subject.right is None else 1]} has the program {name}."
    if subject.final.equal:
        return f"The final graph {name} is the same in both."
    lines = list(archive.teller.graph(subject, subject.final))
    more = f"; and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    return f"The final graph {name} differs: {'; '.join(lines[:MOST_LINES])}{more}."
