"""A small trace written by hand, and ways to run the command line on it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

# Test modules are imported without their folder on the path; `written_trace` is shared between them.
sys.path.insert(0, str(Path(__file__).parent))

from written_trace import write_moving_trace, write_trace

from qdqviz.cli.main import run


@dataclass(frozen=True)
class Outcome:
    """What a command line did."""

    code: int
    out: str
    err: str


@pytest.fixture
def trace(tmp_path) -> Path:
    """A trace of one step."""
    return write_trace(tmp_path / "t.qdqtrace")


@pytest.fixture
def moving_trace(tmp_path) -> Path:
    """A trace whose one step only moves a node."""
    return write_moving_trace(tmp_path / "moving.qdqtrace")


@pytest.fixture
def handmade():
    """handmade(path, relu=...) -> a trace written there."""
    return write_trace


@pytest.fixture
def qdqviz(capsys):
    """qdqviz("steps", path) -> what the command line does, in this process."""

    def call(*arguments: object) -> Outcome:
        code = run([str(each) for each in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def process():
    """process("steps", path) -> what the command line does, in a process of its own."""

    def call(*arguments: object, code: str | None = None, **settings) -> subprocess.CompletedProcess[str]:
        start = ["-c", code] if code is not None else ["-m", "qdqviz"]
        root = str(Path(__file__).parents[2])
        environ = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": root}
        command = [sys.executable, *start, *(str(each) for each in arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=environ, timeout=120, **settings)

    return call
