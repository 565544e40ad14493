"""What the tests of comparisons share: versions of passes as files, and recordings of samples."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# Test modules are imported without their folders on the path; the terminal app is driven as in tests/tui.
sys.path.insert(0, str(Path(__file__).parents[1] / "tui"))
sys.path.insert(0, str(Path(__file__).parent))

from compare_versions import Recorder

from qdqviz.load.loaded import Loaded


@pytest.fixture
def recorder(loaded_sample: Callable[[str], Loaded], tmp_path: Path) -> Recorder:
    """Records passes on samples."""
    return Recorder(loaded_sample, tmp_path)
