"""Fixtures for tests on sample models: each sample is built once a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from qdqviz.load.copying import copy_program
from qdqviz.load.loaded import Loaded
from qdqviz.load.target import load


@pytest.fixture(scope="session")
def loaded_sample() -> Callable[[str], Loaded]:
    """By a sample's name, the sample as loaded: shared by all tests, never to be changed."""
    built: dict[str, Loaded] = {}

    def get(name: str) -> Loaded:
        if name not in built:
            built[name] = load(name)
        return built[name]

    return get


@pytest.fixture(scope="session")
def sample_program(loaded_sample: Callable[[str], Loaded]) -> Callable[[str], Any]:
    """By a sample's name, a fresh copy of its EdgeProgramManager to run passes on."""
    return lambda name: copy_program(loaded_sample(name).program)
