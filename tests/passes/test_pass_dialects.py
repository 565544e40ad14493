"""One pass on aten and edge graphs, on graphs without values, in branches, on exported programs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from pass_differences import NAMES, Comparison
from pass_graphs import Drawn, edge_graphs
from pass_hand import DQ, INT8, Hand, Q, names
from pass_structure import copy_of, equal_bits, run, same_dataflow, same_order, wrong_values
from torch.fx import GraphModule

from qdqviz.load.apply import apply_passes
from qdqviz.passes.catalogue import Catalogue

VIEWS = {
    name: getattr(torch.ops.aten, name)
    for name in ("expand", "permute", "select", "slice", "squeeze", "transpose", "unsqueeze", "view")
}
"""Aten ops that return views; their edge counterparts are called `..._copy`."""


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return Comparison()


@pytest.fixture(scope="module")
def reorder() -> Any:
    return Catalogue().resolve("reorder")


def to_aten(module: GraphModule, views: bool = False) -> GraphModule:
    """The same graph with aten's ops in place of the edge dialect's, as copies or as views."""
    result = copy_of(module)
    for node in result.graph.nodes:
        if hasattr(node.target, "_op"):
            node.target = node.target._op
        packet = getattr(node.target, "overloadpacket", None)
        name = str(packet).removeprefix("aten.").removesuffix("_copy")
        if views and name in VIEWS:
            node.target = getattr(VIEWS[name], node.target._overloadname)
    return result


def quick(examples: int) -> settings:
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )


def test_a_pass_does_the_same_in_both_dialects(comparison):
    @quick(40)
    @given(edge_graphs())
    def compare(drawn: Drawn) -> None:
        for name in NAMES:
            edge = comparison.ours(name, drawn.module)
            aten = comparison.ours(name, to_aten(drawn.module))
            assert edge.modified == aten.modified
            assert same_order(to_aten(edge.graph_module), aten.graph_module)

    compare()


def test_a_pass_keeps_the_outputs_of_graphs_with_views(comparison):
    """Here strides matter, and what a view cannot do a pass must not ask of it."""
    ran = 0

    @quick(60)
    @given(edge_graphs())
    def compare(drawn: Drawn) -> None:
        nonlocal ran
        module = to_aten(drawn.module, views=True)
        try:
            before = run(copy_of(module), drawn.inputs)
        except RuntimeError:
            return  # a view that was drawn for a copy does not fit the strides here
        ran += 1
        for name in NAMES:
            result = comparison.ours(name, module)
            result.graph_module.graph.lint()
            after = run(result.graph_module, drawn.inputs)
            if "InBranch" not in name:
                assert equal_bits(before, after)

    compare()
    assert ran > 40


class Chain(torch.nn.Module):
    """A square linear per channel, views and permutes, as PT2E sees it before it is lowered."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 8)
        self.second = torch.nn.Linear(8, 4)

    def forward(self, x):
        y = torch.relu(self.first(x))
        return self.second(y.view(2, 4, 8).permute(1, 0, 2).reshape(8, 8))


def converted() -> tuple[GraphModule, tuple[torch.Tensor, ...]]:
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    from qdqviz.load.pt2e import quantize, seeded

    inputs = (torch.randn(8, 8, generator=torch.Generator().manual_seed(0)),)
    with seeded(0):
        module = Chain().eval()
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    return quantize(module, inputs, quantizer), inputs


def test_a_converted_module_whose_q_dq_have_no_values_is_rewritten_and_gets_them(reorder):
    module, inputs = converted()
    before = run(module, inputs)
    assert any("val" not in node.meta for node in module.graph.nodes if node.op == "call_function")
    fired = {}
    for each in reorder:
        result = each.make()(module)
        module = result.graph_module
        module.graph.lint()
        fired[each.name] = result.modified
        assert equal_bits(before, run(module, inputs))
    assert fired["AdvanceQuantizeOpAboveDefChainPass"]
    moved = [node for node in module.graph.nodes if node.op == "call_function" and "permute" in node.name]
    assert [node.meta["val"].dtype for node in moved] == [torch.int8]


def test_an_exported_program_keeps_a_signature_that_names_its_outputs(reorder):
    class Model(torch.nn.Module):
        def forward(self, x):
            ops = torch.ops.quantized_decomposed
            q = ops.quantize_per_tensor.default(x, *INT8)
            return ops.dequantize_per_tensor.default(q, *INT8).permute(1, 0)

    inputs = (torch.linspace(-2, 2, 12).view(3, 4),)
    program = torch.export.export(Model(), inputs, strict=False)
    before = program.module()(*inputs)
    result = apply_passes(program, [each.make(program) for each in reorder])
    assert names(result.graph_module) == ["quantize", "permute", "dequantize"]
    assert torch.equal(result.module()(*inputs), before)
    (output,) = result.graph.output_node().args[0]
    assert [spec.arg.name for spec in result.graph_signature.output_specs] == [output.name]


def test_branches_of_a_condition_are_rewritten_too():
    def chain(x):
        ops = torch.ops.quantized_decomposed
        q = ops.quantize_per_tensor.default(x, *INT8)
        return ops.dequantize_per_tensor.default(q, *INT8).permute(1, 0).contiguous()

    class Model(torch.nn.Module):
        def forward(self, x, flag):
            return torch.cond(flag, lambda v: torch.relu(chain(v)), lambda v: torch.tanh(chain(v)), (x,))

    inputs = (torch.linspace(-2, 2, 16).view(4, 4), torch.tensor(True))
    program = torch.export.export(Model(), inputs, strict=False)
    before = program.module()(*inputs)
    (found,) = Catalogue().resolve("PostponeDequantizeOpBelowUseChainPass")
    result = apply_passes(program, [found.make(program)])
    inside = list(result.graph_module.modules())[1:]
    branches = [module for module in inside if isinstance(module, GraphModule)]
    assert len(branches) == 2
    for branch in branches:
        assert names(branch).index("dequantize") > names(branch).index("permute")
    assert torch.equal(result.module()(*inputs), before)


def test_a_module_without_any_values_is_still_moved_by_what_needs_no_shapes():
    hand = Hand()
    d = hand.op(DQ, hand.input(2, 3, dtype=torch.int8), *INT8)
    module = hand.done(hand.op("aten.permute_copy.default", d, [1, 0]))
    for node in module.graph.nodes:
        node.meta.clear()
    before = copy_of(module)
    (found,) = Catalogue().resolve("PostponeDequantizeOpBelowUseChainPass")
    result = found.make()(module)
    assert names(result.graph_module) == ["permute", "dequantize"]
    assert equal_bits(run(before, tuple(hand.inputs)), run(result.graph_module, tuple(hand.inputs)))
    assert "val" not in next(node for node in module.graph.nodes if "permute" in node.name).meta


def test_arguments_by_name_are_understood(comparison):
    hand = Hand()
    x = hand.input(2, 3)
    p = hand.op("aten.permute_copy.default", x, dims=[1, 0])
    named = dict(zip(("scale", "zero_point", "quant_min", "quant_max", "dtype"), INT8, strict=True))
    module = hand.done(hand.op(Q, p, **named))
    for name in ("AdvanceQuantizeOpAboveDefChainPass", "AdvanceQuantizeOpAboveDefInBranchPass"):
        result = comparison.ours(name, module).graph_module
        assert names(result) == ["quantize", "permute"]
        assert wrong_values(result) == []
        assert equal_bits(run(copy_of(module), tuple(hand.inputs)), run(result, tuple(hand.inputs)))


def test_a_graph_that_a_pass_does_not_touch_stays_as_it_is(comparison):
    hand = Hand()
    module = hand.done(hand.op("aten.relu.default", hand.input(2, 3)))
    before = copy_of(module)
    for name in NAMES:
        result = comparison._ours[name].make()(module)
        assert result.graph_module is module and result.modified is False
    assert same_dataflow(before, module)
