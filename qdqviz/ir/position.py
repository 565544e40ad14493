"""Where a node stands in the execution order, in words: `31st, after quantize_9`."""

from __future__ import annotations

from collections.abc import Callable

from qdqviz.ir.graph import Body


def position_text(body: Body, node: int, name_of: Callable[[str], str] = str) -> str:
    """A node's place in the order and the node in front of it; of the first node its place alone.

    Args:
        body: The graph, which holds the node.
        node: Identity of the node.
        name_of: Makes a node's name as short as it is to be.
    """
    index, before = body.standing(node)
    place = ordinal(index + 1)
    return place if before is None else f"{place}, after {name_of(before.name)}"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`, `1,023rd`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
