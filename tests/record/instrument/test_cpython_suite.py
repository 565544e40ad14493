"""CPython's own tests of the language give the same outcomes instrumented and recorded as plain."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = (
    "test_generators",
    "test_grammar",
    "test_scope",
    "test_with",
    "test_patma",
    "test_named_expressions",
    "test_listcomps",
    "test_genexps",
    "test_super",
    "test_decorators",
    "test_exceptions",
    "test_contextlib",
    "test_coroutines",
    "test_asyncgen",
    "test_yield_from",
    "test_iter",
    "test_raise",
    "test_except_star",
    "test_compare",
    "test_bool",
)

SEES_LINE_EVENTS = "TestTracing"
"""Tests of `sys.settrace`: a tracer sees one more line, where a function's body is left."""


def outcomes(mode: str) -> dict:
    here = Path(__file__).parent
    command = [sys.executable, str(here / "cpython_outcomes.py"), mode, *MODULES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=here)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.skipif(
    importlib.util.find_spec("test.test_grammar") is None,
    reason="this interpreter ships without its `test` package",
)
def test_cpythons_own_tests_give_the_same_outcomes_recorded_as_plain():
    plain, recorded = outcomes("plain"), outcomes("recorded")
    # `types.coroutine` has given this one other code, so it is left alone.
    assert [name for name, _ in recorded["missing"]] == ["awaitable"]
    assert recorded["functions"] > 1000
    assert recorded["events"] > 100_000
    for module, expected in plain["outcomes"].items():
        assert expected["run"] > 0, module
        got = recorded["outcomes"][module]
        got["bad"] = {name: why for name, why in got["bad"].items() if SEES_LINE_EVENTS not in name}
        assert got == expected, module
