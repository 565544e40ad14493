"""Run test modules of CPython's own suite, plain or instrumented, and print each test's outcome as JSON.

Usage: python cpython_outcomes.py plain|recorded MODULE...
"""

import contextlib
import gc
import importlib
import io
import json
import sys
import unittest
import warnings
from types import FunctionType

from qdqviz.record.instrument import runtime
from qdqviz.record.instrument.compiled import CompiledFiles
from qdqviz.record.instrument.live_code import LiveCode


class Forgetful:
    """Events that keep nothing alive: only the number of the last one."""

    def __init__(self):
        self.total = 0
        self.codes = [0]

    def note(self, code):
        self.total += 1
        self.codes[0] = code

    def saw(self, value):
        pass


class Log:
    """Calls every other item a focus."""

    def __init__(self):
        self.raw = Forgetful()
        self.count = 0
        self.opened = set()

    forced = None
    vetoes = False

    def open(self, site, item, skippable=True):
        self.count += 1
        if self.count % 2:
            return None
        token = object()
        self.opened.add(token)
        return token

    def close(self, token):
        self.opened.remove(token)  # KeyError if it were closed twice


def main(mode, names):
    warnings.simplefilter("ignore")
    outcomes, missing, total, functions = {}, [], 0, 0
    live = LiveCode(CompiledFiles())
    for name in names:
        module = importlib.import_module(f"test.{name}")
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        log = Log()
        if mode == "recorded":
            runtime.install()
            for found in gc.get_objects():
                if type(found) is FunctionType and found.__code__.co_filename == module.__file__:
                    functions += 1
                    reason = live.hold(found)
                    if reason:
                        missing.append([found.__qualname__, reason])
            runtime.activate(log)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
        finally:
            runtime.deactivate()
        bad = {
            case.id(): (kind, text.strip().splitlines()[-1])
            for kind, found in (("failure", result.failures), ("error", result.errors))
            for case, text in found
        }
        outcomes[name] = {
            "run": result.testsRun,
            "skipped": sorted(case.id() for case, _ in result.skipped),
            "bad": bad,
        }
        total += log.raw.total
    print(json.dumps({"outcomes": outcomes, "missing": missing, "events": total, "functions": functions}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
