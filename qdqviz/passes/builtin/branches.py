"""Everything below a value up to the quantizes that end its paths, and how one of them comes above."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from torch.fx import Node

from qdqviz.passes.builtin.data_movement import does_more_than_move_data
from qdqviz.passes.builtin.metadata import copied_metadata, set_value
from qdqviz.passes.builtin.ops import op_name, same_dialect, source_of
from qdqviz.passes.builtin.placement import place_below
from qdqviz.passes.builtin.quantization import QUANTIZE_PER_TENSOR, parameters_of
from qdqviz.passes.builtin.values import compute_node


@dataclass(frozen=True)
class Paths:
    """What lies below a value."""

    quantizes: tuple[Node, ...]
    """The per-tensor quantizes that end paths, nearest first."""

    movers: tuple[Node, ...]
    """The ops that only move data on the way there, nearest first."""

    other_end: Node | None
    """The first reader found that is neither; the search ends there."""


def look_below(node: Node) -> Paths:
    """Follows all users of a value, breadth first, through ops that only move data."""
    quantizes: list[Node] = []
    movers: list[Node] = []
    todo = deque(node.users)
    while todo:
        user = todo.popleft()
        if op_name(user) in QUANTIZE_PER_TENSOR:
            quantizes.append(user)
        elif does_more_than_move_data(user):
            return Paths(tuple(quantizes), tuple(movers), user)
        else:
            movers.append(user)
            todo.extend(user.users)
    return Paths(tuple(quantizes), tuple(movers), None)


def leading_quantize(paths: Paths) -> Node:
    """Returns the quantize that goes above: of the most common parameters, the first in the graph.

    Between parameters that are equally common, those win that come first in the graph.
    """
    in_order = sorted(paths.quantizes)
    counts = Counter(parameters_of(quantize) for quantize in in_order)
    return max(in_order, key=lambda quantize: counts[parameters_of(quantize)])


def hoist_quantize(node: Node, paths: Paths) -> None:
    """Moves the leading quantize right below `node`; drops its equals, makes the others requantize."""
    lead = leading_quantize(paths)
    common = parameters_of(lead)
    others = [quantize for quantize in paths.quantizes if parameters_of(quantize) != common]
    for equal in [quantize for quantize in paths.quantizes if quantize not in others]:
        equal.replace_all_uses_with(source_of(equal))
        if equal is not lead:
            node.graph.erase_node(equal)
    backs = [_dequantize_before(quantize, lead) for quantize in others]
    lead.replace_input_with(source_of(lead), node)
    node.replace_all_uses_with(lead, lambda user: user is not lead)
    place_below(node).append(lead)
    for changed in (lead, *paths.movers, *backs):
        set_value(changed, compute_node(changed))


def _dequantize_before(quantize: Node, lead: Node) -> Node:
    """The pair requantizes: from the common parameters, which the path now has, to the quantize's own."""
    source = source_of(quantize)
    target = same_dialect(quantize, op_name(quantize).replace("quantize_per_tensor", "dequantize_per_tensor"))
    with quantize.graph.inserting_before(quantize):
        back = quantize.graph.create_node("call_function", target, (source, *parameters_of(lead)), {})
    back.meta = copied_metadata(quantize)
    quantize.replace_input_with(source, back)
    return back
