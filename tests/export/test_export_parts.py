"""The parts of an export that need no second process: differences, fingerprints, unfinished files."""

from __future__ import annotations

import subprocess

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from torch.ao.quantization.fx import _decomposed  # noqa: F401

from qdqviz.errors import ExportFailedError
from qdqviz.export import readback
from qdqviz.export.compare import difference, output_steps
from qdqviz.export.fingerprint import fingerprint, first_difference
from qdqviz.export.outputs import compare
from qdqviz.export.unfinished import Unfinished
from qdqviz.load.copying import copy_program

ops = torch.ops.quantized_decomposed


class Outputs(torch.nn.Module):
    """One output of each kind: dequantized and moved, quantized, per channel, float."""

    def __init__(self):
        super().__init__()
        self.scales = torch.nn.Buffer(torch.tensor([0.1, 0.4, 0.2]))
        self.zeros = torch.nn.Buffer(torch.zeros(3, dtype=torch.int64))

    def forward(self, x):
        q = ops.quantize_per_tensor.default(x, 0.5, 0, -128, 127, torch.int8)
        d = ops.dequantize_per_tensor.default(q, 0.5, 0, -128, 127, torch.int8)
        c = ops.dequantize_per_channel.default(q, self.scales, self.zeros, 0, -128, 127, torch.int8)
        return d.permute(1, 0).view(1, 4, 3), q, c, torch.sigmoid(d)


def program():
    exported = torch.export.export(Outputs(), (torch.ones(3, 4),), strict=False)
    return to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False)).exported_program()


def test_the_step_of_an_output_is_its_scale_also_behind_movement():
    assert output_steps(program()) == pytest.approx([0.5, 1.0, 0.4, None])


def test_the_step_of_a_mutated_buffer_is_not_taken_for_that_of_an_output():
    class State(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("state", torch.zeros(2))

        def forward(self, x):
            q = ops.quantize_per_tensor.default(x, 0.25, 0, -128, 127, torch.int8)
            self.state.copy_(ops.dequantize_per_tensor.default(q, 0.25, 0, -128, 127, torch.int8))
            return torch.sin(x)

    exported = torch.export.export(State(), (torch.ones(2),), strict=False)
    lowered = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False)).exported_program()
    assert len(lowered.graph.output_node().args[0]) == 2
    assert output_steps(lowered) == [None]


def test_differences_are_counted_in_steps_or_relative_to_the_output():
    wanted = [torch.tensor([1.0, 2.0]), torch.tensor([100.0, 50.0])]
    found = [torch.tensor([1.0, 3.0]), torch.tensor([100.0, 49.0])]
    each = difference(wanted, found, [0.25, None])
    assert (each.largest, each.steps, each.shapes) == (1.0, 4.0, None)
    assert each.relative == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("wanted", "found", "largest"),
    [
        ([float("nan"), 1.0], [float("nan"), 1.0], 0.0),
        ([float("inf")], [float("inf")], 0.0),
        ([float("inf")], [float("-inf")], float("inf")),
        ([float("nan")], [1.0], float("inf")),
        ([], [], 0.0),
    ],
)
def test_numbers_that_are_not_finite_are_equal_only_to_themselves(wanted, found, largest):
    assert difference([torch.tensor(wanted)], [torch.tensor(found)]).largest == largest


def test_integers_beyond_float_precision_and_other_values_are_told_apart():
    assert difference([torch.tensor([2**53 + 1])], [torch.tensor([2**53])]).largest == 1.0
    assert difference([torch.tensor([1 + 2j])], [torch.tensor([1 - 2j])]).largest == 4.0
    assert difference([torch.tensor(True), 3, None], [torch.tensor(False), 3, None]).largest == 1.0
    assert difference([3], [4]).largest == float("inf")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([], "0 outputs instead of 1"),
        ([torch.zeros(3)], r"output 0 is float32 \[3\] instead of float32 \[2\]"),
        ([torch.zeros(2, dtype=torch.int8)], r"output 0 is int8 \[2\] instead of float32 \[2\]"),
        ([None], "output 0 is NoneType instead of"),
        ([torch.ones(2)], "apart"),
    ],
)
def test_other_shapes_dtypes_and_values_fail_a_comparison(found, message):
    for exact in (True, False):
        with pytest.raises(ExportFailedError, match=message):
            compare({"forward": [[torch.zeros(2)]]}, {"forward": [found]}, {"forward": [None]}, exact=exact)


def test_one_quantization_step_is_allowed_in_a_lowered_file_and_none_in_a_serialized_one():
    def compared(distance, exact):
        wanted, found = {"forward": [[torch.zeros(2)]]}, {"forward": [[torch.full((2,), distance)]]}
        return compare(wanted, found, {"forward": [0.5]}, exact=exact)

    assert compared(0.5, False).steps == 1.0
    for distance, exact in ((0.51, False), (0.5, True)):
        with pytest.raises(ExportFailedError, match="quantization steps"):
            compared(distance, exact)


def test_a_fingerprint_does_not_see_names_but_sees_everything_else():
    lines = fingerprint(program())
    assert lines == fingerprint(program())
    renamed = copy_program(program())
    for node in renamed.graph.nodes:
        if node.op == "call_function":
            node.name = f"other_{node.name}"
    assert fingerprint(renamed) == lines

    def changed(edit):
        copied = copy_program(program())
        edit(copied)
        return first_difference(lines, fingerprint(copied))

    def first(copied, name):
        return next(node for node in copied.graph.nodes if name in node.name)

    def scale(copied):
        first(copied, "quantize_per_tensor").update_arg(1, 0.25)

    def order(copied):
        permute = first(copied, "permute")
        first(copied, "sigmoid").append(permute.next)

    def constant(copied):
        copied.state_dict["scales"][0] = 7.0

    def outputs(copied):
        output = copied.graph.output_node()
        output.args = (tuple(reversed(output.args[0])),)

    def dead(copied):
        with copied.graph.inserting_before(copied.graph.output_node()):
            copied.graph.node_copy(first(copied, "sigmoid"), lambda node: node)

    assert "instead of" in changed(scale) and "0.25" in changed(scale)
    for edit in (order, constant, outputs, dead):
        assert changed(edit), edit.__name__
    assert first_difference(["a"], ["a", "b"]) == "the graph has 2 lines instead of 1"


def test_a_fingerprint_fills_defaults_in_and_looks_into_branches():
    def built(number, explicit):
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        extra = {"alpha": 1} if explicit else {}
        graph.output((graph.call_function(torch.ops.aten.add.Tensor, (x, number), extra),))
        return torch.fx.GraphModule({}, graph)

    from qdqviz.export.fingerprint import _lines

    assert _lines(built(2, True)) == _lines(built(2, False)) != _lines(built(3, False))

    class Branches(torch.nn.Module):
        def __init__(self, number):
            super().__init__()
            self.number = number

        def forward(self, x, flag):
            return torch.cond(flag, lambda v: v * self.number, lambda v: v + 1, (x,))

    inputs = (torch.ones(2), torch.tensor(True))
    two, three = (torch.export.export(Branches(number), inputs, strict=False) for number in (2, 3))
    assert first_difference(fingerprint(two), fingerprint(three))


def test_a_file_takes_its_name_only_when_it_is_kept(tmp_path):
    target = tmp_path / "m.pt2"
    target.write_text("old")
    with (
        pytest.raises(ExportFailedError, match="found wrong"),
        Unfinished(target, lambda f: f.write_text("new")),
    ):
        raise ExportFailedError("found wrong")
    assert target.read_text() == "old"
    with Unfinished(target, lambda f: f.write_text("new")) as unfinished:
        assert target.read_text() == "old" and unfinished.file.suffix == ".pt2"
        unfinished.keep()
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["m.pt2"]


def test_a_write_that_is_interrupted_leaves_nothing(tmp_path):
    def interrupted(file):
        file.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Unfinished(tmp_path / "m.pte", interrupted):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "stderr", "outcome"),
    [
        (0, "Missing operator: [0] cadence::add.out", "has no kernel for cadence::add.out"),
        (0, "Backend VulkanBackend is not registered.", "has no backend VulkanBackend"),
        (-6, "some assertion failed\n", "ended by SIGABRT: some assertion failed"),
        (3, "", "ended with status 3"),
    ],
)
def test_what_the_process_that_reads_back_leaves_behind_is_told_in_one_line(
    tmp_path, monkeypatch, status, stderr, outcome
):
    done = subprocess.CompletedProcess([], status, "", stderr)
    monkeypatch.setattr(readback.subprocess, "run", lambda *args, **kwargs: done)
    if outcome.startswith("has"):
        assert outcome in readback.read_back(tmp_path / "m.pte", "pte", {}, ()).cannot_run
    else:
        with pytest.raises(ExportFailedError, match=outcome):
            readback.read_back(tmp_path / "m.pte", "pte", {}, ())


def test_a_process_that_does_not_end_is_given_up(tmp_path, monkeypatch):
    def never(*args, **kwargs):
        raise subprocess.TimeoutExpired("python", kwargs["timeout"])

    monkeypatch.setattr(readback.subprocess, "run", never)
    with pytest.raises(ExportFailedError, match="longer than 600 s"):
        readback.read_back(tmp_path / "m.pte", "pte", {}, ())
