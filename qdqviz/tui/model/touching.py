"""The next or the previous rewrite that is about a node."""

from __future__ import annotations

from collections.abc import Callable

from qdqviz.tui.model.archive import Archive


def touching_step(
    archive: Archive, subject: int, path: str, node: int, after: int, forward: bool, stale: Callable[[], bool]
) -> int | None:
    """The nearest step beyond `after` whose changes are about a node, or None. Call it in a worker.

    Args:
        archive: The trace.
        subject: Subject that holds the node.
        path: Graph that holds it.
        node: Its identity.
        after: Step to begin at, itself left out.
        forward: Whether to go to later steps.
        stale: Asked at every step; once it says yes the answer is None.
    """
    headers = archive.lists.headers
    steps = range(after + 1, len(headers) + 1) if forward else range(min(after, len(headers) + 1) - 1, 0, -1)
    for step in steps:
        if stale():
            return None
        if headers[step - 1].subject == subject and archive.touches(step, path, node):
            return step
    return None
