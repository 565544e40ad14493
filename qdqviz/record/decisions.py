"""Joins the source instrumentation to the recorder: which pass is prepared, whose log is written."""

from __future__ import annotations

import inspect
import sys
import tokenize
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from qdqviz.record.instrument import runtime
from qdqviz.record.instrument.instrumenter import Instrumenter
from qdqviz.record.runlog import RunLog
from qdqviz.trace.events import Site
from qdqviz.trace.model import Source
from qdqviz.trace.writer import TraceWriter


class Decisions:
    """Decision recording of one recording: instruments passes as they first run."""

    def __init__(self, writer: TraceWriter, enabled: bool = True) -> None:
        self._writer = writer
        self._instrumenter = Instrumenter() if enabled else None
        self._sites: set[int] = set()
        self._files: set[str] = set()

    def prepare(self, owner: Any) -> str:
        """Instrument what a pass reaches; says why decisions are missing, or nothing."""
        if self._instrumenter is None:
            return "not recorded"
        missing = self._instrumenter.ensure(owner)
        own = _file(owner)
        here = [item for item in missing if item.file == own]
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
        running = runtime.running_calls()
        try:
            yield
        finally:
            runtime.end_calls(running, sys.exc_info()[0])
            runtime.deactivate()
            if before is not None:
                runtime.activate(before)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let instrumented code write to no log until the block ends."""
        with self.logging(None):
            yield

    def write_sites(self, sites: Iterable[int]) -> None:
        """Write the sites that a pass run decided at, if new, and the source files that hold them."""
        if self._instrumenter is None:
            return
        new = sorted(site for site in set(sites) - self._sites if site >= 0)
        self._sites.update(new)
        described = [self._instrumenter.describe(site) for site in new]
        self._writer.add_sites(described)
        for file in dict.fromkeys(site.file for site in described):
            if file not in self._files:
                self._files.add(file)
                text = _read(file)
                if text is not None:
                    self._writer.add_source(Source(file, text))

    def describe(self, site: int) -> Site:
        """The site of an id."""
        assert self._instrumenter is not None
        return self._instrumenter.describe(site)

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
    try:
        with tokenize.open(file) as source:
            return source.read()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
