"""Recording, as users call it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from qdqviz.errors import QdqvizError
from qdqviz.record.collector import fewer_full_collections
from qdqviz.record.decisions import Decisions
from qdqviz.record.passcalls import PassCalls
from qdqviz.record.recorder import Recorder
from qdqviz.record.steering import Steering
from qdqviz.record.support import watching_support
from qdqviz.record.suspend import suspending_traces
from qdqviz.record.tracing import watching_retraces
from qdqviz.record.watch import watching_edits
from qdqviz.trace.model import TraceInfo
from qdqviz.trace.reader import Trace
from qdqviz.trace.writer import TraceWriter

_PACKAGES = ("qdqviz", "torch", "executorch", "torchao")


class Recording:
    """A recording that is on, or over."""

    def __init__(self, path: Path, recorder: Recorder, calls: PassCalls) -> None:
        self.path = path
        """The trace file."""
        self.recorder = recorder
        """What it records with; sessions take constants and targets from here."""
        self._calls = calls

    @property
    def steps(self) -> int:
        """Steps recorded so far."""
        return self.recorder.writer.steps

    def trace(self) -> Trace:
        """The trace so far; `Trace.refresh` follows a recording that goes on."""
        return Trace(self.path)

    def record_pass(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A plain callable on a graph module, recorded as a pass of the callable's name."""
        return self._calls.plain(fn)

    def know(self, program: Any, name: str) -> None:
        """Name an ExportedProgram or GraphModule, and take its signature into account."""
        module = getattr(program, "graph_module", program)
        self.recorder.graphs.names[id(module)] = name
        if module is not program:
            self.recorder.graphs.know_program(program)


_active: list[Recording] = []


@contextmanager
def record(
    path: str | Path | None = None,
    *,
    title: str = "",
    command: tuple[str, ...] = (),
    decisions: bool = True,
    keep_constants: bool = False,
    steering: Steering | None = None,
) -> Iterator[Recording]:
    """Record every pass that runs on this thread until the block ends; user code needs no change.

    Args:
        path: The trace file to write; None writes to a temporary file that is the caller's to delete.
        title: What is recorded, for people.
        command: The command line that asked for it.
        decisions: Whether to instrument passes; without it only edits are recorded.
        keep_constants: Whether to keep a copy of every constant, for materializing steps.
        steering: Vetoes rewrites and forces decisions; None leaves the passes alone.

    Raises:
        TraceFileError: If the file cannot be written.
        QdqvizError: If this process records already.
    """
    if _active:
        raise QdqvizError(
            f"this process is recording already, to {_active[-1].path}; end that recording first"
        )
    where = Path(path) if path is not None else Path(tempfile.mkdtemp(prefix="qdqviz-")) / "run.qdqtrace"
    created = datetime.now(UTC).isoformat(timespec="seconds")
    writer = TraceWriter(where, TraceInfo(title or where.stem, created, _versions(), command))
    recorder = Recorder(writer, keep_constants)
    recorder.steering = steering
    asking = Decisions(writer, decisions)
    calls = PassCalls(recorder, asking)
    recording = Recording(where, recorder, calls)
    recorder.write_sites = asking.write_sites
    with ExitStack() as stack:
        stack.callback(writer.close)
        stack.callback(asking.restore)
        stack.callback(recorder.close_outside)
        stack.enter_context(fewer_full_collections())
        stack.enter_context(watching_edits(recorder.edits))
        stack.enter_context(watching_retraces(recorder.retraces))
        stack.enter_context(watching_support(lambda: recorder.asked_log))
        stack.enter_context(suspending_traces(recorder, asking))
        stack.enter_context(calls.watching())
        _active.append(recording)
        stack.callback(_active.remove, recording)
        yield recording


def record_pass(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Record a plain callable on a graph module as a pass, whenever a recording is on."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not _active:
            return fn(*args, **kwargs)
        return _active[-1].record_pass(fn)(*args, **kwargs)

    wrapper.__name__ = getattr(fn, "__name__", "pass")
    wrapper.__wrapped__ = fn  # type: ignore[attr-defined]
    return wrapper


def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", ".".join(map(str, sys.version_info[:3])))]
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)
