"""Hooks for loops: which item is being looked at, until when.

`for x in y` becomes `for x in each(site, y)`. What `each` gives is built of C iterators only, so that nothing
of ours stands between the loop and a generator: no frame in tracebacks, none that counts against the
recursion limit. It lives on the interpreter's stack, and dies at once when the loop is over, however it is
left.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Iterable, Iterator
from typing import Any

from qdqviz.record.instrument import raw, state
from qdqviz.record.instrument.frames import (
    Frame,
    Worklist,
    end_worklist,
    left_by_exception,
    note_loop,
    running,
)
from qdqviz.record.instrument.handing import HANDING, MODULES
from qdqviz.record.instrument.protocol import DecisionLog
from qdqviz.record.instrument.values import CONTAINERS, MOST_ITEMS, Snapshot, keep, snapshot

_SITE = raw.SHAPES_AT_MOST
_ITEM, _ITEM_OPENED = raw.ITEM, raw.ITEM_OPENED


class _Loop:
    """One execution of a loop: an endless iterator that runs in step with the loop's own."""

    __slots__ = ("count", "holder", "log", "site", "token", "waiting")

    def __init__(self, log: DecisionLog, site: int) -> None:
        self.log = log
        """Log that the loop is noted in."""
        self.site = site
        """The loop."""
        self.count = 0
        """Items so far."""
        self.holder: Frame | int | None = state.frames[-1] if state.frames else None
        """The call that began the loop, see `frames`."""
        self.token: object | None = None
        """The focus that the current item opened."""
        self.waiting = False
        """Whether the next item has been asked for and has not come."""

    def __iter__(self) -> _Loop:
        return self

    def __next__(self) -> None:
        # Before the loop's own iterator moves: what that decides on the way is not about the last item.
        self.waiting = True
        if self.token is not None:
            token, self.token = self.token, None
            self.log.close(token)

    def take(self, _: None, item: Any) -> Any:
        """Pass on the next item."""
        self.waiting = False
        self.count += 1
        log = self.log
        if state.log is log and get_ident() == state.owner:
            self.token = log.open(self.site, item)
            state.note(self.site * _SITE + (_ITEM if self.token is None else _ITEM_OPENED))
            state.saw(item if id(type(item)) not in CONTAINERS else _seen(item))
        return item

    def keeps(self, _: Any) -> bool:
        """Whether the item that was just taken is handed on to the loop."""
        return self.token is None or not self.log.skipped(self.token)

    def __del__(self) -> None:
        how = self._how()  # before the item is closed: the log may drop its events then
        if how == "left":
            left_by_exception(self.holder)
        if self.token is not None:
            self.log.close(self.token)
        if state.log is self.log and get_ident() == state.owner:
            note_loop(self.site, self.count, how)

    def _how(self) -> str:
        if self.waiting:
            return "end"
        if at_break(self.log):
            return "break"
        holder = self.holder
        if type(holder) is Frame and holder.left_at >= 0 and state.frames and state.frames[-1] is holder:
            return "return"
        return "left"


def _seen(item: Any) -> Any:
    """A container that was handed out, with what a list beside a key holds: `for key, nodes in groups`."""
    seen = snapshot(item)
    if type(item) is tuple and seen is not item:
        return Snapshot("tuple", len(item), tuple(map(keep, item[:MOST_ITEMS])))
    return seen


def at_break(log: DecisionLog) -> bool:
    """Whether the last thing that happened is a `break`."""
    codes = log.raw.codes
    return bool(codes) and codes[-1] % _SITE == raw.BREAK


def each(site: int, iterable: Iterable[Any]) -> Iterable[Any]:
    """What the loop at `site` iterates over."""
    if not state.owner or get_ident() != state.owner:
        return iterable
    log = state.log
    loop = _Loop(log, site)
    items = map(loop.take, loop, iterable)
    return filter(loop.keeps, items) if log.vetoes else items


class _Handed:
    """The items of an iterable for a built-in function that asks for them once, when it comes to that."""

    __slots__ = ("items", "site")

    def __init__(self, site: int, items: Iterable[Any]) -> None:
        self.site = site
        """Where they are handed out."""
        self.items = items
        """The iterable."""

    def __iter__(self) -> Iterator[Any]:
        return iter(each(self.site, self.items))


def handed(site: int, name: str, called: object, items: Iterable[Any]) -> Iterable[Any]:
    """The items that a call hands to a function, one after the other, if it calls what its source says.

    Args:
        site: Where they are handed out.
        name: What the source calls: `filter`, or the module that holds it.
        called: What goes by that name, which may be anything.
        items: The items.
    """
    if not state.owner or get_ident() != state.owner:
        return items
    return _Handed(site, items) if called is (HANDING.get(name) or MODULES.get(name)) else items


def popped(site: int, loop: int, function: int, item: Any) -> Any:
    """An item taken at `site` from the worklist of the `while` at `loop`."""
    if not state.owner or get_ident() != state.owner:
        return item
    log = state.log
    holder = running(function)
    if holder is None or holder.log is not log:
        return item
    worklist = _worklist(holder, loop)
    if worklist.token is not None:
        token, worklist.token = worklist.token, None
        log.close(token)
    worklist.count += 1
    worklist.token = log.open(site, item, False)
    state.note(site * _SITE + (_ITEM if worklist.token is None else _ITEM_OPENED))
    state.saw(keep(item))
    return item


def _worklist(holder: Frame, loop: int) -> Worklist:
    if holder.worklists is None:
        holder.worklists = {}
    found = holder.worklists.get(loop)
    if found is None:
        found = holder.worklists[loop] = Worklist(sys.exc_info()[1])
    return found


def popped_all(loop: int, function: int) -> None:
    """The `while` at `loop` is over."""
    if not state.owner or get_ident() != state.owner:
        return
    holder = running(function)
    if holder is None or holder.worklists is None:
        return
    worklist = holder.worklists.pop(loop, None)
    if worklist is None:
        return
    how = "end" if sys.exc_info()[1] is worklist.handled else "left"
    if how == "end" and at_break(holder.log):
        how = "break"
    elif how == "end" and holder.left_at >= 0:
        how = "return"
    end_worklist(holder, loop, worklist, how)
