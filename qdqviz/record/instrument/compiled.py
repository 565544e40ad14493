"""Compile a source file twice: as it is, and with its decisions reported."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from qdqviz.record.instrument.pairs import pair
from qdqviz.record.instrument.rewrite.module import rewrite
from qdqviz.record.instrument.sites import SiteTable
from qdqviz.record.instrument.source import NoSourceError, read_source
from qdqviz.trace.garbage import no_collections

NO_SOURCE = "no source"
CHANGED = "its source has changed since it was imported, or another tool recompiled it"
NOT_COMPILED = "its file cannot be rewritten"
TOO_DEEP = "its blocks are nested too deeply"
IMPLEMENTS_OP = "it implements an op"


@dataclass(frozen=True, slots=True)
class CompiledFile:
    """One source file, compiled both ways."""

    file: str
    """Its path, as the interpreter names it."""
    source: str
    """Text that it was compiled from."""
    reporting: dict[CodeType, CodeType] = field(default_factory=dict)
    """For the code of each function, the code that reports its decisions."""
    left_alone: dict[CodeType, str] = field(default_factory=dict)
    """Code of functions that are not rewritten, with the reason."""
    problem: str = ""
    """Why no function is rewritten, or empty."""

    def why_not(self, code: CodeType) -> str:
        """Why a function of this file has no code that reports its decisions."""
        return self.problem or self.left_alone.get(code, CHANGED)


class CompiledFiles:
    """The files compiled so far in this process; their sites keep their ids."""

    def __init__(self) -> None:
        self.sites = SiteTable()
        """The sites of all of them."""
        self.plain_of: dict[CodeType, CodeType] = {}
        """For each code that reports, the plain one."""
        self._files: dict[str, CompiledFile] = {}

    def get(self, file: str, module_globals: dict[str, Any] | None = None) -> CompiledFile:
        """The compiled file; compiled again if its source is another than last time."""
        try:
            source = read_source(file, module_globals)
        except NoSourceError:
            return CompiledFile(file, "", problem=NO_SOURCE)
        known = self._files.get(file)
        if known is None or known.source != source:
            known = self._files[file] = self._compile(file, source)
        return known

    def _compile(self, file: str, source: str) -> CompiledFile:
        try:
            with _undisturbed():
                plain = compile(source, file, "exec", dont_inherit=True)
                rewritten = rewrite(source, ast.parse(source, file), file, len(self.sites))
                reporting = compile(rewritten.tree, file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return CompiledFile(file, source, problem=NOT_COMPILED)
        self.sites.extend(rewritten.sites)
        couples = dict(pair(plain, reporting))
        left_alone = {
            ours: TOO_DEEP if ours.co_qualname in rewritten.too_deep else IMPLEMENTS_OP
            for ours, theirs in couples.items()
            if ours == theirs
        }
        for code in left_alone:
            del couples[code]
        self.plain_of.update((theirs, ours) for ours, theirs in couples.items())
        return CompiledFile(file, source, couples, left_alone)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Compile without warnings, which the import has shown, and without garbage collections.

    A syntax tree is many objects: with a heap like torch's the collections that they set off take longer
    than the compilation.
    """
    with no_collections(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
