"""Where nodes stand in execution order: between making a value and using it, the value takes up memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter

import torch
from torch.fx import Node

from qdqviz.passes.builtin.ops import changes_its_input


def place_below(definition: Node) -> Node:
    """Returns the node after which the user of a definition may stand: itself, or the last input of all.

    Inputs stay together at the top. What worked on an input right at its place would end the input's life
    early, and its memory could then be given away while the caller still holds it.
    """
    place = definition
    while place.op == "placeholder" and place.next.op == "placeholder":
        place = place.next
    return place


def between(first: Node, last: Node) -> Iterator[Node]:
    """Yields the nodes that stand between two, from the first one's side."""
    node = first.next
    while node is not last:
        yield node
        node = node.next


def all_between(first: Node, last: Node, predicate: Callable[[Node], bool]) -> bool:
    """Tells whether all nodes that stand between two fulfil a predicate."""
    return all(predicate(node) for node in between(first, last))


def in_place_ops(graph: torch.fx.Graph) -> list[Node]:
    """Returns the nodes that change a value in place; graphs in the edge dialect have none.

    The ops of a graph are asked, not its nodes: there are few of them, and no node is looked at for nothing.
    """
    ops = {*map(attrgetter("op", "target"), graph.nodes)}
    changing = [found for found in ops if changes_its_input(*found)]
    return [node for op, target in changing for node in graph.find_nodes(op=op, target=target)]


def is_changed_between(first: Node, last: Node, changers: list[Node]) -> bool:
    """An op in between changes values in place, perhaps this one: at another time it may be another."""
    return any(first < changer < last for changer in changers)
