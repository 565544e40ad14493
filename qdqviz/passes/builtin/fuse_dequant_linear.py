"""FuseDequantLinearPass: a linear over an int8 weight reads the weight as int8.

What it does: `linear(x, dequantize_per_channel(w), bias)` becomes `add(_weight_int8pack_mm(x, w, scales),
bias)`.

Why it pays: the fp32 copy of the weight, four times its size and usually the largest value of the whole
graph, is never made; the kernel scales each output channel once, after summing.

When it must not fire: the kernel knows one scale an output row and nothing else. So the axis must be 0, all
zero points zero, the weight int8, the scales of the activation's dtype, and the activation of two
dimensions. What cannot be known (zero points that are an input of the graph, where there is no program to
look them up in) is not assumed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Node

from qdqviz.passes.builtin.graph_pass import GraphPass
from qdqviz.passes.builtin.inputs import reads_no_node
from qdqviz.passes.builtin.metadata import copied_metadata, set_value
from qdqviz.passes.builtin.ops import argument, op_name, same_dialect, source_of
from qdqviz.passes.builtin.placement import in_place_ops, is_changed_between
from qdqviz.passes.builtin.sizes import normal_dimension
from qdqviz.passes.builtin.values import Computed, compute, fetched, value_of

LINEAR = "aten.linear.default"
DEQUANTIZE = "quantized_decomposed.dequantize_per_channel.default"
FUSED = "aten._weight_int8pack_mm.default"
ADD = "aten.add.Tensor"
BFLOAT16_ROW = 16
"""What the length of a bfloat16 row must be a multiple of."""


class FuseDequantLinearPass(GraphPass):
    """Fuses the dequantize of an int8 weight into the linear that reads it: no fp32 weight is made."""

    def __init__(self, exported_program: Any = None) -> None:
        """Makes the pass.

        Args:
            exported_program: Where the values of zero points that are inputs of the graph are looked up.
        """
        super().__init__()
        self._program = exported_program

    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Looks at every linear."""
        modified = False
        changers = in_place_ops(graph)
        for node in graph.nodes:
            if is_no_linear(node):
                continue
            dequantize = argument(node, "weight")
            if is_no_dequantized_weight(dequantize):
                continue
            if reads_no_node(dequantize):
                continue
            weight = source_of(dequantize)
            if is_not_int8(weight):
                continue
            if is_not_laid_out_by_rows(weight):
                continue
            if is_not_scaled_by_output_row(dequantize, weight):
                continue
            if may_have_zero_points(dequantize, self._program):
                continue
            if has_another_rank(argument(node, "input")):
                continue
            if has_scales_of_another_dtype(dequantize, argument(node, "input")):
                continue
            if has_rows_the_kernel_misreads(weight, argument(node, "input")):
                continue
            if is_changed_between(dequantize, node, changers):
                continue
            fused = plan_fused(node, dequantize)
            if cannot_run(fused):
                continue
            fuse(node, dequantize, fused)
            modified = True
        return modified


def is_no_linear(node: Node) -> bool:
    """It is no linear, and this pass looks at those only."""
    return op_name(node) != LINEAR


def is_no_dequantized_weight(weight: Any) -> bool:
    """The weight does not come from a per-channel dequantize."""
    return not isinstance(weight, Node) or op_name(weight) != DEQUANTIZE


def is_not_int8(weight: Node) -> bool:
    """The quantized weight is not int8, and the kernel reads int8 only."""
    return not _has_value(weight) or value_of(weight).dtype != torch.int8


def is_not_laid_out_by_rows(weight: Node) -> bool:
    """The weight does not lie in memory row by row, as the kernel reads it."""
    return not value_of(weight).is_contiguous()


def is_not_scaled_by_output_row(dequantize: Node, weight: Node) -> bool:
    """The scales do not belong to dimension 0, and the kernel has one scale an output row."""
    return bool(normal_dimension(argument(dequantize, "axis"), value_of(weight).dim()) != 0)


def may_have_zero_points(dequantize: Node, program: Any) -> bool:
    """The zero points are not known to be zero, and the kernel subtracts none."""
    zero_points = argument(dequantize, "zero_points")
    if zero_points is None:
        return False
    value = constant_of(zero_points, program)
    return value is None or isinstance(value, FakeTensor) or bool(value.count_nonzero().item())


def has_another_rank(activation: Node) -> bool:
    """The activation does not have two dimensions, and the kernel multiplies matrices only."""
    return not _has_value(activation) or value_of(activation).dim() != 2


def has_scales_of_another_dtype(dequantize: Node, activation: Node) -> bool:
    """The scales are not of the activation's dtype, in which the kernel computes."""
    scales = argument(dequantize, "scales")
    return not _has_value(scales) or value_of(scales).dtype != value_of(activation).dtype


def has_rows_the_kernel_misreads(weight: Node, activation: Node) -> bool:
    """The activation is bfloat16 and a row is no multiple of 16 long: the CPU kernel reads past its end.

    Seen in torch 2.13 with AVX2: other lengths give garbage or end the process.
    """
    if value_of(activation).dtype != torch.bfloat16:
        return False
    return bool(value_of(weight).shape[1] % BFLOAT16_ROW != 0)


def cannot_run(fused: Computed) -> bool:
    """The kernel refuses these inputs (scales of another length, for one)."""
    return fused.failed


def plan_fused(linear: Node, dequantize: Node) -> Computed:
    """Works out what the fused op computes, without touching the graph."""
    return compute(same_dialect(linear, FUSED), _fused_arguments(linear, dequantize), {})


def fuse(linear: Node, dequantize: Node, fused: Computed) -> None:
    """Replaces a linear by the fused op (and an add); a dequantize that others read survives."""
    graph = linear.graph
    with graph.inserting_before(linear):
        result = graph.call_function(same_dialect(linear, FUSED), _fused_arguments(linear, dequantize))
    result.meta = copied_metadata(linear)
    set_value(result, fused)
    if (bias := argument(linear, "bias")) is not None:
        with graph.inserting_before(linear):
            result = graph.call_function(same_dialect(linear, ADD), (result, bias))
        result.meta = copied_metadata(linear)
        set_value(result, compute(result.target, result.args, {}))
    linear.replace_all_uses_with(result)
    graph.erase_node(linear)
    if not dequantize.users:
        graph.erase_node(dequantize)


def constant_of(node: Any, program: Any) -> torch.Tensor | None:
    """Returns the tensor behind a get_attr, or behind an input that an ExportedProgram's signature names."""
    if not isinstance(node, Node):
        return None
    if node.op == "placeholder" and program is not None:
        return _lifted(node.name, program)
    return fetched(node)


def _lifted(name: str, program: Any) -> torch.Tensor | None:
    signature = program.graph_signature
    if (stored := signature.inputs_to_buffers.get(name)) is not None:
        changed = stored in signature.buffers_to_mutate.values()
        return None if changed else program.state_dict.get(stored, program.constants.get(stored))
    if (stored := signature.inputs_to_parameters.get(name)) is not None:
        return program.state_dict.get(stored)
    return program.constants.get(signature.inputs_to_lifted_tensor_constants.get(name))


def _fused_arguments(linear: Node, dequantize: Node) -> tuple[Any, ...]:
    return argument(linear, "input"), source_of(dequantize), argument(dequantize, "scales")


def _has_value(node: Any) -> bool:
    return isinstance(node, Node) and isinstance(value_of(node), torch.Tensor)
