"""Search: nodes of the graph that is shown by name or op, and rewrites by what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from qdqviz.ir.graph import Body
from qdqviz.ir.labels import op_label, short_name
from qdqviz.ir.text import safe_text
from qdqviz.tui.model.lists import Lists

MOST_HITS = 200
"""Most hits of each kind that are given."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing found."""

    kind: Literal["node", "step"]
    """What it is."""
    id: int
    """Identity of the node, or the step."""
    path: str
    """Graph of the node; empty for a step."""
    name: str
    """What it is called; safe to show."""
    detail: str
    """What it does; safe to show."""


def find(
    text: str,
    lists: Lists,
    body: Body,
    path: str,
    title_of: Callable[[int], str | None] = lambda _: None,
) -> list[Hit]:
    """What a text is found in, the best first: nodes, then rewrites. Letter case does not count.

    Args:
        text: What to look for; a number is also looked for among the steps.
        lists: The trace's lists.
        body: The graph that is shown.
        path: Its path.
        title_of: Titles of rewrites as far as they are known.
    """
    needle = text.strip().lower()
    if not needle:
        return []
    return [*_nodes(needle, lists, body, path), *_steps(needle, lists, title_of)]


def _nodes(needle: str, lists: Lists, body: Body, path: str) -> list[Hit]:
    ranked: list[tuple[int, bytes, int]] = []
    for node in body:
        found = _rank(needle, node.name.lower())
        if found is None and needle in node.target.lower():
            found = 4
        if found is not None:
            ranked.append((found, node.order, node.id))
    ranked.sort()
    hits = []
    for _, _, node_id in ranked[:MOST_HITS]:
        node = body[node_id]
        label = safe_text(op_label(node, lists.ops))
        hits.append(Hit("node", node_id, path, safe_text(node.name), label))
    return hits


def _rank(needle: str, name: str) -> int | None:
    """0 for the whole name, 1 for its start, 2 for the start of a short name, 3 for any other part."""
    if needle not in name:
        return 2 if needle in short_name(name) else None
    if name == needle or short_name(name) == needle:
        return 0
    if name.startswith(needle):
        return 1
    return 2 if short_name(name).startswith(needle) else 3


def _steps(needle: str, lists: Lists, title_of: Callable[[int], str | None]) -> list[Hit]:
    hits = []
    for step, title, run in _titled(lists, title_of):
        if needle in title.lower() or needle in run.lower() or needle == str(step):
            hits.append(Hit("step", step, "", title, run))
            if len(hits) == MOST_HITS:
                break
    return hits


def _titled(lists: Lists, title_of: Callable[[int], str | None]) -> Iterator[tuple[int, str, str]]:
    for header in lists.headers:
        title = title_of(header.step) or safe_text(short_name(header.name))
        yield header.step, title, safe_text(lists.runs[header.run].label)
