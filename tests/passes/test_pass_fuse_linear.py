"""FuseDequantLinearPass: weight-only int8 linears in both dialects, with and without bias."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pass_hand import DQC, Hand, names
from pass_structure import copy_of, run, shared_metadata, wrong_values

from qdqviz.load.apply import apply_passes
from qdqviz.load.pt2e import edge, export
from qdqviz.passes.builtin.fuse_dequant_linear import FuseDequantLinearPass, constant_of
from qdqviz.passes.builtin.ops import is_edge_op


class WeightOnly(torch.nn.Module):
    """A linear over an int8 weight, its parameters as buffers."""

    def __init__(self, bias=True, zero_point=0, dtype=torch.float32, reuse=False, columns=8):
        super().__init__()
        generator = torch.Generator().manual_seed(5)
        weight = torch.randint(-127, 128, (6, columns), generator=generator, dtype=torch.int8)
        self.register_buffer("weight", weight)
        self.register_buffer("scales", (torch.rand(6, generator=generator) * 0.02 + 0.01).to(dtype))
        self.register_buffer("zero_points", torch.full((6,), zero_point, dtype=torch.int64))
        self.bias = torch.nn.Buffer(torch.randn(6, generator=generator).to(dtype)) if bias else None
        self.reuse = reuse
        self.out = dtype

    def forward(self, x):
        weight = torch.ops.quantized_decomposed.dequantize_per_channel.default(
            self.weight, self.scales, self.zero_points, 0, -127, 127, torch.int8, out_dtype=self.out
        )
        result = torch.ops.aten.linear.default(x, weight, self.bias)
        return (result, weight.sum()) if self.reuse else result


def inputs(dtype: torch.dtype = torch.float32, columns: int = 8) -> tuple[torch.Tensor, ...]:
    return (torch.linspace(-1, 1, 3 * columns).view(3, columns).to(dtype),)


def outputs(program: Any, given: tuple[Any, ...]) -> list[Any]:
    exported = program.exported_program() if hasattr(program, "_edge_programs") else program
    with torch.no_grad():
        return torch.utils._pytree.tree_flatten(exported.module(check_guards=False)(*given))[0]


def programs(model: WeightOnly, given: tuple[Any, ...]) -> dict[str, Any]:
    exported = export(model.eval(), given)
    return {
        "aten": exported,
        "edge": edge(export(model.eval(), given), preserve_ops=[torch.ops.aten.linear.default]),
    }


def fused(program: Any) -> Any:
    exported = program.exported_program() if hasattr(program, "_edge_programs") else program
    return apply_passes(program, [FuseDequantLinearPass(exported)])


def graph_of(program: Any) -> Any:
    return (program.exported_program() if hasattr(program, "_edge_programs") else program).graph_module


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dialect", ["aten", "edge"])
def test_the_linear_reads_the_weight_as_int8(bias, dialect):
    program = programs(WeightOnly(bias), inputs())[dialect]
    before = outputs(program, inputs())
    result = fused(program)
    module = graph_of(result)
    module.graph.lint()
    assert names(module) == (["_weight_int8pack_mm", "add"] if bias else ["_weight_int8pack_mm"])
    calls = [node for node in module.graph.nodes if node.op == "call_function"]
    assert all(is_edge_op(node) == (dialect == "edge") for node in calls)
    assert wrong_values(module) == [] and shared_metadata(module) == []
    assert all("stack_trace" in node.meta for node in calls)
    # The same products in another order of rounding: scaled after the sum instead of before it.
    torch.testing.assert_close(outputs(result, inputs()), before, rtol=1e-5, atol=1e-5)


def test_a_dequantize_with_other_users_survives():
    program = programs(WeightOnly(reuse=True), inputs())["aten"]
    before = outputs(program, inputs())
    result = fused(program)
    assert sorted(names(graph_of(result))) == ["_weight_int8pack_mm", "add", "dequantize_per_channel", "sum"]
    torch.testing.assert_close(outputs(result, inputs()), before, rtol=1e-5, atol=1e-5)


def test_bfloat16_activations_with_bfloat16_scales_are_fused():
    given = inputs(torch.bfloat16, columns=16)
    program = programs(WeightOnly(dtype=torch.bfloat16, columns=16), given)["aten"]
    before = outputs(program, given)
    result = fused(program)
    assert names(graph_of(result)) == ["_weight_int8pack_mm", "add"]
    torch.testing.assert_close(outputs(result, given), before, rtol=0.05, atol=0.1)


def test_zero_points_that_are_not_zero_are_not_dropped():
    program = programs(WeightOnly(zero_point=1), inputs())["aten"]
    before = outputs(program, inputs())
    result = fused(program)
    assert "linear" in names(graph_of(result))
    assert torch.equal(outputs(result, inputs())[0], before[0])


def test_zero_points_are_looked_up_in_the_program_and_not_guessed():
    program = programs(WeightOnly(), inputs())["aten"]
    zero_points = next(node for node in program.graph.nodes if node.name == "b_zero_points")
    assert torch.equal(constant_of(zero_points, program), torch.zeros(6, dtype=torch.int64))
    assert constant_of(zero_points, None) is None
    assert not FuseDequantLinearPass()(program.graph_module).modified


def test_a_buffer_that_the_program_changes_is_no_constant():
    class Changing(WeightOnly):
        def forward(self, x):
            result = super().forward(x)
            self.zero_points.add_(1)
            return result

    program = export(Changing().eval(), inputs()).run_decompositions({})
    zero_points = next(node for node in program.graph.nodes if node.name == "b_zero_points")
    assert constant_of(zero_points, program) is None


def test_a_graph_module_with_constants_of_its_own_needs_no_program():
    module = export(WeightOnly().eval(), inputs()).module(check_guards=False)
    before = run(copy_of(module), inputs())
    result = FuseDequantLinearPass()(module)
    assert result.modified and "_weight_int8pack_mm" in names(module)
    torch.testing.assert_close(run(module, inputs()), before, rtol=1e-5, atol=1e-5)


def test_a_linear_that_uses_one_dequantize_twice_keeps_it():
    hand = Hand("aten")
    weight = hand.input(4, 4, dtype=torch.int8)
    scales, _ = hand.channels(4)
    d = hand.op(DQC, weight, scales, None, 0, -128, 127, torch.int8)
    module = hand.done(hand.op("aten.linear.default", d, d))
    before = run(copy_of(module), tuple(hand.inputs))
    assert FuseDequantLinearPass()(module).modified
    module.graph.lint()
    assert names(module) == ["dequantize_per_channel", "_weight_int8pack_mm"]
    torch.testing.assert_close(run(module, tuple(hand.inputs)), before, rtol=1e-5, atol=1e-5)
