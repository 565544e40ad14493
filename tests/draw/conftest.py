import os
import sys
from pathlib import Path

import pytest

# Test modules are imported without their folder on the path; `handmade` is shared with tests/ir.
sys.path.insert(0, str(Path(__file__).parent.parent / "ir"))

from qdqviz.draw.engine import LayoutEngine


@pytest.fixture(scope="session")
def engine():
    return LayoutEngine("graphviz-pure")


@pytest.fixture
def golden():
    """Compares text with a file; with QDQVIZ_UPDATE_GOLDENS=1 set it writes the file instead."""

    def check(name, text):
        path = Path(__file__).parent / "goldens" / name
        if os.environ.get("QDQVIZ_UPDATE_GOLDENS"):
            path.write_text(text + "\n", "utf-8")
        assert text + "\n" == path.read_text("utf-8")

    return check
