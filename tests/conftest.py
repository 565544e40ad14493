"""What all tests share: samples built once a session, one thread for torch."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: two cores, small models

pytest_plugins = ["sample_fixtures"]
