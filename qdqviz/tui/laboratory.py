"""What needs the program behind a trace: checks, other runs of the passes, bisection, export."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from qdqviz.errors import QdqvizError
from qdqviz.ir.text import safe_text
from qdqviz.tui import messages
from qdqviz.tui.desk import Desk, Stale

if TYPE_CHECKING:
    from textual.message import Message

    from qdqviz.check.bisect import Trial
    from qdqviz.check.report import PassCheck, RewriteCheck
    from qdqviz.live.interventions import Intervention
    from qdqviz.live.session import Plan, Progress, Session

KINDS = ("rerun", "export", "bisect", "check")
"""Kinds of work, the most urgent first."""

BATCH_SECONDS = 0.1
"""How often what a check finds is handed on."""

CLOSING_SECONDS = 2.0
"""How long the end of what is being done is waited for."""

Post: TypeAlias = "Callable[[Message], object]"
"""Hands a message to the screen; safe to call from any thread."""


class _Dropped(Exception):
    """Ends a check whose answer is no longer wanted."""


class Laboratory:
    """One thread in which torch works; of each kind of work the newest is done, the most urgent first."""

    def __init__(self, plan: Plan, session: Session, folder: Path, post: Post) -> None:
        """Open it; nothing runs yet.

        Args:
            plan: What was loaded and run.
            session: What came of it.
            folder: Where the traces of further runs go.
            post: Told of everything that was found.
        """
        self._plan = plan
        self._session = session
        self._folder = folder
        self._post = post
        self._runs = 0
        self._desk = Desk("qdqviz laboratory", KINDS, self._failed)

    @property
    def session(self) -> Session:
        """The program with its trace."""
        return self._session

    def check(self) -> None:
        """Check all rewrites, then the metadata: `Checked` will tell again and again, then `Linted`."""
        session = self._session
        self._desk.ask("check", lambda stale: self._check(session, stale))

    def rerun(self, interventions: Sequence[Intervention]) -> None:
        """Run the passes again with these interventions: `Reran` will tell, or `TrialFailed`."""
        self._desk.drop("check")
        self._desk.drop("bisect")
        self._desk.ask("rerun", lambda stale: self._rerun(tuple(interventions), stale))

    def bisect(self) -> None:
        """Find the first rewrite that breaks the outputs: `Bisected` will tell, or `TrialFailed`."""
        session = self._session
        self._desk.ask("bisect", lambda stale: self._bisect(session, stale))

    def export(self, step: int, path: Path) -> None:
        """Write the program as it is after a step: `PictureWritten` will tell."""
        session = self._session
        self._desk.ask("export", lambda _: self._export(session, step, path))

    def is_idle(self) -> bool:
        """Whether nothing is being done."""
        return self._desk.is_idle()

    @property
    def asked(self) -> int:
        """How many jobs have been asked for so far."""
        return self._desk.asked

    def close(self) -> None:
        """Do no further work; wait a moment for what is being done."""
        self._desk.close()
        self._desk.wait(CLOSING_SECONDS)

    def _failed(self, kind: str, error: Exception) -> None:
        self._post(messages.JobFailed(kind, error))

    # -- jobs --------------------------------------------------------------------------------------

    def _check(self, session: Session, stale: Stale) -> None:
        if session.store is None:
            self._post(messages.Checked(session, (), "this recording kept no constants"))
            return
        from qdqviz.check.checker import check

        batch: list[RewriteCheck | PassCheck] = []
        last = time.monotonic()

        def tell(found: RewriteCheck | PassCheck) -> None:
            nonlocal batch, last
            if stale():
                raise _Dropped
            batch.append(found)
            if time.monotonic() - last > BATCH_SECONDS:
                self._post(messages.Checked(session, tuple(batch)))
                batch, last = [], time.monotonic()

        reason = ""
        try:
            check(session, report=tell)
        except _Dropped:
            return
        except QdqvizError as error:
            reason = safe_text(str(error))
        self._post(messages.Checked(session, tuple(batch), reason, is_done=True))
        if not stale():
            self._lint(session)

    def _lint(self, session: Session) -> None:
        from qdqviz.check.lint import lint
        from qdqviz.load.quiet import quiet

        with quiet():
            self._post(messages.Linted(lint(session.trace, session.store).findings))

    def _rerun(self, interventions: tuple[Intervention, ...], stale: Stale) -> None:
        from qdqviz.live.session import run
        from qdqviz.live.settling import met_nothing

        self._runs += 1
        first = self._session

        def tell(progress: Progress) -> None:
            if stale():
                raise _Dropped
            name = safe_text(progress.name)
            text = f"running again {progress.done + 1}/{progress.total} {name}" if name else ""
            self._post(messages.RecordingProgress(text))

        try:
            session = run(
                first.loaded,
                first.passes,
                self._folder / f"again-{self._runs}.qdqtrace",
                title=first.trace.info.title,
                command=first.trace.info.command,
                progress=tell,
                interventions=interventions,
            )
        except _Dropped:
            return
        except QdqvizError as error:
            self._post(messages.TrialFailed(safe_text(str(error))))
            return
        if session.unused and session.error is None:
            self._post(messages.TrialFailed(safe_text(met_nothing(session.unused, session.trace))))
            session.trace.close()
            return
        self._session = session
        self._post(messages.Reran(session))

    def _bisect(self, session: Session, stale: Stale) -> None:
        from qdqviz.check.bisect import bisect, by_outputs

        def tell(trial: Trial) -> None:
            if stale():
                raise _Dropped
            self._post(messages.RecordingProgress(f"bisecting: step {trial.step} {trial.judgement.verdict}"))

        try:
            self._post(messages.Bisected(bisect(session, by_outputs(session), tell)))
        except _Dropped:
            return
        except QdqvizError as error:
            self._post(messages.TrialFailed(safe_text(str(error))))

    def _export(self, session: Session, step: int, path: Path) -> None:
        from qdqviz.export.program import export_program
        from qdqviz.live.materialize import materialize

        self._post(messages.RecordingProgress(f"writing {safe_text(path.name)}"))
        try:
            program = materialize(session.trace.cursor(session.subject).at(step), session, step=step)
            report = export_program(
                program,
                path,
                inputs=session.loaded.inputs,
                keywords=session.loaded.keywords,
                method=self._plan.method,
                imports=self._plan.imports,
            )
        except QdqvizError as error:
            self._post(messages.PictureWritten(safe_text(str(error)), False))
        else:
            self._post(messages.PictureWritten(safe_text(report.summary), True))
        finally:
            self._post(messages.RecordingProgress(""))
