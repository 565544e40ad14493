"""Swap the code of live functions for code that reports its decisions, and back."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType

from qdqviz.record.instrument.compiled import CompiledFiles
from qdqviz.record.instrument.protocol import HOOKS
from qdqviz.record.instrument.scope import Scope

FOREIGN_BUILTINS = "its builtins were replaced"

_builtins_of = FunctionType.__dict__["__builtins__"].__get__


@dataclass(slots=True)
class _Held:
    """A function that reports its decisions."""

    plain: CodeType
    """The very code that it had: others may know it by identity."""
    holders: int = 1
    """How many recordings want it so."""


class LiveCode:
    """The functions of this process whose code is swapped, for all recordings together."""

    def __init__(self, compiled: CompiledFiles) -> None:
        self.compiled = compiled
        """Files, compiled both ways."""
        self._held: dict[FunctionType, _Held] = {}
        self._seen: dict[str, list[weakref.ref[FunctionType]]] = {}

    def look_for(self, files: Iterable[str], scope: Scope) -> None:
        """Find all live functions of these files.

        The heap is scanned once for all files of pass code, and again only if a file turns up that was
        imported since.
        """
        if all(file in self._seen for file in files):
            return
        wanted = dict.fromkeys(files, True)
        found: dict[str, list[weakref.ref[FunctionType]]] = {file: [] for file in wanted}
        for function in [one for one in gc.get_objects() if type(one) is FunctionType]:
            file = function.__code__.co_filename
            if file not in wanted:
                wanted[file] = scope.admits_function(function)
            if wanted[file]:
                found.setdefault(file, []).append(weakref.ref(function))
        self._seen = found

    def functions(self, file: str) -> Iterator[FunctionType]:
        """The functions of a file that were alive when it was looked for, and still are."""
        for reference in self._seen.get(file, ()):
            function = reference()
            if function is not None:
                yield function

    def hold(self, function: FunctionType) -> str:
        """Let a function report its decisions until it is released as often as it was held.

        Returns:
            Why it cannot, or empty.
        """
        held = self._held.get(function)
        if held is not None:
            held.holders += 1
            return ""
        code = function.__code__
        plain = self.compiled.plain_of.get(code, code)
        problem = "" if plain is not code else self._swap(function)
        if not problem:
            self._held[function] = _Held(plain)
        return problem

    def release(self, function: FunctionType) -> None:
        """Give a function its plain code back once nobody holds it."""
        held = self._held[function]
        held.holders -= 1
        if held.holders == 0:
            del self._held[function]
            if function.__code__ in self.compiled.plain_of:  # else somebody has given it other code meanwhile
                function.__code__ = held.plain

    def _swap(self, function: FunctionType) -> str:
        code = function.__code__
        compiled = self.compiled.get(code.co_filename, function.__globals__)
        reporting = compiled.reporting.get(code)
        if reporting is None:
            return compiled.why_not(code)
        if HOOKS not in _builtins_of(function):
            return FOREIGN_BUILTINS
        function.__code__ = reporting
        return ""
