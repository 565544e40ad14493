"""Hooks for calls: a function is entered, left, paused at a `yield`, gone on with.

A function's body is wrapped in `with frame(site):`. The context manager lives on the interpreter's own
stack, so no local variable appears in `locals()`, and its `__exit__` sees every way out. A generator's call
is on the stack of running calls only while it runs. Lambdas have no statements: their call is noted at both
ends, and one that an exception ended is dropped when the function around it goes on.
"""

from __future__ import annotations

from _thread import get_ident
from types import TracebackType
from typing import Any

from qdqviz.record.instrument import state
from qdqviz.record.instrument.protocol import DecisionLog
from qdqviz.record.instrument.values import CONTAINERS, keep, snapshot, type_name
from qdqviz.trace.events import Kind

_ENTER, _LEAVE, _LOOP = Kind.ENTER, Kind.LEAVE, Kind.LOOP


class Worklist:
    """A `while` loop that takes its items from a container."""

    __slots__ = ("count", "handled", "token")

    def __init__(self, handled: BaseException | None) -> None:
        self.token: object | None = None
        """The focus that the item taken last opened."""
        self.count = 0
        """How many items were taken."""
        self.handled = handled
        """The exception that was being handled when the loop began."""


class Frame:
    """One call of an instrumented function."""

    __slots__ = ("left_at", "log", "returned", "running", "site", "worklists")

    def __init__(self, log: DecisionLog, site: int) -> None:
        self.log = log
        """Log that the call is noted in."""
        self.running: list[Frame] = state.frames
        """The running calls of that recording."""
        self.site = site
        """The function's `def`."""
        self.left_at = -1
        """Site of the `return` that was reached, or -1."""
        self.returned: Any = None
        """What it returns."""
        self.worklists: dict[int, Worklist] | None = None
        """Worklist loops that are running in it, by site."""

    def __enter__(self) -> None:
        self.running.append(self)
        self.log.events.append((_ENTER, self.site, None))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        running = self.running
        paused = False
        if running and running[-1] is self:
            running.pop()
        else:
            paused = not _unwind(self)
        if self.worklists is not None:
            for site, worklist in self.worklists.items():
                end_worklist(self, site, worklist, "return" if kind is None else "left")
        if state.log is not self.log or get_ident() != state.owner:
            return
        events = self.log.events
        if paused:
            if kind is GeneratorExit:  # closed where it had paused: it left there
                return
            events.append((_ENTER, self.site, None, "resumed"))
        if kind is not None:
            events.append((_LEAVE, self.site, None, "raise", type_name(kind)))
        elif self.left_at < 0:
            events.append((_LEAVE, self.site, None, "end", None))
        else:
            seen = self.returned if id(type(self.returned)) not in CONTAINERS else snapshot(self.returned)
            events.append((_LEAVE, self.left_at, None, "return", seen))
        self.returned = None


class _Inert:
    """What `frame` gives where nothing is recorded."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        pass


def frame(site: int) -> Frame | _Inert:
    """The context manager around the body of the function defined at `site`."""
    log = state.log
    if log is None or get_ident() != state.owner:
        return _Inert()  # a new one: torch.export follows only context managers that the code itself makes
    return Frame(log, site)


def returning(site: int, function: int, value: Any) -> Any:
    """The value of the `return` at `site` in `function`."""
    if state.log is not None and get_ident() == state.owner:
        frames = state.frames
        current = frames[-1] if frames and frames[-1].site == function else running(function)
        if current is not None:
            current.left_at = site
            current.returned = value
    return value


def here(function: int) -> Frame | None:
    """The running call of the generator `function`, kept by the interpreter across its next `yield`."""
    if state.log is None or get_ident() != state.owner:
        return None
    return running(function)


def pausing(site: int, function: int, value: Any) -> Any:
    """The value that the `yield` at `site` hands out."""
    log = state.log
    if log is not None and get_ident() == state.owner and running(function) is not None:
        state.frames.pop()
        log.events.append((_LEAVE, site, None, "yield", keep(value)))
    return value


def resuming(paused: Frame | None, value: Any) -> Any:
    """The value that a `yield` gives when the generator goes on."""
    if paused is not None and state.log is paused.log and get_ident() == state.owner:
        state.frames.append(paused)
        paused.log.events.append((_ENTER, paused.site, None, "resumed"))
    return value


def lambda_enter(site: int) -> Frame | None:
    """The call of the lambda at `site`."""
    log = state.log
    if log is None or get_ident() != state.owner:
        return None
    entered = Frame(log, site)
    entered.left_at = site
    entered.__enter__()
    return entered


def lambda_leave(entered: Frame | None, value: Any) -> Any:
    """The value of a lambda's body."""
    if entered is not None and state.log is entered.log and get_ident() == state.owner and _unwind(entered):
        entered.log.events.append((_LEAVE, entered.site, None, "return", keep(value)))
    return value


def running(function: int) -> Frame | None:
    """The innermost running call, if it is one of `function`; lambdas above it have ended."""
    frames = state.frames
    if frames and frames[-1].site == function:
        innermost: Frame = frames[-1]
        return innermost
    drop_lambdas()
    return frames[-1] if frames and frames[-1].site == function else None


def drop_lambdas() -> None:
    """End the innermost calls that are lambdas: a statement runs, so exceptions have ended them."""
    frames = state.frames
    while frames and frames[-1].left_at == frames[-1].site:
        _end_by_exception(frames.pop())


def _unwind(ended: Frame) -> bool:
    """Take a call off the running ones, with those above it; False if it was not running."""
    frames = ended.running
    if frames and frames[-1] is ended:
        frames.pop()
        return True
    for index in range(len(frames) - 1, -1, -1):
        if frames[index] is ended:
            while len(frames) > index + 1:
                _end_by_exception(frames.pop())
            frames.pop()
            return True
    return False


def _end_by_exception(ended: Frame) -> None:
    if state.log is ended.log:
        ended.log.events.append((_LEAVE, ended.site, None, "raise", None))


def end_worklist(holder: Frame, site: int, worklist: Worklist, how: str) -> None:
    """Note that a worklist loop is over and close the focus that it had opened."""
    if worklist.token is not None:
        holder.log.close(worklist.token)
        worklist.token = None
    if state.log is holder.log and get_ident() == state.owner:
        holder.log.events.append((_LOOP, site, None, worklist.count, how))
