"""The built-in passes against upstream's current ones: the same structure, or a documented difference."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from pass_differences import BRANCH, NAMES, Comparison
from pass_graphs import Drawn, edge_graphs
from pass_structure import copy_of, equal_bits, run, same_order, shared_metadata, wrong_values

GRAPHS = 300


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return Comparison()


def check(name: str, drawn: Drawn, before: list[Any], comparison: Comparison) -> list[str]:
    """All that must hold of one pass on one graph; returns the differences to upstream that showed."""
    result = comparison.ours(name, drawn.module)
    module = result.graph_module
    if result.modified:
        module.graph.lint()
        assert wrong_values(module) == []
        assert shared_metadata(module) == []
        if name != BRANCH:  # its numerics have a bound of their own, tested with it
            assert equal_bits(before, run(module, drawn.inputs))
        again = comparison.ours(name, module)
        assert not again.modified, f"{name} is not idempotent on\n{drawn.module.graph}"
    else:
        assert same_order(drawn.module, module)
    return comparison.explain(name, drawn.module, module)


def test_generated_graphs_give_what_upstream_gives_or_a_documented_difference(comparison, capsys):
    counts: dict[str, Counter[str]] = {name: Counter() for name in NAMES}

    @settings(
        max_examples=GRAPHS,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(edge_graphs())
    def compare(drawn: Drawn) -> None:
        before = run(copy_of(drawn.module), drawn.inputs)
        for name in NAMES:
            used = check(name, drawn, before, comparison)
            counts[name].update(used or ["same"])

    compare()
    with capsys.disabled():
        for name, counted in counts.items():
            print(
                f"\n{name}: " + ", ".join(f"{what} {count}" for what, count in counted.most_common()), end=""
            )
        print()
    assert all(counted["same"] > GRAPHS // 2 for counted in counts.values())
