"""A comparison's work grows with the size of the traces, no faster. Counted in calls: time would be noise."""

from __future__ import annotations

import cProfile
import pstats

from benchmarks.bench_compare import in_a_row
from qdqviz.live.interventions import Veto
from qdqviz.live.session import run
from qdqviz.passes.resolve import resolve
from qdqviz.trace.compare.model import Comparison
from qdqviz.trace.compare.traces import compare
from qdqviz.trace.reader import Trace

PASSES = "cadence-reorder,cadence:FuseQuantDequantToRequantizePass"


def counted(left: Trace, right: Trace) -> tuple[Comparison, int]:
    """A comparison, and how many calls it made."""
    profile = cProfile.Profile()
    found = profile.runcall(compare, left, right)
    return found, pstats.Stats(profile).total_calls


def test_models_in_a_row_take_as_many_times_the_work_and_differ_as_many_times(loaded_sample, tmp_path):
    plain = run(loaded_sample("encoder"), resolve(PASSES), tmp_path / "plain.qdqtrace").trace
    veto = Veto("SinkOpsCloserToUsePass", plain.headers[4].name)
    changed = run(
        loaded_sample("encoder"), resolve(PASSES), tmp_path / "changed.qdqtrace", interventions=[veto]
    ).trace
    compare(plain, changed)  # what is imported on first use is imported now
    counts, calls = [], []
    for number in (1, 2, 8):
        sides = [
            Trace(in_a_row(each.path, number, tmp_path / f"{number}_{each.path.name}"))
            for each in (plain, changed)
        ]
        assert len(sides[0].first().root) == number * (len(plain.first().root) - 1) + 1
        found, made = counted(*sides)
        counts.append([found.count(each) for each in ("equal", "different", "only_left", "only_right")])
        calls.append(made)
    assert counts[0][0] > 40
    assert counts[0][2] >= 1
    assert counts[1:] == [[2 * each for each in counts[0]], [8 * each for each in counts[0]]]
    assert calls[2] - calls[1] < 1.1 * 6 * (calls[1] - calls[0])
