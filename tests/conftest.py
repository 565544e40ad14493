"""What all tests share: samples built once a session, and what the executorch wheel expects of Python 3.12."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: two cores, small models

pytest_plugins = ["tests.sample_fixtures"]
