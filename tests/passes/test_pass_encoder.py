"""An encoder with int8 weights per channel: our reorder keeps it, upstream's postpone pass breaks it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from pass_hand import find
from pass_structure import equal_bits

from qdqviz.load.apply import apply_passes
from qdqviz.load.copying import copy_program
from qdqviz.load.pt2e import edge, quantized, seeded
from qdqviz.passes.builtin.ops import argument
from qdqviz.passes.catalogue import Catalogue

OURS = "reorder"
UPSTREAM = "cadence:PostponeDequantizeOpBelowUseChainPass"


def linear(rows: int, columns: int) -> tuple[Any, tuple[torch.Tensor, ...]]:
    """One int8 linear in the edge dialect: dequantize_per_channel(weight, axis 0) -> permute -> addmm."""
    inputs = (torch.randn(2, columns, generator=torch.Generator().manual_seed(3)),)
    with seeded(3):
        module = torch.nn.Linear(columns, rows).eval()
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    return edge(quantized(module, inputs, quantizer)), inputs


def outputs(program: Any, inputs: tuple[Any, ...]) -> list[Any]:
    with torch.no_grad():
        result = program.exported_program().module(check_guards=False)(*inputs)
    return torch.utils._pytree.tree_flatten(result)[0]


def transformed(program: Any, spec: str, catalogue: Catalogue) -> Any:
    return apply_passes(copy_program(program), [each.make() for each in catalogue.resolve(spec)])


def test_ours_keeps_the_encoders_outputs_bit_by_bit(loaded_sample, catalogue):
    sample = loaded_sample("encoder")
    before = outputs(sample.program, sample.inputs)
    assert equal_bits(before, outputs(transformed(sample.program, OURS, catalogue), sample.inputs))


def test_upstreams_scales_the_wrong_dimension_of_the_encoders_square_linears(loaded_sample, catalogue):
    sample = loaded_sample("encoder")
    (before,) = outputs(sample.program, sample.inputs)
    (after,) = outputs(transformed(sample.program, UPSTREAM, catalogue), sample.inputs)
    assert before.shape == after.shape
    last = find(sample.program.exported_program().graph_module, "dequantize_per_tensor", -1)
    assert float((before - after).abs().max()) > 2 * argument(last, "scale")


def test_the_axis_becomes_1_below_the_permute_where_upstream_leaves_it_at_0(catalogue):
    program, inputs = linear(8, 8)
    before = outputs(program, inputs)
    ours, theirs = (transformed(program, spec, catalogue) for spec in (OURS, UPSTREAM))
    axes = [
        argument(find(each.exported_program().graph_module, "dequantize_per_channel"), "axis")
        for each in (program, ours, theirs)
    ]
    assert axes == [0, 1, 0]
    assert equal_bits(before, outputs(ours, inputs))
    assert not equal_bits(before, outputs(theirs, inputs))


def test_a_linear_that_is_not_square_fails_to_run_after_upstreams_pass_and_runs_after_ours(catalogue):
    program, inputs = linear(6, 8)
    before = outputs(program, inputs)
    assert equal_bits(before, outputs(transformed(program, OURS, catalogue), inputs))
    broken = transformed(program, UPSTREAM, catalogue)
    with pytest.raises(RuntimeError, match="must match the size"):
        outputs(broken, inputs)
