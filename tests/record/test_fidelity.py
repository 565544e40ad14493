"""Replaying a trace gives exactly the graph that the pass returned; undoing it, the one it was given."""

import inspect
import typing

import pytest
import typing_extensions

if not hasattr(typing, "override"):
    typing.override = typing_extensions.override

import executorch.backends.cadence.aot.ops_registrations  # noqa: F401
from executorch.backends.cadence.aot import (
    fuse_ops,
    remove_ops,
    reorder_ops,
    replace_ops,
    simplify_ops,
)
from torch.fx.passes.infra.pass_base import PassBase

from qdqviz.record.api import record
from qdqviz.trace.reader import Trace
from tests.record.torch_walk import walk_state, walk_torch

MODULES = (reorder_ops, fuse_ops, remove_ops, replace_ops, simplify_ops)
SAMPLES = ("encoder", "convnet", "slices", "weight_only", "dynamic_linear", "avgpool", "attention_chain")
PASSES = [
    cls
    for module in MODULES
    for _, cls in inspect.getmembers(module, inspect.isclass)
    if issubclass(cls, PassBase) and cls.__module__ == module.__name__ and not inspect.isabstract(cls)
]


def run(cls, program, recording=None):
    """What the pass returns for the program, or what it raises."""
    exported = program.exported_program()
    wants_program = "exported_program" in inspect.signature(cls.__init__).parameters
    if recording is not None:
        recording.know(exported, "forward")
    try:
        return (cls(exported) if wants_program else cls())(exported.graph_module)
    except Exception as error:  # a pass may raise on a sample: then the recorded one must raise the same
        return error


def undone(trace: Trace):
    """The first state, reached by undoing every change of the last."""
    cursor = trace.cursor(0)
    state = trace.final(0)
    for step in (*reversed(cursor.steps), 0):
        state = state.undo_all(cursor.settling_after(step))
        if step:
            state = state.undo_all(trace.rewrite(step).changes)
    return state


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("cls", PASSES, ids=lambda cls: cls.__name__)
def test_replaying_a_trace_gives_the_graph_that_the_pass_returned(cls, sample, sample_program, tmp_path):
    plain = run(cls, sample_program(sample))
    given = sample_program(sample)
    before = walk_torch(given.exported_program().graph_module)
    with record(tmp_path / "run.qdqtrace") as recording:
        recorded = run(cls, given, recording)
    trace = recording.trace()
    if isinstance(plain, Exception):
        assert (type(recorded), str(recorded)) == (type(plain), str(plain))
        assert trace.runs[-1].error.type == type(plain).__name__
        return
    assert walk_torch(recorded.graph_module) == walk_torch(plain.graph_module)
    assert walk_state(trace.first(0).root) == before
    assert walk_state(trace.final(0).root) == walk_torch(recorded.graph_module)
    assert walk_state(undone(trace).root) == before
    assert [header.name for header in trace.headers if header.note] == []
