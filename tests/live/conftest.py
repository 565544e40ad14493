import sys
from pathlib import Path

# Test modules are imported without their folder on the path; `live_programs` is shared with tests/check.
sys.path.insert(0, str(Path(__file__).parent))
