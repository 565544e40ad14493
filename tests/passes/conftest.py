import sys
from pathlib import Path

# Test modules are imported without their folder on the path; the `pass_*` modules are shared between them,
# and `sample_fixtures` is shared between the folders.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from sample_fixtures import loaded_sample, sample_program  # noqa: E402, F401
