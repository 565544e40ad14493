"""Source given as text becomes a module that can be recorded."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from qdqviz.record.instrument.instrumenter import Instrumenter

sys.path.insert(0, str(Path(__file__).parent))  # for the modules beside the tests, which pytest does not add

from recorded_code import Item, Recorder


@pytest.fixture
def instrumenter():
    with Instrumenter() as one:
        yield one


@pytest.fixture
def record(instrumenter):
    return Recorder(instrumenter)


@pytest.fixture
def module(tmp_path):
    """A function that makes a module of source text, in a file of its own."""
    count = 0

    def make(source: str, **names: object) -> ModuleType:
        nonlocal count
        count += 1
        name = f"code_{count}"
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        made = ModuleType(name)
        made.__file__ = str(path)
        made.__dict__.update(Item=Item, **names)
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), made.__dict__)
        return made

    return make
