import sys
from pathlib import Path

# Test modules are imported without their folder on the path; helpers are shared, also with tests/live and
# tests/passes.
sys.path[:0] = [
    str(Path(__file__).parent),
    *(str(Path(__file__).parents[1] / each) for each in ("live", "passes")),
]
