"""`qdqviz record` on a script that lowers a model to XNNPACK, as people write it."""

from __future__ import annotations

import json
import runpy
import textwrap

import pytest

from qdqviz.trace.reader import Trace

pytest.importorskip("executorch")

SCRIPT = """
    import hashlib
    import json
    import sys

    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(8, 8)

        def forward(self, x):
            return torch.sin(torch.relu(self.linear(x)).view(-1))

    torch.manual_seed(0)
    program = torch.export.export(Model().eval(), (torch.ones(2, 8),))
    edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    code = edge.exported_program().graph_module.code
    digest = hashlib.sha256(edge.to_executorch().buffer).hexdigest()
    print(json.dumps({"code": code, "digest": digest, "arguments": sys.argv[1:]}))
"""


def test_a_lowering_script_is_recorded_under_its_subjects_and_its_result_is_unchanged(
    qdqviz, tmp_path, monkeypatch, capsys
):
    (tmp_path / "lower.py").write_text(textwrap.dedent(SCRIPT))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["lower.py", "x"])
    runpy.run_path("lower.py", run_name="__main__")
    plain = json.loads(capsys.readouterr().out)

    done = qdqviz("record", "-o", "t.qdqtrace", "lower.py", "x")
    assert done.code == 0, done.err
    assert json.loads(done.out) == plain

    trace = Trace("t.qdqtrace")
    names = {run.name for run in trace.runs if run.kind == "pass"}
    assert {"ConvertToLinearPass", "SpecPropPass"} <= names
    assert len(trace.subjects) >= 3
    ran_on = {run.subject for run in trace.runs}
    assert ran_on == {subject.id for subject in trace.subjects}
    told = json.loads(qdqviz("steps", "t.qdqtrace", "--json").out)
    assert len(told) == trace.steps > 0
    assert {step["graph"].partition("/")[0] for step in told} <= {subject.name for subject in trace.subjects}
