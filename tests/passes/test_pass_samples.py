"""The built-in passes on every sample model: outputs stay, metadata is right, a second run does nothing."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pass_structure import equal_bits, shared_metadata, wrong_values

from qdqviz.load.apply import apply_passes
from qdqviz.load.copying import copy_program
from qdqviz.load.loaded import exported_of, graph_module_of
from qdqviz.load.samples import list_samples
from qdqviz.passes.catalogue import Catalogue
from qdqviz.passes.names import BUILTIN_MODULES, BUILTIN_PIPELINES

FUSE = "FuseDequantLinearPass"
BRANCH = "AdvanceQuantizeOpAboveDefInBranchPass"


def outputs(program: Any, method: str, inputs: tuple[Any, ...]) -> list[Any]:
    module = exported_of(program, method).module(check_guards=False)
    with torch.no_grad():
        return torch.utils._pytree.tree_flatten(module(*inputs))[0]


def inputs_of(loaded: Any, method: str) -> tuple[Any, ...]:
    """A sample's other methods have the inputs that they were exported with."""
    if method == loaded.method:
        return loaded.inputs
    return exported_of(loaded.program, method).example_inputs[0]


def made(spec: str, catalogue: Catalogue, program: Any, method: str) -> list[Any]:
    return [each.make(exported_of(program, method)) for each in catalogue.resolve(spec)]


@pytest.mark.parametrize("sample", [sample.name for sample in list_samples()])
@pytest.mark.parametrize("spec", [*BUILTIN_MODULES, *BUILTIN_PIPELINES])
def test_a_pass_keeps_a_samples_outputs_and_its_metadata(sample, spec, loaded_sample, catalogue):
    original = loaded_sample(sample)
    for method in original.methods:
        inputs = inputs_of(original, method)
        before = outputs(original.program, method, inputs)
        program = copy_program(original.program)
        result = apply_passes(program, made(spec, catalogue, program, method), method=method)
        module = graph_module_of(result, method)
        module.graph.lint()
        assert wrong_values(module) == []
        assert shared_metadata(module) == []
        check_outputs(sample, spec, before, outputs(result, method, inputs))
        if spec in BUILTIN_MODULES:  # a pipeline may find more to do: its last pass makes room for its first
            (again,) = made(spec, catalogue, result, method)
            assert not again(module).modified


def check_outputs(sample: str, spec: str, before: list[Any], after: list[Any]) -> None:
    """Bit for bit, but for the two passes that round differently: on the one sample where each fires."""
    if sample == "weight_only" and spec in (FUSE, "fuse", "default"):
        for left, right in zip(before, after, strict=True):
            torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-6)
    elif sample == "slices" and spec in (BRANCH, "reorder", "default"):
        # One step of the slice's own scale (the sample's SCALES), and half a step of the first one's.
        for left, right, step in zip(before, after, (0.02, 0.004, 0.0005, 0.02), strict=True):
            assert float((left - right).abs().max()) <= step + 0.02 / 2 + 1e-6
    else:
        assert equal_bits(before, after)
