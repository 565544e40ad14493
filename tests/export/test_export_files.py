"""Exports, each read back by a process of its own: what is written, what is compared, what is refused."""

from __future__ import annotations

import copy
import subprocess
import sys
from operator import getitem

import pytest
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torch.ao.quantization.fx import _decomposed  # noqa: F401
from torch.utils._pytree import tree_leaves

from qdqviz.errors import ExportFailedError
from qdqviz.export.program import export_program
from qdqviz.load.apply import apply_passes
from qdqviz.load.copying import copy_program
from qdqviz.load.target import load
from qdqviz.passes.importing import import_module

PARAMETERS = (0.05, 0, -128, 127, torch.int8)
RUNTIME = """
import sys, torch, executorch.kernels.quantized
from executorch.runtime import Runtime
from pathlib import Path
for line in sys.stdin:
    file, method, calls, results = line.rstrip("\\n").split("\\t")
    loaded = Runtime.get().load_program(Path(file)).load_method(method)
    outputs = [[value.clone() for value in loaded.execute(call)] for call in torch.load(calls)]
    torch.save(outputs, results)
    print("done", flush=True)
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    """Outputs of calls of a method in a .pte, by a process that shares no code with qdqviz."""
    folder = tmp_path_factory.mktemp("runtime")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", RUNTIME], text=True, **pipes) as process:

        def run(file, method, *calls):
            torch.save([list(call) for call in calls], folder / "calls.pt")
            request = (str(file), method, str(folder / "calls.pt"), str(folder / "results.pt"))
            print(*request, sep="\t", file=process.stdin, flush=True)
            assert process.stdout.readline() == "done\n"
            return torch.load(folder / "results.pt")

        yield run
        process.stdin.close()


def reorder():
    return [
        each()
        for each in import_module(
            "executorch.backends.cadence.aot.reorder_ops"
        ).CadenceReorderOpsInGraph.passes
    ]


def postpone():
    return import_module(
        "executorch.backends.cadence.aot.reorder_ops"
    ).PostponeDequantizeOpBelowUseChainPass()


def chain(x):
    ops = torch.ops.quantized_decomposed
    d = ops.dequantize_per_tensor.default(ops.quantize_per_tensor.default(x, *PARAMETERS), *PARAMETERS)
    return d.permute(1, 0)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_convnet_reordered_runs_within_one_output_step_of_the_unoptimized_program(
    loaded_sample, sample_program, runtime, tmp_path
):
    sample = loaded_sample("convnet")
    report = export_program(apply_passes(sample_program("convnet"), reorder()), tmp_path / "m.pte")
    wanted = sample_program("convnet").exported_program().module(check_guards=False)(*sample.inputs)
    ((found,),) = runtime(tmp_path / "m.pte", "forward", sample.inputs)
    step = 0.005096762906759977  # scale of the last dequantize of the sample
    assert float((wanted - found).abs().max()) <= step * 1.001
    assert (report.format, report.compared) == ("pte", ("loads", "outputs of 1 call"))
    assert report.size == (tmp_path / "m.pte").stat().st_size
    assert report.steps is not None and report.steps <= 1.001 and report.unchecked is None


def test_an_edge_pt2_opens_again_also_where_a_pass_left_tensors_in_the_graph(
    loaded_sample, sample_program, tmp_path
):
    fuse = import_module("executorch.backends.transforms.fuse_batch_norm_with_conv").FuseBatchNormWithConvPass
    program = sample_program("convnet")
    program = apply_passes(program, [fuse(program.exported_program()), *reorder()])
    graph = program.exported_program().graph
    assert graph.find_nodes(op="get_attr")
    report = export_program(program, tmp_path / "m.pt2")
    assert report.max_difference == 0.0 and report.steps == 0.0
    again, sample = load(str(tmp_path / "m.pt2")), loaded_sample("convnet")
    assert again.dialect == "edge" and program.exported_program().graph is graph
    wanted, found = (
        [node.target for node in each.nodes if node.op == "call_function" and node.target is not getitem]
        for each in (graph, again.program.graph)  # a file names also the outputs that nobody reads
    )
    assert found == wanted
    one, other = (
        each.module(check_guards=False)(*sample.inputs)
        for each in (sample_program("convnet").exported_program(), again.program)
    )
    assert torch.allclose(one, other, atol=0.0051)  # one output step: folding rounds


def test_an_aten_program_is_written_in_its_own_dialect_and_lowered_for_a_pte(runtime, tmp_path):
    class Aten(torch.nn.Module):
        def forward(self, x):
            return chain(x) + 1

    inputs = (torch.linspace(-2, 2, 12).view(3, 4),)
    program = torch.export.export(Aten(), inputs, strict=False)
    export_program(program, tmp_path / "a.pt2")
    assert load(str(tmp_path / "a.pt2")).dialect == "aten"
    report = export_program(program, tmp_path / "a.pte")
    assert report.max_difference is not None and report.unchecked is None
    ((found,),) = runtime(tmp_path / "a.pte", "forward", inputs)
    assert torch.allclose(found, Aten()(*inputs))


class State(torch.nn.Module):
    """Adds the previous input, which it keeps in a buffer behind a dequantize."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.full((4, 3), 2.0))

    def forward(self, x):
        turned = chain(x)
        previous = self.state.clone()
        self.state.copy_(turned)
        return turned + previous


class Branches(torch.nn.Module):
    """q, dq and permute in nested branches, whose numbers become tensors when lowered."""

    def forward(self, x, flag):
        inner = lambda v: torch.cond(v.sum() > 0, lambda w: w * 3.0, lambda w: w - 5.0, (v,))  # noqa: E731
        return torch.cond(flag, lambda v: chain(v) + 1.0, lambda v: inner(chain(v)) * 2.0, (chain(x),))


class Around(torch.nn.Module):
    """A linear for a delegate, data movement around it, two outputs."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return torch.cumsum(y.view(4, 2, 4).permute(0, 2, 1), 1), y


X = torch.linspace(-1, 2, 12).view(3, 4)
CALLS = {
    "state": [(X,), (-X / 2,)],
    "branches": [(X, torch.tensor(True)), (X, torch.tensor(False)), (-X, torch.tensor(False))],
    "around": [(torch.linspace(-2, 2, 32).view(4, 8),)],
}


@pytest.fixture(scope="module")
def structures():
    """Float modules by method, and their program with a buffer, branches and a delegate, passes applied."""
    modules = {"state": State(), "branches": Branches(), "around": Around().eval()}
    lowered = to_edge_transform_and_lower(
        {name: torch.export.export(each, CALLS[name][0], strict=False) for name, each in modules.items()},
        partitioner={"around": [XnnpackPartitioner()]},
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    program = apply_passes(copy_program(lowered), [postpone()])
    assert str(program.exported_program("state").graph_signature) != str(
        lowered.exported_program("state").graph_signature
    )
    assert "executorch_call_delegate" in program.exported_program("around").graph_module.code
    return modules, program


def assert_right(method, modules, run):
    """`run(*call)` gives what the float module gives, up to rounding in the delegate."""
    module = copy.deepcopy(modules[method])
    for call in CALLS[method]:
        for found, wanted in zip(tree_leaves(run(*call)), tree_leaves(module(*call)), strict=True):
            assert torch.allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("method", CALLS)
def test_buffers_branches_and_delegates_survive_a_pt2(method, structures, tmp_path):
    modules, program = structures
    exported = program.exported_program(method)
    before = exported.graph_module.code, str(exported.graph_signature)
    # lowering to a backend drops the example inputs of that method
    report = export_program(program, tmp_path / "m.pt2", method=method, inputs=CALLS[method][0])
    assert report.max_difference == 0.0 and report.methods == (method,)
    calls = "outputs of 2 calls" if method == "state" else "outputs of 1 call"
    assert calls in report.compared
    again = load(str(tmp_path / "m.pt2")).program
    assert_right(method, modules, again.module(check_guards=False))
    assert (exported.graph_module.code, str(exported.graph_signature)) == before
    assert all(bool((value == 2.0).all()) for name, value in exported.state_dict.items() if name == "state")


def test_all_of_them_survive_as_methods_of_one_pte(structures, runtime, tmp_path):
    modules, program = structures
    report = export_program(program, tmp_path / "m.pte")
    assert report.methods == ("around", "branches", "state")
    assert "loads" in report.compared and report.max_difference is not None
    for method, calls in CALLS.items():
        results = iter(runtime(tmp_path / "m.pte", method, *calls))
        assert_right(method, modules, lambda *call: next(results))  # noqa: B023


def test_a_method_is_chosen_for_a_pt2(structures, tmp_path):
    _, program = structures
    with pytest.raises(
        ExportFailedError, match=r"a \.pt2 holds one method.*--method \(around, branches, state\)"
    ):
        export_program(program, tmp_path / "one.pt2")
    with pytest.raises(ExportFailedError, match="no method 'other': it has around, branches, state"):
        export_program(program, tmp_path / "one.pt2", method="other")


def test_ops_of_a_backend_are_written_and_it_is_said_that_no_kernel_here_runs_them(sample_program, tmp_path):
    replace = import_module(
        "executorch.backends.cadence.aot.replace_ops"
    ).ReplacePT2QuantWithCadenceQuantPass()
    program = apply_passes(sample_program("slices"), [replace])
    report = export_program(program, tmp_path / "c.pte")
    assert report.unchecked == "this machine's runtime has no kernel for cadence::quantize_per_tensor.out"
    assert report.compared == () and report.max_difference is None
    assert "not compared: this machine's runtime" in report.summary
    assert (tmp_path / "c.pte").exists()


def test_a_dynamic_batch_and_inputs_by_name_are_written(tmp_path):
    class Named(torch.nn.Module):
        def forward(self, pair, *, bias):
            return {"sum": pair[0] + bias, "rows": pair[1].view(pair[1].shape[0], -1)}

    batch = torch.export.Dim("batch", min=2, max=16)
    arguments = ([torch.ones(4, 3), torch.ones(4, 3, 1)],)
    program = torch.export.export(
        Named(),
        arguments,
        {"bias": torch.full((3,), 2.0)},
        dynamic_shapes={"pair": [{0: batch}, {0: batch}], "bias": None},
        strict=False,
    )
    report = export_program(program, tmp_path / "named.pt2")
    assert report.max_difference == 0.0
    module = load(str(tmp_path / "named.pt2")).program.module(check_guards=False)
    result = module([torch.ones(7, 3), torch.ones(7, 3, 1)], bias=torch.zeros(3))
    assert len(tree_leaves(result)) == 2 and result["rows"].shape == (7, 3)


def test_a_graph_module_needs_inputs_and_is_exported_for_them(tmp_path):
    module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
    with pytest.raises(ExportFailedError, match=r"there are none \(--inputs\)"):
        export_program(module, tmp_path / "g.pt2")
    export_program(module, tmp_path / "g.pt2", inputs=(torch.ones(1, 2),))
    again = load(str(tmp_path / "g.pt2")).program.module(check_guards=False)
    assert torch.equal(again(torch.ones(1, 2)), module(torch.ones(1, 2)))
    with pytest.raises(ExportFailedError, match="of the module raised"):
        export_program(module, tmp_path / "g.pte", inputs=(torch.ones(1, 7),))


def test_without_inputs_the_graph_is_compared_and_it_is_said_that_the_outputs_are_not(tmp_path):
    program = torch.export.export(State(), (X,), strict=False)
    program._example_inputs = None
    report = export_program(program, tmp_path / "n.pt2")
    assert report.compared == ("graph of 9 nodes", "constants") and report.max_difference is None
    assert report.unchecked == "outputs of forward: there are no example inputs (--inputs)"


def test_an_op_library_of_the_users_own_is_imported_in_the_process_that_reads_back(tmp_path, monkeypatch):
    (tmp_path / "own_export_ops.py").write_text(
        "import torch\n"
        "library = torch.library.Library('qdqviz_export_test', 'DEF')\n"
        "library.define('twice(Tensor x) -> Tensor')\n"
        "library.impl('twice', lambda x: x * 2, 'CompositeExplicitAutograd')\n"
        "torch.library.register_fake('qdqviz_export_test::twice', lambda x: torch.empty_like(x))\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x):\n        return torch.ops.qdqviz_export_test.twice(x)\n"
        "def build():\n    return Net(), (torch.ones(2),)\n"
    )
    monkeypatch.chdir(tmp_path)
    program = load("own_export_ops.py:build").program
    with pytest.raises(
        ExportFailedError, match=r"does not read back: .*qdqviz_export_test::twice\.default.*--import"
    ):
        export_program(program, tmp_path / "own.pt2")
    assert "own.pt2" not in files_in(tmp_path)
    assert export_program(program, tmp_path / "own.pt2", imports=["own_export_ops.py"]).max_difference == 0.0


def test_a_program_that_rewrites_have_broken_is_not_written(sample_program, tmp_path):
    broken = apply_passes(sample_program("dynamic_linear"), [postpone()])
    for suffix in ("pt2", "pte"):
        with pytest.raises(
            ExportFailedError, match="does not run on its example inputs: RuntimeError: The size"
        ):
            export_program(broken, tmp_path / f"m.{suffix}")
    assert files_in(tmp_path) == []


def test_readable_code_parses_and_names_the_state_that_it_lacks(sample_program, tmp_path):
    report = export_program(sample_program("slices"), tmp_path / "m.py")
    text = (tmp_path / "m.py").read_text()
    compile(text, "m.py", "exec")
    assert "#   bias: torch.float32 [16]" in text and "sigmoid" in text
    assert report.unchecked == "readable code is not run"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("m.onnx", r"m\.onnx is no \.pt2, \.pte or \.py file"),
        ("absent/m.pt2", "cannot write .*m.pt2: there is no folder .*absent"),
        ("folder.pt2", "cannot write .*folder.pt2: it is a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_one_line(tmp_path, name, message):
    (tmp_path / "folder.pt2").mkdir()
    program = torch.export.export(torch.nn.ReLU(), (torch.ones(1),), strict=False)
    with pytest.raises(ExportFailedError, match=message) as caught:
        export_program(program, tmp_path / name)
    assert "\n" not in str(caught.value)
    assert files_in(tmp_path) == ["folder.pt2"]
