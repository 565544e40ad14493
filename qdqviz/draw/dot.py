"""DOT text for the layout engine: sizes and edges only, what a box says does not matter there."""

from __future__ import annotations

from collections.abc import Iterable

import graphviz

from qdqviz.draw.layout import COLUMN, ROW, BoxSize, Link

_NODE_SEPARATION = "0.3"
_RANK_SEPARATION = "0.4"


def layout_source(sizes: Iterable[BoxSize], links: Iterable[Link]) -> str:
    """DOT of a graph whose boxes are `n<key>` and have exactly the sizes given.

    The order of boxes and links decides how Graphviz breaks ties: give them in execution order.
    """
    dot = graphviz.Digraph(
        graph_attr={
            "rankdir": "TB",
            "nodesep": _NODE_SEPARATION,
            "ranksep": _RANK_SEPARATION,
            "splines": "spline",
            "pad": "0",
            "margin": "0",
        },
        node_attr={"shape": "box", "fixedsize": "true", "label": ""},
        edge_attr={"dir": "none"},
    )
    for size in sizes:
        dot.node(f"n{size.key}", width=f"{size.columns * COLUMN:.2f}", height=f"{size.rows * ROW:.2f}")
    for link in links:
        attributes = {} if link.ranks else {"constraint": "false"}
        if link.weight != 1:
            attributes["weight"] = str(link.weight)
        dot.edge(f"n{link.source}", f"n{link.target}", **attributes)
    return str(dot.source)
