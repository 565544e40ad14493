"""Swap the code of live functions for code that reports its decisions, and back."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from types import FunctionType

from qdqviz.record.instrument.compiled import CHANGED, LEFT_ALONE, CompiledFiles
from qdqviz.record.instrument.protocol import HOOKS, Missing

FOREIGN_BUILTINS = "its builtins were replaced"

_builtins_of = FunctionType.__dict__["__builtins__"].__get__


class LiveCode:
    """The functions of this process whose code is swapped, for all recordings together."""

    def __init__(self, compiled: CompiledFiles) -> None:
        self.compiled = compiled
        """Files, compiled both ways."""
        self._holders: Counter[FunctionType] = Counter()
        self._seen: dict[str, list[weakref.ref[FunctionType]]] = {}

    def look_for(self, files: Iterable[str]) -> None:
        """Find all live functions of files that were not looked for before, in one scan of the heap."""
        new = {file: list[weakref.ref[FunctionType]]() for file in files if file not in self._seen}
        if not new:
            return
        for found in gc.get_objects():
            if type(found) is FunctionType and found.__code__.co_filename in new:
                new[found.__code__.co_filename].append(weakref.ref(found))
        self._seen.update(new)

    def functions(self, file: str) -> Iterator[FunctionType]:
        """The functions of a file that were alive when it was looked for, and still are."""
        for reference in self._seen.get(file, ()):
            function = reference()
            if function is not None:
                yield function

    def hold(self, function: FunctionType) -> Missing | None:
        """Let a function report its decisions until it is released as often as it was held.

        Returns:
            Why it cannot, or None.
        """
        if function.__code__ not in self.compiled.plain_of:
            problem = self._swap(function)
            if problem:
                code = function.__code__
                return Missing(function.__qualname__, code.co_filename, code.co_firstlineno, problem)
        self._holders[function] += 1
        return None

    def release(self, function: FunctionType) -> None:
        """Give a function its plain code back once nobody holds it."""
        self._holders[function] -= 1
        if self._holders[function] <= 0:
            del self._holders[function]
            plain = self.compiled.plain_of.get(function.__code__)
            if plain is not None:  # else somebody else has given it other code meanwhile
                function.__code__ = plain

    def _swap(self, function: FunctionType) -> str:
        code = function.__code__
        compiled = self.compiled.get(code.co_filename, function.__globals__)
        if compiled.problem:
            return compiled.problem
        reporting = compiled.reporting.get(code)
        if reporting is None:
            return LEFT_ALONE if code in compiled.left_alone else CHANGED
        if HOOKS not in _builtins_of(function):
            return FOREIGN_BUILTINS
        function.__code__ = reporting
        return ""
