"""Hooks for calls: a function is entered, left, paused at a `yield`, gone on with.

The body of a function that holds a loop, a `with`, a `try` or a `yield` is wrapped in `with frame(site):`.
The context manager lives on the interpreter's own stack, so no local variable appears in `locals()`, and its
`__exit__` sees every way out. A generator's call is on the stack of running calls only while it runs.

Most functions that a pass asks are plainer, and so are lambdas: they are noted where they begin and where
they return. That an exception has ended one shows when the function around it goes on, or ends itself. On the
stack of running calls such a plain call is the number of its function's `def`.
"""

from __future__ import annotations

from _thread import get_ident
from types import TracebackType
from typing import Any

from qdqviz.record.instrument import raw, state
from qdqviz.record.instrument.protocol import DecisionLog
from qdqviz.record.instrument.values import CONTAINERS, keep, snapshot, type_name

_SITE = raw.SHAPES_AT_MOST
_ENTERED, _RETURNED_TRUE, _RETURNED_FALSE = raw.ENTERED, raw.RETURNED_TRUE, raw.RETURNED_FALSE
_LOOP_ENDS = {
    "end": raw.LOOP_ENDED,
    "break": raw.LOOP_BROKEN,
    "return": raw.LOOP_RETURNED,
    "left": raw.LOOP_LEFT,
}


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
    """One call of a function whose body is wrapped."""

    __slots__ = ("left_at", "log", "returned", "running", "site", "worklists")

    def __init__(self, log: DecisionLog, site: int) -> None:
        self.log = log
        """Log that the call is noted in."""
        self.running: list[Frame | int] = state.frames
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
        state.note(self.site * _SITE + _ENTERED)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        running = self.running
        paused = False
        if running and running[-1] is self:
            running.pop()
        else:
            paused = not _unwind(self, kind)
        if self.worklists is not None:
            for site, worklist in self.worklists.items():
                end_worklist(self, site, worklist, "return" if kind is None else "left")
        if state.log is not self.log or get_ident() != state.owner:
            return
        if paused:
            if kind is GeneratorExit:  # closed where it had paused: it left there
                return
            state.note(self.site * _SITE + raw.RESUMED)
        if kind is not None:
            state.note(self.site * _SITE + raw.RAISED)
            state.saw(type_name(kind))
        elif self.left_at < 0:
            state.note(self.site * _SITE + raw.ENDED)
        else:
            _note_return(self.left_at, self.returned)
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
    if not state.owner or get_ident() != state.owner:
        return _Inert()  # a new one: torch.export follows only context managers that the code itself makes
    return Frame(state.log, site)


def returning(site: int, function: int, value: Any) -> Any:
    """The value of the `return` at `site` in `function`."""
    if state.owner and get_ident() == state.owner:
        current = running(function)
        if current is not None:
            current.left_at = site
            current.returned = value
    return value


# -- plain calls -----------------------------------------------------------------------------------


def entered(function: int) -> int:
    """A plain `function` begins; gives it back."""
    if state.owner and get_ident() == state.owner:
        state.frames.append(function)
        state.note(function * _SITE + _ENTERED)
    return function


def left(site: int, function: int, value: Any) -> Any:
    """The value that the plain `function` returns at `site`."""
    if state.owner and get_ident() == state.owner:
        frames = state.frames
        if (frames and frames[-1] == function) or _drop_above(function):
            frames.pop()
            _note_return(site, value)
    return value


def _note_return(site: int, value: Any) -> None:
    if value is True:
        state.note(site * _SITE + _RETURNED_TRUE)
    elif value is False:
        state.note(site * _SITE + _RETURNED_FALSE)
    elif value is None:
        state.note(site * _SITE + raw.RETURNED_NONE)
    else:
        state.note(site * _SITE + raw.RETURNED)
        state.saw(value if id(type(value)) not in CONTAINERS else snapshot(value))


def ended(function: int) -> None:
    """The plain `function` has come to its end without a `return`."""
    if state.owner and get_ident() == state.owner and _drop_above(function):
        state.frames.pop()
        state.note(function * _SITE + raw.ENDED)


def settled(function: int) -> None:
    """`function` goes on after something that may have ended an exception."""
    if state.owner and get_ident() == state.owner:
        running(function)


# -- generators ------------------------------------------------------------------------------------


def here(function: int) -> Frame | None:
    """The running call of the generator `function`, kept by the interpreter across its next `yield`."""
    return running(function) if state.owner and get_ident() == state.owner else None


def pausing(site: int, function: int, value: Any) -> Any:
    """The value that the `yield` at `site` hands out."""
    if state.owner and get_ident() == state.owner and running(function) is not None:
        state.frames.pop()
        state.note(site * _SITE + raw.YIELDED)
        state.saw(keep(value))
    return value


def resuming(paused: Frame | None, value: Any) -> Any:
    """The value that a `yield` gives when the generator goes on."""
    if paused is not None and state.log is paused.log and get_ident() == state.owner:
        state.frames.append(paused)
        state.note(paused.site * _SITE + raw.RESUMED)
    return value


# -- the running calls -----------------------------------------------------------------------------


def running(function: int, error: type[BaseException] | None = None) -> Frame | None:
    """The running call of `function`, if that is what runs now.

    A statement of it runs, so the plain calls above it have ended, by an exception (of type `error`).
    """
    place = _innermost_wrapped()
    innermost: Frame | None = state.frames[place] if place >= 0 else None
    if innermost is None or innermost.site != function:
        return None
    end_above(place, error)
    return innermost


def left_by_exception(holder: Frame | int | None) -> None:
    """A loop of `holder` was left, maybe by an exception: plain calls above have ended then."""
    if type(holder) is Frame and state.owner and get_ident() == state.owner:
        place = _innermost_wrapped()
        if place >= 0 and state.frames[place] is holder:
            end_above(place, None)


def end_worklist(holder: Frame, site: int, worklist: Worklist, how: str) -> None:
    """Note that a worklist loop is over and close the focus that it had opened."""
    if worklist.token is not None:
        holder.log.close(worklist.token)
        worklist.token = None
    if state.log is holder.log and get_ident() == state.owner:
        note_loop(site, worklist.count, how)


def note_loop(site: int, count: int, how: str) -> None:
    """Note that a loop is over, after so many items."""
    state.note(site * _SITE + _LOOP_ENDS[how])
    state.saw(count)


def _innermost_wrapped() -> int:
    """Place among the running calls of the innermost one whose body is wrapped; -1 if there is none."""
    frames = state.frames
    place = len(frames) - 1
    while place >= 0 and type(frames[place]) is int:
        place -= 1
    return place


def _drop_above(function: int) -> bool:
    """End the plain calls above that of the plain `function`, which runs; False if it is not known to run."""
    frames = state.frames
    for place in range(len(frames) - 1, -1, -1):
        found = frames[place]
        if type(found) is not int:
            return False
        if found == function:
            end_above(place, None)
            return True
    return False


def _unwind(ended: Frame, error: type[BaseException] | None) -> bool:
    """Take a call off the running ones, with those above it; False if it was not running."""
    frames = ended.running
    for place in range(len(frames) - 1, -1, -1):
        if frames[place] is ended:
            if state.log is ended.log:
                end_above(place, error)
            else:
                del frames[place + 1 :]
            frames.pop()
            return True
    return False


def end_above(place: int, error: type[BaseException] | None) -> None:
    """End the running calls above one, which exceptions have ended."""
    frames = state.frames
    while len(frames) > place + 1:
        above = frames.pop()
        state.note((above if type(above) is int else above.site) * _SITE + raw.RAISED)
        state.saw(None if error is None else type_name(error))
