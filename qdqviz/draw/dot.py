"""DOT text for the layout engine: sizes and edges only, what a box says does not matter there."""

from __future__ import annotations

from collections.abc import Iterable

import graphviz

from qdqviz.draw.layout import COLUMN, ROW, BoxSize, Link
from qdqviz.draw.text import width
from qdqviz.draw.union import Mark, Union, UnionNode

MAX_COLUMNS = 38
"""Widest box, frame included; longer labels are cut with an ellipsis."""

_NAME_COLUMNS = 16
"""A name may widen a box up to this; longer names are cut in the middle."""

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


def union_source(union: Union) -> str:
    """DOT of a union graph, each box as large as what it says in any state."""
    return layout_source(map(_box_size, union.nodes), _links(union))


def _box_size(node: UnionNode) -> BoxSize:
    """A box that holds what the node says in any state, so that it is the same in every view."""
    faces = [face for face in node.faces if face is not None]
    text = max(width(line) for face in faces for line in face.lines)
    name = max(min(width(face.name), _NAME_COLUMNS) + 2 + 2 * (node.mark is not Mark.NONE) for face in faces)
    more = 4 * bool(node.more_inputs)
    columns = min(max(text + 4, name + more + 2), MAX_COLUMNS)
    return BoxSize(node.id, columns, max(len(face.lines) for face in faces) + 2)


def _links(union: Union) -> list[Link]:
    """Edges for the layout: the last state decides what is above what, unless a node is only in others."""
    lasting = {node.id for node in union.nodes if node.faces[-1] is not None}
    return [
        Link(edge.source, edge.target, ranks=edge.present[-1] or not {edge.source, edge.target} <= lasting)
        for edge in union.edges
    ]
