"""A recording that runs in a thread of its own while its trace is watched."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from qdqviz.ir.text import safe_text
from qdqviz.tui.messages import RecordingBegun, RecordingEnded, RecordingProgress

if TYPE_CHECKING:
    from textual.message import Message

    from qdqviz.live.session import Plan, Progress, Session

Post: TypeAlias = "Callable[[Message], object]"
"""Hands a message to the app; safe to call from any thread."""


class Recording:
    """Loads a program and runs passes on it, all in one thread, for recording watches only that."""

    def __init__(self, plan: Plan, path: Path, post: Post) -> None:
        """Prepare; nothing runs yet.

        Args:
            plan: What to load and run.
            path: Where the trace goes unless the plan says it.
            post: Told of the beginning, of progress, and of the end.
        """
        self.plan = plan if plan.path is not None else replace(plan, path=path)
        """What is loaded and run."""
        self.session: Session | None = None
        """The program with its trace, once all has run."""
        self.error: BaseException | None = None
        """What kept the program from being loaded, or a pass from being built."""
        self._post = post
        self._has_begun = False
        self._thread = threading.Thread(target=self._run, name="qdqviz recording", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def is_on(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()

    def stop(self, seconds: float) -> bool:
        """Interrupt it as Ctrl-C would, and wait for its end; False if it does not end in time."""
        if self._thread.ident is not None and self.is_on:
            target = ctypes.c_ulong(self._thread.ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(KeyboardInterrupt))
            self._thread.join(seconds)
        return not self.is_on

    def _run(self) -> None:
        try:
            self.session = self.plan.start(self._report)
        except BaseException as error:  # noqa: BLE001  whatever it is, the app has to know
            self.error = error
            self._post(RecordingEnded(error))
        else:
            if not self._has_begun:
                self._begin(self.session.trace.path)
            self._post(RecordingEnded(self.session.error))

    def _report(self, progress: Progress) -> None:
        if not self._has_begun:
            self._begin(progress.trace)
        name = safe_text(progress.name)
        self._post(
            RecordingProgress(f"recording {progress.done + 1}/{progress.total} {name}" if name else "")
        )

    def _begin(self, trace: Path) -> None:
        self._has_begun = True
        self._post(RecordingBegun(trace))
