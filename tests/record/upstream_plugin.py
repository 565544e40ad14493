"""A pytest plugin that runs foreign test modules plain or with every pass recorded, and keeps the outcomes.

Used as `pytest -p upstream_plugin` with this folder on the path. `QDQVIZ_OUTCOMES` names the file for
the outcomes, `QDQVIZ_RECORDED=1` turns recording on.
"""

import json
import os
import typing

import pytest
import typing_extensions

if not hasattr(typing, "override"):
    typing.override = typing_extensions.override  # what the executorch wheel expects of Python 3.12

import executorch.backends.cadence.aot.ops_registrations  # noqa: F401

OUTCOMES: dict[str, list[str]] = {}
STEPS = {"recorded": 0}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    if os.environ.get("QDQVIZ_RECORDED") != "1":
        return (yield)
    from qdqviz.record.api import record

    with record(os.environ["QDQVIZ_OUTCOMES"] + ".qdqtrace") as recording:
        try:
            return (yield)
        finally:
            STEPS["recorded"] += recording.steps


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        message = str(report.longrepr).strip().splitlines()[-1] if report.failed else ""
        OUTCOMES[report.nodeid.split("site-packages/")[-1]] = [report.outcome, message]


def pytest_sessionfinish(session):
    with open(os.environ["QDQVIZ_OUTCOMES"], "w") as file:
        json.dump({"outcomes": OUTCOMES, "steps": STEPS["recorded"]}, file)
