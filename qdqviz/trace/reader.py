"""Reads a trace: everything lazily, nothing executed, no torch."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qdqviz.errors import TraceFileError, UsageError
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import OpInfo
from qdqviz.trace.attempts import attempts_from_blob
from qdqviz.trace.codec import op_from_json, unpack
from qdqviz.trace.cursor import Cursor, Group
from qdqviz.trace.events import Site
from qdqviz.trace.filecheck import check_file
from qdqviz.trace.model import (
    Attempt,
    LookedFor,
    PassError,
    PassRun,
    Rewrite,
    Source,
    Subject,
    TraceInfo,
)
from qdqviz.trace.states import unpack_changes, unpack_state


class Trace:
    """A recorded (or still recording) trace.

    Steps are numbered from 1 over the whole trace; each belongs to one subject. All lists are read
    once and kept; `refresh` reads what a recording has added since.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a trace file for reading.

        Raises:
            TraceFileError: If there is no such file, or it is no trace, truncated, or newer.
        """
        self.path = Path(path)
        self._lock = threading.RLock()
        check_file(self.path)
        self._db = self._connect()
        self._attempts: dict[int, tuple[Attempt, ...]] = {}
        self._cursors: dict[int, Cursor] = {}
        self.refresh()

    def _connect(self) -> sqlite3.Connection:
        uri = f"file:{quote(str(self.path.absolute()))}?mode=ro"
        for suffix in ("", "&immutable=1"):
            try:
                db = sqlite3.connect(uri + suffix, uri=True, check_same_thread=False, isolation_level=None)
                db.execute("PRAGMA trusted_schema=OFF")
                db.execute("SELECT count(*) FROM info").fetchone()
                return db
            except sqlite3.Error as error:
                reason = str(error)
        raise TraceFileError(f"{self.path} cannot be read as a trace ({reason}); record it again")

    def refresh(self) -> None:
        """Read what has been written since the trace was opened."""
        for name in ("info", "subjects", "runs", "ops", "sites", "headers"):
            self.__dict__.pop(name, None)
        self._attempts.clear()
        for cursor in self._cursors.values():
            cursor.extend(self._groups_of(cursor.subject, cursor.last_seq))

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # -- the lists ---------------------------------------------------------------------------------

    @cached_property
    def info(self) -> TraceInfo:
        """Where the trace comes from."""
        with self._decoding():
            data = json.loads(self._info("info") or "{}")
            versions = tuple((name, version) for name, version in data.get("versions", ()))
            return TraceInfo(
                data.get("title", ""), data.get("created", ""), versions, tuple(data.get("command", ()))
            )

    @property
    def complete(self) -> bool:
        """False while it is being recorded, and for good if the recording was cut off."""
        return self._info("complete") == "true"

    @cached_property
    def subjects(self) -> tuple[Subject, ...]:
        """All subjects in order of first appearance."""
        rows = self._rows("SELECT data FROM subjects ORDER BY id")
        with self._decoding():
            return tuple(Subject(**json.loads(data)) for (data,) in rows)

    @cached_property
    def runs(self) -> tuple[PassRun, ...]:
        """All pass runs in order of start."""
        rows = self._rows("SELECT data FROM runs ORDER BY id")
        with self._decoding():
            return tuple(_run_from_json(data) for (data,) in rows)

    @cached_property
    def ops(self) -> Mapping[str, OpInfo]:
        """What is known of each call target."""
        rows = self._rows("SELECT data FROM ops")
        with self._decoding():
            return {op.target: op for op in (op_from_json(json.loads(data)) for (data,) in rows)}

    @cached_property
    def sites(self) -> Mapping[int, Site]:
        """All decision sites by id."""
        rows = self._rows("SELECT data FROM sites")
        with self._decoding():
            return {site.id: site for site in (_site_from_json(data) for (data,) in rows)}

    @cached_property
    def headers(self) -> tuple[Rewrite, ...]:
        """All rewrites in order of their steps, without their changes."""
        query = "SELECT step, run, subject, head FROM groups WHERE step IS NOT NULL ORDER BY step"
        rows = self._rows(query)
        with self._decoding():
            heads = json.loads(f"[{','.join(row[3] for row in rows)}]")  # all at once: there may be thousands
            return tuple(Rewrite(*row[:3], **head) for row, head in zip(rows, heads, strict=True))

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.headers)

    # -- one thing ---------------------------------------------------------------------------------

    def rewrite(self, step: int) -> Rewrite:
        """The rewrite of a step, with its changes.

        Raises:
            UsageError: If the trace has no such step.
        """
        self.check_step(step, first=1)
        query = "SELECT step, run, subject, head, data FROM groups WHERE step=?"
        rows = self._rows(query, (step,))
        with self._decoding():
            row = rows[0]
            changes = unpack_changes(row[4])
            return Rewrite(row[0], row[1], row[2], **json.loads(row[3]), changes=changes)

    def check_step(self, step: int, first: int = 0) -> None:
        """Raise a UsageError unless `first` <= step <= the number of steps."""
        if not self.steps and first:
            raise UsageError(f"no step {step} in {self.path.name}: it has no rewrites")
        if not first <= step <= self.steps:
            raise UsageError(f"no step {step} in {self.path.name}: it has steps {first} to {self.steps}")

    def attempts(self, run: int) -> tuple[Attempt, ...]:
        """All attempts of a pass run, in order of opening."""
        if run not in self._attempts:
            rows = self._rows("SELECT attempts FROM runs WHERE id=?", (run,))
            blob = rows[0][0] if rows else None
            with self._decoding():
                self._attempts[run] = attempts_from_blob(run, blob) if blob else ()
        return self._attempts[run]

    def foci(self, run: int) -> frozenset[int]:
        """Identities of the nodes that a pass run looked at, without decoding its attempts."""
        rows = self._rows("SELECT foci FROM runs WHERE id=?", (run,))
        with self._decoding():
            return frozenset(json.loads(rows[0][0])) if rows and rows[0][0] else frozenset()

    def text(self, text_id: int) -> str:
        """A long text by its id."""
        rows = self._rows("SELECT text FROM texts WHERE id=?", (text_id,))
        return str(rows[0][0]) if rows else ""

    def source(self, file: str) -> Source | None:
        """A source file as it was when the pass ran, or None if it was not kept."""
        rows = self._rows("SELECT data FROM sources WHERE file=?", (file,))
        return Source(file, str(self._decode(rows[0][0]))) if rows else None

    def children(self, run: int | None) -> tuple[PassRun, ...]:
        """The pass runs that were called by `run` (None: by nobody)."""
        return tuple(item for item in self.runs if item.parent == run)

    def rewrites_of(self, run: int) -> tuple[Rewrite, ...]:
        """The rewrites, without changes, that a pass run itself made (nested runs not included)."""
        return tuple(header for header in self.headers if header.run == run)

    # -- states ------------------------------------------------------------------------------------

    def cursor(self, subject: int) -> Cursor:
        """The cursor that goes to any step of a subject.

        Raises:
            UsageError: If there is no such subject.
        """
        with self._lock:
            if subject not in self._cursors:
                if not any(item.id == subject for item in self.subjects):
                    raise UsageError(f"no subject {subject} in {self.path.name}: it has {len(self.subjects)}")
                self._cursors[subject] = Cursor(
                    subject,
                    self._state_at,
                    self._changes_of,
                    self._checkpoints_of(subject),
                    self._groups_of(subject, 0),
                )
            return self._cursors[subject]

    def before(self, step: int) -> GraphState:
        """The state of the step's subject right before the step."""
        self.check_step(step, first=1)
        return self.cursor(self.headers[step - 1].subject).before(step)

    def after(self, step: int) -> GraphState:
        """The state of the step's subject right after the step."""
        self.check_step(step, first=1)
        return self.cursor(self.headers[step - 1].subject).after(step)

    def first(self, subject: int = 0) -> GraphState:
        """The first state of a subject."""
        return self.cursor(subject).first()

    def final(self, subject: int = 0) -> GraphState:
        """The last state of a subject."""
        return self.cursor(subject).final()

    # -- reading -----------------------------------------------------------------------------------

    def _groups_of(self, subject: int, after_seq: int) -> Sequence[Group]:
        query = "SELECT seq, step, after_step FROM groups WHERE subject=? AND seq>? ORDER BY seq"
        return [Group(*row) for row in self._rows(query, (subject, after_seq))]

    def _checkpoints_of(self, subject: int) -> Sequence[int]:
        return [
            seq for (seq,) in self._rows("SELECT seq FROM states WHERE subject=? ORDER BY seq", (subject,))
        ]

    def _state_at(self, subject: int, seq: int) -> GraphState:
        rows = self._rows("SELECT data FROM states WHERE subject=? AND seq=?", (subject, seq))
        with self._decoding():
            return unpack_state(rows[0][0])

    def _changes_of(self, subject: int, first: int, last: int) -> dict[int, Any]:
        query = "SELECT seq, data FROM groups WHERE subject=? AND seq BETWEEN ? AND ? ORDER BY seq"
        with self._decoding():
            return {seq: unpack_changes(blob) for seq, blob in self._rows(query, (subject, first, last))}

    def _info(self, key: str) -> str | None:
        rows = self._rows("SELECT value FROM info WHERE key=?", (key,))
        return str(rows[0][0]) if rows else None

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise self._damaged(error) from error

    def _decode(self, blob: bytes) -> Any:
        with self._decoding():
            return unpack(blob)

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        """Turn whatever reading damaged content raises into one clear error."""
        try:
            yield
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> TraceFileError:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        return TraceFileError(f"{self.path} is damaged ({reason}); record it again")


def _run_from_json(text: str) -> PassRun:
    data = json.loads(text)
    data["looked_for"] = tuple(LookedFor(**item) for item in data["looked_for"])
    data["paths"] = tuple(data["paths"])
    if data["error"] is not None:
        data["error"] = PassError(**data["error"])
    return PassRun(**data)


def _site_from_json(text: str) -> Site:
    data = {
        key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(text).items()
    }
    fields: Any = data
    return Site(**fields)
