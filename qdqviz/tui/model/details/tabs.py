"""The tabs of the details pane, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.details.fact import Fact, heading, plain_fact
from qdqviz.tui.model.scene import Scene


@dataclass(frozen=True, slots=True)
class DetailTab:
    """One tab."""

    name: str
    """Names it in the code."""
    title: str
    """What it is called."""
    missing: str = ""
    """What stands in it as long as it is not built."""


DETAIL_TABS = (
    DetailTab("why", "Why"),
    DetailTab("node", "Node"),
    DetailTab("meta", "Meta"),
    DetailTab("source", "Source"),
    DetailTab("check", "Check", "Whether a rewrite kept the numbers: this pane is not built yet."),
)
"""All tabs."""


def detail_facts(tab: str, archive: Archive, scene: Scene | None, node: int | None) -> Sequence[Fact]:
    """What a tab says.

    Args:
        tab: Name of the tab.
        archive: The trace.
        scene: What is shown; None while it is made.
        node: The node that it is about; None where there is none.
    """
    missing = next((each.missing for each in DETAIL_TABS if each.name == tab), "")
    if missing:
        return [heading(missing, "muted")]
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
