"""AdvanceQuantizeOpAboveDefInBranchPass: one quantize in front of a branch, not one a path.

What it does: `x -> slice -> q1`, `x -> slice -> q2`, `x -> view -> q3` becomes `x -> q -> slice`, `q ->
slice`, `q -> view`. The parameters that most of the quantizes use go above; a quantize with other parameters
stays and gets a dequantize in front of it, so that the pair requantizes.

Why it pays: `x` lives as int8 while the paths are walked, and everything on them moves a quarter of the
bytes.

When it must not fire: if any path ends in something else than a quantize; and if only slices lie on the
paths and they keep less than half of `x`, since the rest would be quantized for nothing.

What it costs: where all parameters agree, the result is the same, bit by bit. A requantized path is rounded
twice: its value moves by at most half a step of the common quantize plus one step of its own, as long as it
lies within the range of the common quantize; beyond that it is clamped to that range.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from qdqviz.passes.builtin.branches import Paths, hoist_quantize, look_below
from qdqviz.passes.builtin.data_movement import is_no_slice, only_moves_data
from qdqviz.passes.builtin.graph_pass import GraphPass
from qdqviz.passes.builtin.ops import SIZE_QUERIES, op_name
from qdqviz.passes.builtin.placement import in_place_ops, is_changed_between
from qdqviz.passes.builtin.quantization import QUANTIZE_PER_CHANNEL, QUANTIZE_WITH_TENSORS
from qdqviz.passes.builtin.sizes import at_most, product, shape_of


class AdvanceQuantizeOpAboveDefInBranchPass(GraphPass):
    """Moves the quantizes at the ends of all paths from a value to one quantize in front of the paths."""

    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Looks at every value that is an input or computed, and at everything that reads it."""
        modified = False
        changers = in_place_ops(graph)
        for node in graph.nodes:
            if is_no_value(node):
                continue
            if only_moves_data(node):
                continue
            paths = look_below(node)
            if is_asked_for_a_shape(paths):
                continue
            if ends_in_a_computed_scale(paths):
                continue
            if ends_in_a_quantize_per_channel(paths):
                continue
            if ends_elsewhere(paths):
                continue
            if reaches_no_quantize(paths):
                continue
            if crosses_nothing(paths):
                continue
            if crosses_only_slices(paths) and slices_keep_too_little(node, paths):
                continue
            if any(is_changed_between(node, quantize, changers) for quantize in paths.quantizes):
                continue
            hoist_quantize(node, paths)
            modified = True
        return modified


def is_no_value(node: Node) -> bool:
    """It is neither an input nor the result of an op: there is no value to quantize."""
    return node.op not in ("placeholder", "call_function")


def is_asked_for_a_shape(paths: Paths) -> bool:
    """A size query (sym_size) reads it or what is moved from it; it asks no values, but is no quantize."""
    return paths.other_end is not None and op_name(paths.other_end) in SIZE_QUERIES


def ends_in_a_computed_scale(paths: Paths) -> bool:
    """A path ends in a quantize whose scale is computed in the graph, and may not be there further up."""
    return paths.other_end is not None and op_name(paths.other_end) in QUANTIZE_WITH_TENSORS


def ends_in_a_quantize_per_channel(paths: Paths) -> bool:
    """A path ends in a per-channel quantize, whose parameters fit one shape only."""
    return paths.other_end is not None and op_name(paths.other_end) in QUANTIZE_PER_CHANNEL


def ends_elsewhere(paths: Paths) -> bool:
    """A path ends in something else than a quantize (an op, an output), which needs the fp32 value."""
    return paths.other_end is not None


def reaches_no_quantize(paths: Paths) -> bool:
    """No path from it ends in a quantize."""
    return not paths.quantizes


def crosses_nothing(paths: Paths) -> bool:
    """The quantizes read it directly: there is no data movement to put one above."""
    return not paths.movers


def crosses_only_slices(paths: Paths) -> bool:
    """There are only slices and selects on the paths."""
    return not any(is_no_slice(mover) for mover in paths.movers)


def slices_keep_too_little(node: Node, paths: Paths) -> bool:
    """Together the slices keep less than half of it, and quantizing the rest would be wasted work."""
    whole = shape_of(node)
    parts = [shape_of(mover) for mover in paths.movers]
    if whole is None or any(part is None for part in parts):
        return True
    kept = sum(product(part) for part in parts if part is not None)
    return not at_most(product(whole), 2 * kept)
