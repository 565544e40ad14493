"""Writes a trace while it is recorded: every step is on disk before the next is taken."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qdqviz.errors import TraceFileError
from qdqviz.ir.change import Change
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import NodeState, OpInfo
from qdqviz.trace.attempts import AttemptTable
from qdqviz.trace.codec import op_to_json, pack, record_to_json
from qdqviz.trace.events import Site
from qdqviz.trace.model import PassRun, Source, Subject, TraceInfo
from qdqviz.trace.schema import APPLICATION_ID, TABLES, VERSION
from qdqviz.trace.states import nodes_by_path, pack_changes, pack_nodes

_MIN_CHECKPOINT = 4096
"""Changes after which a checkpoint state may be worth its bytes."""


class TraceWriter:
    """The only writer of a trace file.

    In WAL mode while open, so that a viewer may read along and a killed process loses at most the
    last transaction; `close` folds everything into one plain file.
    """

    def __init__(self, path: Path, info: TraceInfo) -> None:
        """Create the file.

        Raises:
            TraceFileError: If it cannot be created there.
        """
        self.path = path
        self.steps = 0
        """Steps written so far."""
        self._seq = 0
        self._texts: dict[str, int] = {}
        self._states: dict[int, GraphState | Mapping[str, list[NodeState]]] = {}
        self._later: dict[int, list[Change]] = {}
        self._checkpoint_at: dict[int, int] = {}
        self._settling: tuple[int, int, list[Change]] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            for leftover in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                leftover.unlink(missing_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            # First of all: whatever is written before it waits for the disk.
            self._db.execute("PRAGMA synchronous=OFF")
            header = f"PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={VERSION};"
            self._db.executescript(f"BEGIN;{header}{TABLES}COMMIT")
            self._db.execute("PRAGMA journal_mode=WAL")
        except (OSError, sqlite3.Error) as error:
            reason = f"cannot write a trace to {path}: {error}; name another file with -o"
            raise TraceFileError(reason) from error
        self.set_info("info", json.dumps(record_to_json(info)))
        self.set_info("complete", "false")

    def begin(self) -> None:
        """Open a transaction, so that a burst of rows costs one commit."""
        if not self._db.in_transaction:
            self._db.execute("BEGIN")

    def commit(self) -> None:
        """End the transaction: what was written is now visible to readers."""
        self._write_settling()
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def set_info(self, key: str, value: str) -> None:
        """Set one entry of the info table."""
        self._db.execute("INSERT OR REPLACE INTO info VALUES(?,?)", (key, value))

    def add_subject(self, subject: Subject, first: GraphState | Mapping[str, list[NodeState]]) -> None:
        """Write a subject and its first state, or the nodes of that by the path of their graph, in order."""
        self._db.execute(
            "INSERT INTO subjects VALUES(?,?)", (subject.id, json.dumps(record_to_json(subject)))
        )
        self._states[subject.id] = first
        self._write_settling()
        self._later[subject.id] = []
        nodes = nodes_by_path(first) if isinstance(first, GraphState) else first
        self._checkpoint_at[subject.id] = _changes_to_checkpoint(nodes)
        self._db.execute("INSERT INTO states VALUES(?,0,?)", (subject.id, pack_nodes(nodes)))

    def put_run(self, run: PassRun, attempts: AttemptTable | None = None) -> None:
        """Write a pass run, or write it again when it has ended."""
        data = json.dumps(record_to_json(run))
        if attempts is None:
            self._db.execute("INSERT OR REPLACE INTO runs(id,data) VALUES(?,?)", (run.id, data))
            return
        row = (run.id, data, attempts.blob(), json.dumps(attempts.foci()))
        self._db.execute("INSERT OR REPLACE INTO runs VALUES(?,?,?,?)", row)

    def add_rewrite(
        self,
        subject: int,
        run: int,
        changes: Sequence[Change],
        *,
        path: str = "",
        focus: int | None = None,
        name: str = "",
        unconditional: bool = False,
        note: str = "",
    ) -> int:
        """Write the next step and return its number."""
        self._write_settling()
        self.steps += 1
        head = {"path": path, "focus": focus, "name": name, "unconditional": unconditional, "note": note}
        self._add_group(subject, run, self.steps, self.steps, head, changes)
        return self.steps

    def add_settling(self, subject: int, run: int, changes: Sequence[Change]) -> None:
        """Write bookkeeping changes, which are no step; those between two steps are written together."""
        pending = self._settling
        if pending is not None and pending[:2] == (subject, run):
            pending[2].extend(changes)
        elif changes:
            self._write_settling()
            self._settling = (subject, run, list(changes))

    def state(self, subject: int) -> GraphState:
        """The subject's state after all that was written."""
        self._write_settling()
        held = self._states[subject]
        state = held if isinstance(held, GraphState) else GraphState.of(held)
        later = self._later[subject]
        if later:
            state = state.apply_all(later)
            self._checkpoint_at[subject] -= len(later)
            later.clear()
        self._states[subject] = state
        return state

    def text(self, text: str) -> int:
        """The id of a long text in the text table."""
        found = self._texts.get(text)
        if found is None:
            found = self._texts[text] = len(self._texts)
            self._db.execute("INSERT INTO texts VALUES(?,?)", (found, text))
        return found

    def add_ops(self, ops: Iterable[OpInfo]) -> None:
        """Write what is known of call targets."""
        rows = [(op.target, json.dumps(op_to_json(op))) for op in ops]
        self._db.executemany("INSERT OR REPLACE INTO ops VALUES(?,?)", rows)

    def add_sites(self, sites: Iterable[Site]) -> None:
        """Write decision sites."""
        rows = [(site.id, json.dumps(record_to_json(site))) for site in sites]
        self._db.executemany("INSERT OR REPLACE INTO sites VALUES(?,?)", rows)

    def add_source(self, source: Source) -> None:
        """Write a source file's text."""
        self._db.execute("INSERT OR REPLACE INTO sources VALUES(?,?)", (source.file, pack(source.text)))

    def close(self) -> None:
        """Mark the trace complete and fold the write-ahead log into the file."""
        self.commit()
        self.set_info("complete", "true")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # A reader that is open keeps the log alive; the file is whole all the same.
        try:
            self._db.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError:
            self.commit()
        self._db.close()

    def _write_settling(self) -> None:
        pending, self._settling = self._settling, None
        if pending is not None:
            subject, run, changes = pending
            self._add_group(subject, run, None, self.steps, {}, changes)

    def _add_group(
        self,
        subject: int,
        run: int,
        step: int | None,
        after: int,
        head: dict[str, Any],
        changes: Sequence[Change],
    ) -> None:
        self._seq += 1
        blob = pack_changes(changes)
        row = (self._seq, subject, run, step, after, json.dumps(head) if head else "{}", blob)
        self._db.execute("INSERT INTO groups VALUES(?,?,?,?,?,?,?)", row)
        later = self._later[subject]
        later.extend(changes)
        if len(later) >= self._checkpoint_at[subject]:
            nodes = nodes_by_path(self.state(subject))
            self._checkpoint_at[subject] = _changes_to_checkpoint(nodes)
            self._db.execute("INSERT INTO states VALUES(?,?,?)", (subject, self._seq, pack_nodes(nodes)))


def _changes_to_checkpoint(nodes: Mapping[str, list[NodeState]]) -> int:
    """After how many changes of a state with these nodes a checkpoint is worth its bytes."""
    return max(_MIN_CHECKPOINT, 2 * sum(map(len, nodes.values())))
