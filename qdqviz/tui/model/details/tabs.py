"""The tabs of the details pane, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.details.fact import Fact, plain_fact
from qdqviz.tui.model.scene import Scene


@dataclass(frozen=True, slots=True)
class DetailTab:
    """One tab."""

    name: str
    """Names it in the code."""
    title: str
    """What it is called."""


DETAIL_TABS = (
    DetailTab("why", "Why"),
    DetailTab("node", "Node"),
    DetailTab("meta", "Meta"),
    DetailTab("source", "Source"),
    DetailTab("check", "Check"),
)
"""All tabs."""


def detail_facts(tab: str, archive: Archive, scene: Scene | None, node: int | None) -> Sequence[Fact]:
    """What a tab about a node says.

    Args:
        tab: `node` or `meta`.
        archive: The trace.
        scene: What is shown; None while it is made.
        node: The node that it is about; None where there is none.
    """
    if scene is None:
        return []
    if node is None:
        return [plain_fact("", "click a box, or walk to one with ↑ and ↓", "muted")]
    sight = scene.sight
    if tab == "meta":
        from qdqviz.tui.model.details.about_meta import meta_facts

        return meta_facts(sight.before, sight.after, node, archive.text)
    from qdqviz.tui.model.details.about_node import node_facts

    return node_facts(sight.before, sight.after, node, archive.lists.ops, archive.text)
