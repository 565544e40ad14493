import sys
from pathlib import Path

import pytest

# Test modules are imported without their folder on the path; `handmade` is shared with tests/ir.
sys.path.insert(0, str(Path(__file__).parent.parent / "ir"))

from qdqviz.draw.engine import LayoutEngine


@pytest.fixture(scope="session")
def engine():
    return LayoutEngine("graphviz-pure")
