"""Let the passes that run report their decisions, for as long as a recording lasts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from types import FunctionType, MethodType, TracebackType
from typing import Any

from qdqviz.record.instrument import runtime
from qdqviz.record.instrument.compiled import IMPLEMENTS_OP, CompiledFiles
from qdqviz.record.instrument.live_code import LiveCode
from qdqviz.record.instrument.protocol import Missing
from qdqviz.record.instrument.reach import nested_codes, reach
from qdqviz.record.instrument.reasons import Reasons
from qdqviz.record.instrument.scope import Scope
from qdqviz.record.instrument.sites import SiteTable
from qdqviz.trace.events import Site

_MOST_ATTRIBUTES = 64
"""How many attributes of a pass, and items in them, are looked at to tell two passes apart."""

_LIVE = LiveCode(CompiledFiles())
"""One for the process: recordings share the functions, and a file is compiled and its sites numbered once.

It holds no function beyond the recordings that asked for it.
"""


class Instrumenter:
    """Swaps in, pass by pass, code that reports decisions; swaps it back at the end."""

    def __init__(self) -> None:
        runtime.install()
        self._held: dict[FunctionType, None] = {}
        self._missing: dict[FunctionType, Missing] = {}
        self._reached: dict[object, list[FunctionType]] = {}
        self._reasons = Reasons()

    @property
    def sites(self) -> SiteTable:
        """All sites by id, those of other recordings in this process included."""
        return _LIVE.compiled.sites

    def describe(self, site: int) -> Site:
        """The site with its reason: the docstring's first line of the predicate that it calls."""
        return self._reasons.describe(self.sites[site])

    def ensure(self, subject: object) -> list[Missing]:
        """Let all functions that a pass reaches report their decisions.

        Args:
            subject: A pass: an object, its class, or any callable.

        Returns:
            The functions that cannot, each with the reason.
        """
        key = _key(subject)
        reached = self._reached.get(key)
        if reached is None:
            reached = reach(subject)
            self._hold(function for function in reached if function not in self._held)
            self._reached[key] = reached
        return [self._missing[function] for function in reached if function in self._missing]

    def restore(self) -> None:
        """Give every function its plain code back; functions made meanwhile stay, and report nothing."""
        for function in self._held:
            _LIVE.release(function)
        self._held.clear()
        self._reached.clear()
        self._missing.clear()

    def __enter__(self) -> Instrumenter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.restore()

    def _hold(self, functions: Iterable[FunctionType]) -> None:
        found = dict.fromkeys(functions)
        files = {function.__code__.co_filename for function in found}
        _LIVE.look_for(files, Scope())
        codes = {code for function in found for code in nested_codes(function.__code__)}
        for file in files:
            found.update((other, None) for other in _LIVE.functions(file) if other.__code__ in codes)
        for function in found:
            if function in self._held:
                continue
            problem = _LIVE.hold(function)
            if not problem:
                self._held[function] = None
                self._reasons.learn(function)
            elif problem != IMPLEMENTS_OP:
                code = function.__code__
                self._missing[function] = Missing(
                    function.__qualname__, code.co_filename, code.co_firstlineno, problem
                )


def _key(subject: object) -> object:
    """What makes two passes reach the same functions: their class, and what their attributes can call."""
    if isinstance(subject, type) or type(subject) is FunctionType:
        return subject
    try:
        attributes = object.__getattribute__(subject, "__dict__")
    except AttributeError:
        attributes = {}
    return (id(type(subject)), tuple(_identities(attributes.values(), 0)))


def _items(container: Any) -> Iterable[object]:
    return container.values() if type(container) is dict else container


def _identities(values: Iterable[object], depth: int) -> Iterator[int]:
    for value in islice(values, _MOST_ATTRIBUTES):
        if type(value) is FunctionType:
            yield id(value)
        elif type(value) is MethodType:
            yield id(value.__func__)
        elif type(value) is partial:
            yield from _identities((value.func, *value.args), depth + 1)
        elif type(value) in (list, tuple, dict) and depth < 2:
            yield from _identities(_items(value), depth + 1)
        else:
            yield id(type(value))
