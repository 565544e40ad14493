"""Recordings of the same, and of what is known to differ."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from compare_versions import SAMPLES, left_focus

from qdqviz.check.checker import check
from qdqviz.explain.difference import Teller
from qdqviz.live.interventions import Veto
from qdqviz.live.session import run
from qdqviz.load.copying import copy_program
from qdqviz.load.programs import describe
from qdqviz.passes.resolve import resolve
from qdqviz.trace.compare.traces import compare
from qdqviz.trace.reader import Trace

POSTPONE = "PostponeDequantizeOpBelowUseChainPass"

RECORD = """
import sys
from pathlib import Path
from qdqviz.live.session import run
from qdqviz.load.target import load
from qdqviz.passes.resolve import resolve
for sample in sys.argv[2:]:
    run(load(sample), resolve("cadence-reorder,default"), Path(sys.argv[1]) / f"{sample}.qdqtrace")
"""


def assert_identical(left: Trace, right: Trace) -> None:
    found = compare(left, right)
    assert found.same_rewrites
    assert not found.metadata
    assert found.count("equal") == left.steps == right.steps
    assert all(each.first.identical and each.final.identical for each in found.subjects)
    assert all(each.left_final == each.right_final for each in found.subjects)
    assert not any(run.moved for run in found.runs)
    assert all(run.left is not None and run.right is not None and run.same_source for run in found.runs)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_trace_equals_itself(sample, recorder):
    trace = recorder.trace(sample, "cadence-reorder,default")
    assert_identical(trace, Trace(trace.path))


def test_a_recording_of_another_process_is_equal(recorder, tmp_path):
    """Calibration may differ in the last digit from process to process in larger samples; not in these."""
    samples = ("slices", "weight_only", "dynamic_linear")
    environment = {**os.environ, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "1"}
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-c", RECORD, str(tmp_path), *samples], check=True, cwd=root, env=environment
    )
    for sample in samples:
        mine = recorder.trace(sample, "cadence-reorder,default")
        assert_identical(mine, Trace(tmp_path / f"{sample}.qdqtrace"))


def renamed(loaded):
    """The sample's graph with every node under another name, in another alphabetical order."""
    module = copy_program(loaded.program).exported_program().graph_module
    nodes = list(module.graph.nodes)
    for index, node in enumerate(nodes):
        node.name = f"n{7919 * index % len(nodes)}_{index}"
    module.recompile()
    return describe("renamed", module, None)


@pytest.mark.parametrize("sample", ["encoder", "slices", "avgpool"])
def test_nodes_that_are_only_renamed_are_no_difference(sample, recorder, loaded_sample):
    """Also through passes that retrace, which number names anew in their own way."""
    module = copy_program(loaded_sample(sample).program).exported_program().graph_module
    passes = "cadence-reorder,cadence:FuseQuantDequantToRequantizePass,reorder"
    mine = recorder.trace(describe("plain", module, None), passes)
    theirs = recorder.trace(renamed(loaded_sample(sample)), passes)
    names = [{node.name for node in trace.first(0).root} for trace in (mine, theirs)]
    assert not names[0] & names[1]
    assert_identical(mine, theirs)


def test_the_axis_differences_of_upstreams_postpone_pass_come_with_their_verdicts(recorder):
    old = recorder.session("encoder", f"cadence:{POSTPONE}")
    new = recorder.session("encoder", POSTPONE)
    found = compare(old.trace, new.trace)
    told = list(Teller(found, ("old", "new")).rewrites())
    axes = [
        (rewrite.pair.left, difference.left_value, difference.right_value)
        for rewrite in told
        for difference in rewrite.pair.differences
        if not difference.is_metadata
    ]
    # By hand: the encoder has six linear layers, whose weight goes through a permute [1, 0].
    per_channel = [each.step for each in old.trace.headers if "per_channel" in each.name]
    assert axes == [(step, 0, 1) for step in per_channel]
    assert len(axes) == 6
    assert all(each.lines[0].endswith(": axis 0 → 1") for each in told)
    verdicts = [
        {each.step: each.judgement.verdict for each in check(session).rewrites} for session in (old, new)
    ]
    assert [verdicts[0][each.pair.left] for each in told] == ["differs"] * 6
    assert [verdicts[1][each.pair.right] for each in told] == ["equal"] * 6
    others = [pair for pair in found.rewrites if pair.status == "equal" or pair.is_metadata]
    assert {verdicts[0][pair.left] for pair in others} == {"equal"}


def test_what_a_pass_leaves_of_metadata_is_told_apart_from_what_it_does(recorder):
    """Upstream gives a new dequantize the metadata of the op above it, the built-in pass its own."""
    found = recorder.compare("encoder", f"cadence:{POSTPONE}", POSTPONE)
    assert len(found.metadata) == found.left.steps - 6
    keys = Counter(each.place[-1] for pair in found.metadata for each in pair.differences if each.place)
    assert keys["original_aten"] == len(found.metadata)
    without = compare(found.left, found.right, metadata=False)
    assert without.count("equal") == found.left.steps - 6
    assert not without.metadata


def test_a_vetoed_rewrite_is_the_one_that_is_missing(recorder, loaded_sample, tmp_path):
    plain = recorder.trace("encoder", "SinkOpsCloserToUsePass")
    name = plain.headers[4].name
    veto = Veto("SinkOpsCloserToUsePass", name)
    other = run(
        loaded_sample("encoder"),
        resolve("SinkOpsCloserToUsePass"),
        tmp_path / "vetoed.qdqtrace",
        interventions=[veto],
    )
    found = compare(plain, other.trace)
    assert [(pair.status, left_focus(found, pair)) for pair in found.differing] == [("only_left", name)]
    assert found.differing[0].absence.reason == "vetoed"
    assert (found.divergence.left, found.divergence.right) == (5, 5)


def test_a_pass_that_one_side_left_out_has_no_counterpart(recorder):
    found = recorder.compare(
        "encoder", ["HoistOpsCloserToDefPass", "SinkOpsCloserToUsePass"], "SinkOpsCloserToUsePass"
    )
    assert [(each.left is None, each.right is None) for each in found.runs] == [(False, True), (False, False)]
    assert found.same_rewrites  # it did nothing
    found = recorder.compare(
        "encoder", "HoistOpsCloserToDefPass", "SinkOpsCloserToUsePass,HoistOpsCloserToDefPass"
    )
    assert {pair.absence.reason for pair in found.differing} == {"no_pass"}
    assert found.count("only_right") == found.right.steps > 0


def test_programs_with_branches_are_compared_graph_by_graph(recorder, loaded_sample, tmp_path):
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            q = torch.ops.quantized_decomposed.quantize_per_tensor
            dq = torch.ops.quantized_decomposed.dequantize_per_tensor
            numbers = (0.1, 0, -128, 127, torch.int8)

            def yes(x):
                return q(x.permute(1, 0), *numbers)

            def no(x):
                return q(x.permute(1, 0).relu(), *numbers)

            return dq(torch.cond(x.sum() > 0, yes, no, (x,)), *numbers)

    exported = torch.export.export(Model(), (torch.randn(4, 4),), strict=True)
    loaded = describe("branches", exported, None)
    found = recorder.compare(loaded, "AdvanceQuantizeOpAboveDefChainPass", "SinkOpsCloserToUsePass")
    paths = {found.left.headers[pair.left - 1].path for pair in found.differing if pair.left}
    assert paths and all(path.startswith("true_graph") for path in paths)
    assert not found.same_graphs
    assert {each.path for each in found.subjects[0].final.differences if not each.is_metadata} == paths
    same = recorder.compare(
        loaded, "AdvanceQuantizeOpAboveDefChainPass", "AdvanceQuantizeOpAboveDefChainPass"
    )
    assert_identical(same.left, same.right)
