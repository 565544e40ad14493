"""What the tests of comparisons share: versions of passes as files, and recordings of samples."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Test modules are imported without their folders on the path; the terminal app is driven as in tests/tui.
sys.path.insert(0, str(Path(__file__).parents[1] / "tui"))
sys.path.insert(0, str(Path(__file__).parent))

from compare_versions import SAMPLES, Recorder

from qdqviz.load.loaded import Loaded


@pytest.fixture
def recorder(loaded_sample: Callable[[str], Loaded], tmp_path: Path) -> Recorder:
    """Records passes on samples."""
    return Recorder(loaded_sample, tmp_path)


@pytest.fixture
def samples_once(loaded_sample: Callable[[str], Loaded], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands take samples that a test has loaded before: passes run on copies."""
    from qdqviz.load import target

    plain = target.load

    def load(name: str, **how: Any) -> Loaded:
        return loaded_sample(name) if name in SAMPLES and not any(how.values()) else plain(name, **how)

    monkeypatch.setattr(target, "load", load)
