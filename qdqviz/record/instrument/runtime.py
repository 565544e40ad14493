"""Switch the hooks on and off, and put them where instrumented code finds them."""

from __future__ import annotations

import builtins
from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from qdqviz.record.instrument import decisions, frames, loops, operands, state
from qdqviz.record.instrument.protocol import HOOKS, DecisionLog, RecordingBusyError


class Hooks:
    """What instrumented code calls. With nothing to record, each gives its value back and does nothing."""

    test = staticmethod(decisions.test)
    value = staticmethod(decisions.value)
    chain_first = staticmethod(decisions.chain_first)
    chain_next = staticmethod(decisions.chain_next)
    chain = staticmethod(decisions.chain)
    chain_test = staticmethod(decisions.chain_test)
    case = staticmethod(decisions.case)
    leaving = staticmethod(decisions.leaving)
    caught = staticmethod(decisions.caught)
    entered = staticmethod(frames.entered)
    left = staticmethod(frames.left)
    ended = staticmethod(frames.ended)
    settled = staticmethod(frames.settled)
    frame = staticmethod(frames.frame)
    returning = staticmethod(frames.returning)
    here = staticmethod(frames.here)
    pausing = staticmethod(frames.pausing)
    resuming = staticmethod(frames.resuming)
    each = staticmethod(loops.each)
    handed = staticmethod(loops.handed)
    operand = staticmethod(operands.operand)
    popped = staticmethod(loops.popped)
    popped_all = staticmethod(loops.popped_all)


for _name, _operate in decisions.OPERATIONS.items():
    setattr(Hooks, _name, staticmethod(decisions.comparing(_operate)))
    setattr(Hooks, f"{_name}_test", staticmethod(decisions.comparing_test(_operate)))


@dataclass(slots=True, eq=False)
class _Recording:
    """One recording in this process."""

    log: DecisionLog
    """Where its events go."""
    owner: int
    """The thread that records."""
    frames: list[Any] = field(default_factory=list)
    """Its running calls."""
    chains: list[list[Any]] = field(default_factory=list)
    """Its chained comparisons."""
    suspended: int = 0
    """How many `suspended()` blocks it is in."""


_recordings: list[_Recording] = []
"""Recordings in progress, innermost last; only that one gets events."""

_parked: list[_Recording] = []
"""Recordings that were deactivated inside of calls that still run; their log may be activated again."""


def install() -> None:
    """Put the hooks into `builtins`. They stay: functions made during a recording outlive it."""
    setattr(builtins, HOOKS, Hooks)


def activate(log: DecisionLog) -> None:
    """Send what instrumented code of this thread decides to `log`; a recording in progress waits.

    A log that was deactivated before goes on with the calls that it knew to be running.

    Raises:
        RecordingBusyError: Another thread is recording.
    """
    if _recordings and _recordings[-1].owner != get_ident():
        raise RecordingBusyError(
            "another thread of this process is recording; record in one thread at a time"
        )
    known = next((one for one in _parked if one.log is log and one.owner == get_ident()), None)
    if known is not None:
        _parked.remove(known)
    _recordings.append(known or _Recording(log, get_ident()))
    _refresh()


def deactivate() -> DecisionLog | None:
    """End the innermost recording and go on with the one before it.

    Returns:
        The log that was active, or None if none was.
    """
    ended = _recordings.pop() if _recordings else None
    _parked[:] = [one for one in (*_parked, ended) if one is not None and one.frames]
    _refresh()
    return ended.log if ended else None


def running_calls() -> int:
    """How many calls the innermost recording knows to be running."""
    return len(state.frames)


def end_calls(running: int, error: type[BaseException] | None = None) -> None:
    """End the calls above the first so many: what made them is over, so an exception has ended them."""
    if state.owner and get_ident() == state.owner:
        frames.end_above(running - 1, error)


@contextmanager
def suspended() -> Iterator[None]:
    """Record nothing inside: for nested code that is traced, not run. No effect on other threads."""
    if not _recordings or _recordings[-1].owner != get_ident():
        yield
        return
    recording = _recordings[-1]
    recording.suspended += 1
    _refresh()
    try:
        yield
    finally:
        recording.suspended -= 1
        _refresh()


def active_log() -> DecisionLog | None:
    """The log that this thread's decisions go to now, or None."""
    active: DecisionLog | None = state.log if get_ident() == state.owner else None
    return active


def _refresh() -> None:
    current = _recordings[-1] if _recordings else None
    state.frames = current.frames if current else []
    state.chains = current.chains if current else []
    state.log = log = current.log if current and not current.suspended else None
    state.owner = current.owner if current and log is not None else 0
    state.note = log.raw.note if log is not None else state.nowhere
    state.saw = log.raw.saw if log is not None else state.nowhere
