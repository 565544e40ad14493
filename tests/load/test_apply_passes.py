"""Running passes on each kind of program, and the signature that has to follow."""

from __future__ import annotations

import copy

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportedProgramPassBase, ExportedProgramPassResult, ExportPass
from torch.ao.quantization.fx import _decomposed  # noqa: F401
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from qdqviz.errors import PassError
from qdqviz.load.apply import apply_passes
from qdqviz.load.copying import copy_program
from qdqviz.load.signature import sync_signature
from qdqviz.passes.importing import import_module

PARAMETERS = (0.05, 0, -128, 127, torch.int8)


class State(torch.nn.Module):
    """A buffer that is overwritten with a permuted dequantize: its signature names the node."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4, 3))

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        d = ops.dequantize_per_tensor.default(ops.quantize_per_tensor.default(x, *PARAMETERS), *PARAMETERS)
        turned = d.permute(1, 0)
        previous = self.state.clone()
        self.state.copy_(turned)
        return turned + previous


def inputs():
    return (torch.linspace(-2, 2, 12).view(3, 4),)


def edge(*methods):
    exported = torch.export.export(State(), inputs(), strict=False)
    config = EdgeCompileConfig(_check_ir_validity=False)
    return to_edge(dict.fromkeys(methods, exported) if methods else exported, compile_config=config)


def reorder(name):
    return getattr(import_module("executorch.backends.cadence.aot.reorder_ops"), name)()


class RenameResult(PassBase):
    """Renames the op behind the user's output in place, and denies that it changed anything."""

    def call(self, graph_module):
        result = graph_module.graph.output_node().args[0][-1]
        result.name = f"other_{result.name}"
        return PassResult(graph_module, False)


class AddToMul(ExportPass):
    def call_operator(self, op, args, kwargs, meta):
        if op == exir_ops.edge.aten.add.Tensor:
            op = exir_ops.edge.aten.mul.Tensor
        return super().call_operator(op, args, kwargs, meta)


class Count(ExportedProgramPassBase):
    def __init__(self):
        self.seen = []

    def call(self, exported_program):
        self.seen.append(len(exported_program.graph.nodes))
        return ExportedProgramPassResult(exported_program, False)


def targets(graph):
    return [node.target.__name__ for node in graph.nodes if node.op == "call_function"]


def signature_is_right(program):
    outputs = [node.name for node in program.graph.output_node().args[0]]
    named_inputs = [spec.arg.name for spec in program.graph_signature.input_specs]
    placeholders = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    return (named_inputs, [spec.arg.name for spec in program.graph_signature.output_specs]) == (
        placeholders,
        outputs,
    )


def test_an_edge_manager_is_transformed_as_its_own_transform_does():
    passes = ["PostponeDequantizeOpBelowUseChainPass", "SinkOpsCloserToUsePass"]
    ours = apply_passes(edge(), [reorder(name) for name in passes])
    theirs = edge().transform([reorder(name) for name in passes])
    assert ours.exported_program().graph_module.code == theirs.exported_program().graph_module.code
    assert str(ours.exported_program().graph_signature) == str(theirs.exported_program().graph_signature)
    assert targets(ours.exported_program().graph) != targets(edge().exported_program().graph)


def test_only_the_chosen_method_is_transformed():
    given = edge("a", "b")
    before = given.exported_program("b")
    after = apply_passes(given, [AddToMul()], method="a")
    assert "aten.mul.Tensor" in targets(after.exported_program("a").graph)
    assert after.exported_program("b") is before
    assert after.methods == {"a", "b"} and after.compile_config is given.compile_config
    both = apply_passes(edge("a", "b"), [AddToMul()])
    assert all("aten.mul.Tensor" in targets(both.exported_program(name).graph) for name in "ab")


def test_an_exported_program_in_either_dialect_is_transformed():
    program = edge().exported_program()
    assert "aten.mul.Tensor" in targets(apply_passes(program, [AddToMul()]).graph)
    aten = torch.export.export(State(), inputs(), strict=False)
    assert apply_passes(aten, [lambda module: None]).graph_module is aten.graph_module


def test_the_signature_of_a_mutated_buffer_follows_its_node():
    after = apply_passes(edge(), [reorder("PostponeDequantizeOpBelowUseChainPass"), AddToMul()])
    program = after.exported_program()
    assert signature_is_right(program)
    assert list(program.graph_signature.buffers_to_mutate.values()) == ["state"]
    module = copy_program(program).module(check_guards=False)
    first, second = module(*inputs()), module(*inputs())
    assert not torch.equal(first, second)


def test_a_renamed_output_that_a_pass_denies_is_refused_by_upstream_and_set_right_by_sync_signature():
    with pytest.raises(Exception, match="is not in the correct order"):
        apply_passes(edge(), [RenameResult()])
    program = edge().exported_program()
    RenameResult()(program.graph_module)
    assert not signature_is_right(program)
    sync_signature(program)
    assert signature_is_right(program)
    assert list(program.graph_signature.buffers_to_mutate.values()) == ["state"]


def test_a_pass_on_exported_programs_gets_one_and_plain_functions_work_beside_it():
    count = Count()
    called = []
    apply_passes(edge(), [count, lambda module: called.append(type(module).__name__)])
    assert len(count.seen) == 1 and called and called[0].startswith("GraphModule")


def test_what_a_pass_raises_is_raised_as_upstream_wraps_it():
    def fails(module):
        raise ValueError("broken pass")

    with pytest.raises(Exception, match="An error occurred when running the 'fails' pass") as caught:
        apply_passes(edge(), [fails])
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_graph_module_goes_through_plain_calls():
    def trace():
        return torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)

    def to_sigmoid(module):
        for node in module.graph.find_nodes(op="call_function", target=torch.relu):
            node.target = torch.sigmoid
        module.recompile()

    class Copying(PassBase):
        def call(self, graph_module):
            return PassResult(copy.deepcopy(graph_module), True)

    given = trace()
    after = apply_passes(given, [to_sigmoid, Copying(), copy.deepcopy])
    assert torch.equal(after(torch.zeros(1)), torch.tensor([1.5])) and after is not given
    with pytest.raises(PassError, match="Count runs on an ExportedProgram"):
        apply_passes(trace(), [Count()])
    with pytest.raises(PassError, match="returned int instead of a PassResult"):
        apply_passes(trace(), [lambda module: 5])
