import sys
from pathlib import Path

import pytest

# Test modules are imported without their folder on the path; `fakes` and `driving` are shared between them.
sys.path.insert(0, str(Path(__file__).parent))

import fakes

from qdqviz.trace.reader import Trace


@pytest.fixture(autouse=True)
def terminal_of_no_machine(monkeypatch):
    """The app looks the same whatever terminal the tests run in."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def small_path(tmp_path_factory):
    return fakes.write_small_trace(tmp_path_factory.mktemp("tui") / "small.qdqtrace")


@pytest.fixture(scope="session")
def large_path(tmp_path_factory):
    return fakes.write_large_trace(tmp_path_factory.mktemp("tui") / "large.qdqtrace", 20_000, 5_000)


@pytest.fixture(scope="session")
def hostile_path(tmp_path_factory):
    return fakes.write_hostile_trace(tmp_path_factory.mktemp("tui") / "hostile.qdqtrace")


@pytest.fixture(scope="session")
def tiny_session(tmp_path_factory):
    """A real recording of the passes in `tiny_program.py`, with its program."""
    from qdqviz.live.session import Plan, run

    file = Path(__file__).parent / "tiny_program.py"
    loaded, passes = Plan(f"{file}:build", (f"{file}:DropRelu", f"{file}:SwapAdds")).prepare()
    return run(loaded, passes, tmp_path_factory.mktemp("tui") / "tiny.qdqtrace", title="tiny")


@pytest.fixture(scope="session")
def tiny_path(tiny_session):
    return tiny_session.trace.path


@pytest.fixture
def small(small_path):
    trace = Trace(small_path)
    yield trace
    trace.close()
