"""Upstream's own tests give the same outcomes, test by test, with every pass recorded as without."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = os.environ.get("QDQVIZ_TRANSPARENCY", "reorder_ops fusion_ops").split()
"""`QDQVIZ_TRANSPARENCY='reorder_ops fusion_ops remove_ops replace_ops simplify_ops'` runs all five."""

FEWEST = {"reorder_ops": 15, "fusion_ops": 40, "remove_ops": 20, "replace_ops": 60, "simplify_ops": 3}
"""Tests that must have passed plain, so that a module that stops importing is noticed."""


def outcomes(module, recorded, folder):
    where = folder / f"{module}-{recorded}.json"
    package = Path(importlib.util.find_spec("executorch").submodule_search_locations[0])
    environment = {
        **os.environ,
        "QDQVIZ_RECORDED": str(int(recorded)),
        "QDQVIZ_OUTCOMES": str(where),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2])]),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-p", "upstream_plugin", "-q", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(folder), "-c", os.devnull, "-W", "ignore"]
    command += [str(package / f"backends/cadence/aot/tests/test_{module}_passes.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    assert where.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(where.read_text())


@pytest.mark.parametrize("module", MODULES)
def test_upstreams_tests_pass_and_fail_the_same_when_every_pass_is_recorded(module, tmp_path):
    plain = outcomes(module, False, tmp_path)
    recorded = outcomes(module, True, tmp_path)
    assert recorded["outcomes"] == plain["outcomes"]
    passed = [name for name, (outcome, _) in plain["outcomes"].items() if outcome == "passed"]
    assert len(passed) >= FEWEST[module]
    assert recorded["steps"] > len(passed) / 2
