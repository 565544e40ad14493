"""Joins the source instrumentation to the recorder: which pass is prepared, whose log is written."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from qdqviz.record.instrument import runtime
from qdqviz.record.runlog import RunLog
from qdqviz.trace.model import Source
from qdqviz.trace.writer import TraceWriter


class Decisions:
    """Decision recording of one recording: instruments passes as they first run."""

    def __init__(self, writer: TraceWriter, enabled: bool = True) -> None:
        self._writer = writer
        self._instrumenter: Any = None
        if enabled:
            from qdqviz.record.instrument.swap import Instrumenter
            self._instrumenter = Instrumenter()
        self._written = 0
        self._files: set[str] = set()

    def prepare(self, owner: Any) -> str:
        """Instrument what a pass reaches; says why decisions are missing, or nothing."""
        if self._instrumenter is None:
            return "not recorded"
        missing = self._instrumenter.ensure(owner if inspect.isfunction(owner) else type(owner))
        own = getattr(type(owner), "__module__", "")
        here = [item for item in missing if item.file == _file(owner) or own in item.function]
        return f"{here[0].function}: {here[0].reason}" if here else ""

    @contextmanager
    def logging(self, log: RunLog | None) -> Iterator[None]:
        """Let instrumented code write to this log until the block ends; None: to none."""
        if self._instrumenter is None:
            yield
            return
        before = runtime.deactivate()
        if log is not None:
            runtime.activate(log)
        try:
            yield
        finally:
            runtime.deactivate()
            if before is not None:
                runtime.activate(before)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let instrumented code write to no log until the block ends."""
        with self.logging(None):
            yield

    def write_sites(self) -> None:
        """Write the sites met since the last time, and the source files that hold them."""
        if self._instrumenter is None:
            return
        sites = self._instrumenter.sites[self._written :]
        self._written += len(sites)
        self._writer.add_sites(sites)
        for file in dict.fromkeys(site.file for site in sites):
            if file not in self._files:
                self._files.add(file)
                text = _read(file)
                if text is not None:
                    self._writer.add_source(Source(file, text))

    def restore(self) -> None:
        """Put all code back as it was."""
        if self._instrumenter is not None:
            self._instrumenter.restore()


def _file(owner: Any) -> str:
    try:
        return inspect.getsourcefile(owner if inspect.isfunction(owner) else type(owner)) or ""
    except TypeError:
        return ""


def _read(file: str) -> str | None:
    import tokenize

    try:
        with tokenize.open(file) as source:
            return source.read()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
