import sys
from pathlib import Path

# Test modules are imported without their folder on the path; the `pass_*` modules are shared between them,
# and `sample_fixtures` is shared between the folders.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import pytest  # noqa: E402
from sample_fixtures import loaded_sample, sample_program  # noqa: E402, F401

from qdqviz.passes.catalogue import Catalogue  # noqa: E402


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """The catalogue of what is installed, scanned once."""
    return Catalogue()
