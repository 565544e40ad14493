"""DOT of a picture for other tools: with labels and colours, every text from the graph escaped."""

from __future__ import annotations

from typing import Any

import graphviz

from qdqviz.draw.legend import value_kind
from qdqviz.draw.picture import Box, Edge, Picture, Presence
from qdqviz.draw.theme import Theme
from qdqviz.draw.union import Mark
from qdqviz.ir.text import safe_text

_FONT = "DejaVu Sans Mono"


def dot_source(picture: Picture, theme: Theme, *, title: str = "") -> str:
    """DOT of a picture in its view, with labels and colours, for other tools to lay out.

    Every text from the graph is escaped: it cannot be read as markup, escape sequences or ports.
    """
    dot = graphviz.Digraph(
        comment=safe_text(title) or None,
        graph_attr={
            "rankdir": "TB",
            "bgcolor": theme.background.hex,
            "fontcolor": theme.ui["foreground"].hex,
            "label": _escaped(title),
        },
        node_attr={"shape": "box", "style": "rounded,filled", "fontname": _FONT, "fontsize": "11"},
    )
    for box in picture.boxes:
        if box.presence is not Presence.GAP:
            _add_box(dot, box, theme)
    for edge in picture.edges:
        if edge.presence is not Presence.GAP:
            _add_edge(dot, edge, theme)
    return str(dot.source)


def _escaped(text: str) -> Any:
    """Text that DOT takes literally: no HTML label, no escape sequence.

    What comes back is graphviz's own kind of string, which its quoting knows.
    """
    return graphviz.escape(safe_text(text))


def _add_box(dot: Any, box: Box, theme: Theme) -> None:
    is_ghost = box.presence is Presence.GHOST
    mark = "" if box.mark is Mark.NONE else f"{box.mark} "
    stroke = theme.roles[box.role] if box.mark is Mark.NONE else theme.marks[box.mark.name.lower()]
    lines = (f"{mark}{box.name}", *box.lines)
    dot.node(
        f"n{box.id}",
        label=graphviz.nohtml("\\n".join(graphviz.escape(line) for line in lines)),
        tooltip=_escaped(box.full_name),
        color=(theme.ui["muted"] if is_ghost else stroke).hex,
        fillcolor=(theme.background if is_ghost else theme.tint(box.role)).hex,
        fontcolor=theme.ui["muted" if is_ghost else "foreground"].hex,
        style="rounded,dashed" if box.mark is Mark.REMOVED else "rounded,filled",
        penwidth="2.5" if box.mark is Mark.ADDED else "1.2",
        peripheries="2" if box.mark is Mark.REWIRED and not is_ghost else "1",
    )


def _add_edge(dot: Any, edge: Edge, theme: Theme) -> None:
    kind = value_kind(edge.dtype)
    colour = theme.values[kind] if edge.mark is Mark.NONE else theme.marks[edge.mark.name.lower()]
    dot.edge(
        f"n{edge.source}",
        f"n{edge.target}",
        color=(theme.ui["muted"] if edge.presence is Presence.GHOST else colour).hex,
        penwidth="2" if kind == "real" else "1",
        style="dotted" if edge.is_faint else "solid",
    )
