import sys
from pathlib import Path

import pytest

# Test modules are imported without their folder on the path; `fakes` and `driving` are shared between them.
sys.path.insert(0, str(Path(__file__).parent))

import fakes

from qdqviz.trace.reader import Trace


@pytest.fixture(scope="session")
def small_path(tmp_path_factory):
    return fakes.write_small_trace(tmp_path_factory.mktemp("tui") / "small.qdqtrace")


@pytest.fixture(scope="session")
def large_path(tmp_path_factory):
    return fakes.write_large_trace(tmp_path_factory.mktemp("tui") / "large.qdqtrace", 20_000, 5_000)


@pytest.fixture(scope="session")
def hostile_path(tmp_path_factory):
    return fakes.write_hostile_trace(tmp_path_factory.mktemp("tui") / "hostile.qdqtrace")


@pytest.fixture
def small(small_path):
    trace = Trace(small_path)
    yield trace
    trace.close()
