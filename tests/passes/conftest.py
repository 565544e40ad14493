import sys
from pathlib import Path

# Test modules are imported without their folder on the path; the `pass_*` modules are shared between them.
sys.path.insert(0, str(Path(__file__).parent))
