"""Every graph of upstream's own tests of the matching passes, through upstream's pass and ours."""

from __future__ import annotations

import io
import unittest
from typing import Any
from unittest import mock

import pytest
from pass_differences import NAMES, Comparison
from pass_structure import copy_of, shared_metadata, wrong_values
from torch.fx import GraphModule

from qdqviz.passes.importing import import_module

TESTS = "executorch.backends.cadence.aot.tests.test_reorder_ops_passes"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return Comparison()


@pytest.fixture(scope="module")
def captured() -> list[tuple[str, GraphModule]]:
    """Upstream's tests are run as they are; each graph that a matching pass is given is kept."""
    import_module("executorch.backends.cadence.aot.reorder_ops")
    tests = import_module(TESTS)
    seen: list[tuple[str, GraphModule]] = []

    def listening(cls: Any) -> Any:
        original = cls.call

        def call(self: Any, module: GraphModule) -> Any:
            if type(self).__name__ in NAMES:
                seen.append((type(self).__name__, copy_of(module)))
            return original(self, module)

        return mock.patch.object(cls, "call", call)

    classes = [getattr(tests, name) for name in NAMES if hasattr(tests, name)]
    for cls in classes:
        patch = listening(cls)
        patch.start()
    try:
        suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
        outcome = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    finally:
        mock.patch.stopall()
    assert outcome.wasSuccessful() and outcome.testsRun > 30
    return seen


def test_upstreams_own_graphs_give_what_upstream_gives_or_a_documented_difference(
    captured, comparison, capsys
):
    assert {name for name, _ in captured} == set(NAMES) - {"HoistOpsCloserToDefPass"}
    used = []
    for _name, module in captured:
        # Every graph goes through every pass, not only the one that its test is about.
        for name in NAMES:
            ours = comparison.ours(name, module).graph_module
            ours.graph.lint()
            assert wrong_values(ours) == [] and shared_metadata(ours) == []
            used += [f"{name}: {difference}" for difference in comparison.explain(name, module, ours)]
    with capsys.disabled():
        print(
            f"\n{len(captured)} graphs of upstream's tests, {len(NAMES)} passes each:",
            used or "no difference",
        )


def test_upstreams_tests_pass_with_our_passes_put_in_their_place(comparison):
    """Except where a test counts what a documented difference changes."""
    tests = import_module(TESTS)
    expected_to_differ = {
        # Counts a requantize pair at each of four quantizes; three have the parameters of the common one.
        "test_advance_branched_quantize",
    }
    ours = {name: type(comparison._ours[name].make()) for name in NAMES}
    with mock.patch.multiple(tests, **{name: cls for name, cls in ours.items() if hasattr(tests, name)}):
        suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
        outcome = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    failed = {test.id().rpartition(".")[2]: trace for test, trace in (*outcome.failures, *outcome.errors)}
    assert set(failed) == expected_to_differ, failed
