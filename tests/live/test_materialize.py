"""Any step of a trace as a program: sound, runnable, and at the end exactly what the passes returned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from executorch.exir.dialects._ops import ops as exir_ops
from live_programs import FoldConstants, batched, branches, in_place, resolved, session_of, stateful

from qdqviz.errors import NotCheckableError
from qdqviz.export.fingerprint import fingerprint, first_difference
from qdqviz.export.prepare import exported_copies, to_edge_manager
from qdqviz.live.materialize import materialize
from qdqviz.live.session import Session, run
from qdqviz.load.loaded import exported_of
from qdqviz.passes.resolve import resolve

EDGE = exir_ops.edge.aten


def states(session: Session):
    """All steps of the session's program with their states."""
    cursor = session.trace.cursor(session.subject)
    return [(step, cursor.at(step)) for step in range(session.trace.steps + 1)]


def at(session: Session, step: int):
    return materialize(session.trace.cursor(session.subject).at(step), session, step=step)


def ran(program, inputs):
    module = program.module(check_guards=False) if hasattr(program, "graph_signature") else program
    with torch.no_grad():
        return module(*inputs)


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("attention_chain", "default"),
        ("weight_only", "default"),
        ("slices", "cadence-reorder"),
        ("convnet", "cadence-fuse"),
        ("avgpool", "cadence-reorder"),
    ],
)
def test_every_step_is_sound_and_runs_and_the_last_is_what_the_passes_returned(
    name, passes, tmp_path, loaded_sample
):
    loaded = loaded_sample(name)
    session = run(loaded, resolve(passes), tmp_path / "t.qdqtrace")
    assert session.trace.steps > 3
    for step, state in states(session):
        program = materialize(state, session, step=step)
        program.graph.lint()
        assert [node.name for node in program.graph.nodes] == [node.name for node in state.root]
        ran(program, loaded.inputs)
    final = exported_of(session.program, loaded.method)
    assert first_difference(fingerprint(final), fingerprint(program)) is None
    assert [node.name for node in final.graph.nodes] == [node.name for node in program.graph.nodes]
    for theirs, ours in zip(final.graph.nodes, program.graph.nodes, strict=True):
        assert set(theirs.meta) - {"tensor_meta", "val"} == set(ours.meta) - {"val"}
        if isinstance(theirs.meta.get("val"), torch.Tensor):
            assert (theirs.meta["val"].shape, theirs.meta["val"].dtype) == (
                ours.meta["val"].shape,
                ours.meta["val"].dtype,
            )


def test_step_zero_computes_what_the_loaded_program_computes(tmp_path, loaded_sample):
    loaded = loaded_sample("convnet")
    session = run(loaded, resolve("reorder"), tmp_path / "t.qdqtrace")
    expected = ran(exported_of(loaded.program, loaded.method), loaded.inputs)
    assert torch.equal(ran(at(session, 0), loaded.inputs)[0], expected[0])


def test_folded_constants_come_and_go_with_their_steps(tmp_path):
    program, inputs = stateful()
    session = session_of(program, inputs, [resolved(lambda _: FoldConstants())], tmp_path)
    first, last = at(session, 0), at(session, session.trace.steps)
    final = exported_of(session.program, "forward")
    assert first_difference(fingerprint(final), fingerprint(last)) is None
    assert set(first.state_dict) == set(exported_of(program, "forward").state_dict)
    assert len(last.constants) > len(first.constants)
    assert torch.allclose(ran(first, inputs), ran(last, inputs))


def test_upstreams_batch_norm_folding_can_be_stopped_at_any_step(tmp_path):
    program, inputs = stateful()
    passes = "executorch.backends.xnnpack._passes.fuse_batch_norm:FuseBatchNormPass"
    session = session_of(program, inputs, passes, tmp_path)
    expected = ran(at(session, 0), inputs)
    for step, _ in states(session):
        at(session, step).graph.lint()
    assert torch.allclose(ran(at(session, session.trace.steps), inputs), expected, rtol=1e-4)


def test_a_mutated_buffer_is_in_the_signature_and_changes_at_every_call(tmp_path):
    program, inputs = stateful()
    session = session_of(
        program,
        inputs,
        "executorch.exir.passes.normalize_view_copy_base_pass:NormalizeViewCopyBasePass",
        tmp_path,
    )
    for step, _ in states(session):
        module = at(session, step).module(check_guards=False)
        first, second = module(*inputs), module(*inputs)
        assert torch.allclose(second - first, torch.ones(()), atol=1e-4)


def test_the_programs_own_buffers_stay_untouched_when_a_step_runs(tmp_path):
    program, inputs = stateful()
    session = session_of(program, inputs, "HoistOpsCloserToDefPass", tmp_path)
    ran(at(session, 0), inputs)
    assert exported_of(session.loaded.program, "forward").state_dict["calls"].item() == 0
    assert at(session, 0).state_dict["calls"].item() == 0


def test_branches_are_rebuilt_with_the_graph_around_them(tmp_path):
    program, inputs = branches()

    def use_transpose(module):
        for inner in (each for each in module.modules() if isinstance(each, torch.fx.GraphModule)):
            for node in inner.graph.find_nodes(op="call_function", target=EDGE.permute_copy.default):
                node.target, node.args = EDGE.transpose_copy.int, (node.args[0], 0, 1)

    session = session_of(program, inputs, [in_place(use_transpose)], tmp_path)
    steps = [header for header in session.trace.headers if header.path]
    assert steps, "the passes rewrote something inside a branch"
    expected = ran(exported_of(program, "forward"), inputs)
    for step, _ in states(session):
        assert torch.equal(ran(at(session, step), inputs)[0], expected[0])
        assert torch.equal(
            ran(at(session, step), (-inputs[0],))[0], ran(exported_of(program, "forward"), (-inputs[0],))[0]
        )


def test_symbolic_sizes_stay_symbolic(tmp_path):
    program, inputs = batched()
    session = session_of(program, inputs, "cadence-reorder", tmp_path)
    assert session.trace.steps
    for step, _ in states(session):
        made = at(session, step)
        output = next(iter(made.graph.output_node().args[0]))
        assert isinstance(output.meta["val"].shape[0], torch.SymInt)
        other = torch.randn(7, 6)
        assert torch.equal(ran(made, (other,)), ran(exported_of(program, "forward"), (other,)))


def test_a_delegate_stays_in_its_place(tmp_path):
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    class Half(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return torch.sin(self.linear(x)).permute(1, 0).permute(1, 0)

    from live_programs import edge

    inputs = (torch.ones(2, 4),)
    program = edge(Half(), inputs).to_backend(XnnpackPartitioner())
    session = session_of(
        program,
        inputs,
        "executorch.backends.cadence.aot.remove_ops:RemovePermutesAroundElementwiseOps,"
        "executorch.backends.transforms.fuse_view_copy:FuseViewCopyTransform",
        tmp_path,
    )
    made = at(session, session.trace.steps)
    assert first_difference(fingerprint(exported_of(session.program, "forward")), fingerprint(made)) is None


def test_a_graph_module_without_values_is_rebuilt_too(tmp_path):
    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x, scale=2.0):
            return {"y": self.linear(x).mul(scale)[0:2, None]}

    module = torch.fx.symbolic_trace(Plain())

    def use_relu(module):
        node = next(node for node in module.graph.nodes if node.op == "call_method")
        with module.graph.inserting_after(node):
            added = module.graph.call_function(torch.relu, (node,))
        node.replace_all_uses_with(added, delete_user_cb=lambda user: user is not added)

    inputs = (torch.randn(4, 3),)
    session = session_of(module, inputs, [in_place(use_relu)], tmp_path)
    assert torch.equal(at(session, 0)(*inputs)["y"], module(*inputs)["y"])
    assert torch.equal(at(session, session.trace.steps)(*inputs)["y"], module(*inputs)["y"].relu())


def test_nodes_that_share_metadata_share_it_in_the_step(tmp_path):
    module = torch.fx.symbolic_trace(lambda x: x.relu().neg())

    def share(module):
        relu, neg = [node for node in module.graph.nodes if node.op == "call_method"]
        neg.meta = relu.meta

    session = session_of(module, (torch.ones(2),), [in_place(share)], tmp_path)
    relu, neg = [n for n in at(session, session.trace.steps).graph.nodes if n.op == "call_method"]
    assert relu.meta is neg.meta


def test_a_session_without_constants_says_so(tmp_path):
    from dataclasses import replace

    module = torch.fx.symbolic_trace(lambda x: x.relu())
    session = session_of(module, (torch.ones(2),), [in_place(lambda module: None)], tmp_path)
    with pytest.raises(NotCheckableError, match="kept no constants"):
        materialize(session.trace.first(0), replace(session, store=None))


@pytest.mark.parametrize(("name", "stride"), [("slices", 1), ("attention_chain", 9)])
def test_many_steps_lower_to_a_pte(name, stride, tmp_path, loaded_sample):
    import executorch.kernels.quantized  # noqa: F401

    loaded = loaded_sample(name)
    session = run(loaded, resolve("reorder"), tmp_path / "t.qdqtrace")
    for step in range(0, session.trace.steps + 1, stride):
        copies = exported_copies(at(session, step), None, loaded.inputs)
        assert to_edge_manager(copies).to_executorch().buffer


def test_the_pte_of_every_step_runs_in_the_runtime_and_gives_what_that_step_gives(tmp_path, loaded_sample):
    import executorch.kernels.quantized  # noqa: F401

    loaded = loaded_sample("slices")
    session = run(loaded, resolve("reorder"), tmp_path / "t.qdqtrace")
    expected = {}
    for step in range(session.trace.steps + 1):
        made = at(session, step)
        expected[step] = ran(made, loaded.inputs)
        buffer = to_edge_manager(exported_copies(made, None, loaded.inputs)).to_executorch().buffer
        (tmp_path / f"{step}.pte").write_bytes(buffer)
    torch.save(list(loaded.inputs), tmp_path / "inputs.pt")
    script = Path(__file__).parent / "run_ptes.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True)
    for step, outputs in expected.items():
        found = torch.load(tmp_path / f"{step}.out.pt", weights_only=True)
        assert len(found) == len(outputs)
        for one, other in zip(outputs, found, strict=True):
            assert torch.allclose(one.float(), other.float(), atol=1e-5)
