"""Every decline that upstream's tests assert gets the answer that reading the pass gives."""

from __future__ import annotations

import importlib
import unittest
from dataclasses import dataclass

import pytest
from why_upstream_table import DECLINES, Decline

from qdqviz.explain.why import Explainer
from qdqviz.record.api import record


@dataclass(frozen=True)
class Recorded:
    explainer: Explainer
    runs: dict[str, range]
    """By test, the pass runs that it made."""


@pytest.fixture(scope="module")
def upstream(tmp_path_factory) -> Recorded:
    import why_recording  # noqa: F401  what upstream's modules expect

    runs: dict[str, range] = {}
    with record(tmp_path_factory.mktemp("upstream") / "t.qdqtrace") as recording:
        for each in DECLINES:
            module = importlib.import_module(
                f"executorch.backends.cadence.aot.tests.test_{each.module}_ops_passes"
            )
            class_name, _, method = each.test.partition(".")
            first = recording.recorder.run_count
            result = unittest.TestResult()
            getattr(module, class_name)(method).run(result)
            assert result.wasSuccessful(), (each.test, result.errors, result.failures)
            runs[each.test] = range(first, recording.recorder.run_count)
    return Recorded(Explainer(recording.trace()), runs)


@pytest.mark.parametrize("decline", DECLINES, ids=lambda each: each.test)
def test_the_answer_is_the_guard_that_reading_the_pass_gives(upstream: Recorded, decline: Decline):
    ours = (upstream.explainer.trace.runs[number] for number in upstream.runs[decline.test])
    run = [each for each in ours if each.name == decline.pass_ and not each.rewrites][-1]
    answer = upstream.explainer.why(run.id, decline.node)
    if decline.never is not None:
        assert (answer.verdict, answer.reason) == ("never", decline.never)
        assert not any(each.found for each in answer.looked_for)
        return
    assert answer.verdict == "declined"
    chain = [(guard.function.rpartition(".")[2], guard.text) for guard in answer.chain]
    assert tuple(chain) == decline.chain
    assert {guard.text for guard in answer.guard.siblings} - {answer.guard.text} == decline.siblings
    assert {value.text: value.value for value in answer.values}.items() >= decline.values.items()


def test_the_table_holds_every_decline_that_the_tests_assert():
    import re
    from pathlib import Path

    import executorch.backends.cadence.aot.tests as tests

    asserted = 0
    for name in ("reorder", "fusion", "remove", "replace"):
        text = (Path(next(iter(tests.__path__))) / f"test_{name}_ops_passes.py").read_text("utf-8")
        asserted += len(re.findall(r"assertFalse\(\w+\.modified\)", text))
    # One of them stands in a test with three sets of parameters.
    assert len(DECLINES) == asserted + 2
