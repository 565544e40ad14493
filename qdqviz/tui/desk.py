"""A thread that does the newest job of each kind, the most urgent kind first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

Stale: TypeAlias = Callable[[], bool]
"""Whether the job's answer is no longer wanted: a newer job of its kind waits, or the desk closes."""

Job: TypeAlias = Callable[[Stale], None]
"""Does its work and hands its result on by itself; asks `Stale` now and then where it takes long."""

Failed: TypeAlias = Callable[[str, Exception], None]
"""Is told the kind of a job that raised, and what."""


class Desk:
    """Does jobs in a thread of its own, which never keeps the program from ending.

    Of each kind at most one job waits: a newer one takes its place. A job that is being done is not
    interrupted but finds itself stale.
    """

    def __init__(self, name: str, kinds: Sequence[str], failed: Failed) -> None:
        """Start the thread.

        Args:
            name: Name of the thread.
            kinds: Kinds of jobs, the most urgent first.
            failed: Told of jobs that raised.
        """
        self._kinds = tuple(kinds)
        self._failed = failed
        self._waiting: dict[str, Job] = {}
        self._serials = dict.fromkeys(kinds, 0)
        self._changed = threading.Condition()
        self._is_closed = False
        self.asked = 0
        """How many jobs have been asked for so far."""
        self._doing = ""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def ask(self, kind: str, job: Job) -> None:
        """Have a job done; a job of the same kind that waits is dropped, one that is done gets stale."""
        with self._changed:
            self.asked += 1
            self._serials[kind] += 1
            self._waiting[kind] = job
            self._changed.notify_all()

    def drop(self, kind: str) -> None:
        """Drop the job of a kind; if it is being done it gets stale."""
        with self._changed:
            self._serials[kind] += 1
            self._waiting.pop(kind, None)

    def wait(self, timeout: float) -> bool:
        """Wait until nothing is left to do; False if that took longer than `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._doing, timeout)

    def is_idle(self, but: str = "") -> bool:
        """Whether nothing waits and nothing is being done, jobs of the kind `but` not counted."""
        with self._changed:
            return not self._waiting.keys() - {but} and self._doing in ("", but)

    def is_quiet(self, kind: str) -> bool:
        """Whether nothing waits that is more urgent than a kind."""
        more_urgent = self._kinds[: self._kinds.index(kind)]
        with self._changed:
            return not any(each in self._waiting for each in more_urgent)

    def close(self) -> None:
        """Do no further job; the one that is being done gets stale."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._doing = ""
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._is_closed or bool(self._waiting))
                if self._is_closed:
                    return
                kind = next(each for each in self._kinds if each in self._waiting)
                job = self._waiting.pop(kind)
                serial = self._serials[kind]
                self._doing = kind
            try:
                job(lambda kind=kind, serial=serial: self._is_closed or self._serials[kind] != serial)  # type: ignore[misc]
            except Exception as error:  # noqa: BLE001  a job may fail in any way; the app says so
                self._failed(kind, error)
