"""Golden files: what passes did to a target, as text with a head that says how to record it again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.load.loaded import Loaded
    from qdqviz.passes.entry import ResolvedPass

SUFFIX = ".golden"
"""Ending of a golden file's name."""

FIRST = "# what passes do to a model; written by `qdqviz golden save`, compared by `qdqviz golden check`"
"""First line of every golden file."""

_LONGEST = 100
"""Characters of a file's name, its ending left out."""


@dataclass(frozen=True)
class Subject:
    """What a golden is about."""

    target: str
    """What to load."""
    passes: tuple[str, ...]
    """What to run on it, as after `-p`."""
    method: str | None = None
    """The method, where the program has several."""
    imports: tuple[str, ...] = ()
    """Modules to import first."""

    @property
    def file(self) -> str:
        """Name of its file."""
        words = [self.target, *([self.method] if self.method else []), *self.passes]
        name = "--".join(re.sub(r"[^A-Za-z0-9._-]+", "_", word).strip("_") for word in words)
        if len(name) > _LONGEST:
            digest = hashlib.sha256(repr(words).encode()).hexdigest()[:8]
            name = f"{name[: _LONGEST - 9]}-{digest}"
        return f"{name}{SUFFIX}"

    def head(self) -> list[str]:
        """The lines above the first empty one."""
        lines = [FIRST, f"target: {self.target}"]
        lines += [f"passes: {each}" for each in self.passes]
        lines += [f"method: {self.method}"] if self.method else []
        return lines + [f"import: {each}" for each in self.imports]


def read_golden(path: Path) -> tuple[Subject, list[str]]:
    """What a golden file is about, and all its lines.

    Raises:
        UsageError: It is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as a golden file: {error}") from error
    head: dict[str, list[str]] = {}
    for line in lines[1 : lines.index("") if "" in lines else len(lines)]:
        key, _, value = line.partition(": ")
        head.setdefault(key, []).append(value)
    if lines[:1] != [FIRST] or len(head.get("target", ())) != 1 or not head.get("passes"):
        raise UsageError(f"{path} is no golden file: `qdqviz golden save` writes them")
    methods = head.get("method", [])
    subject = Subject(
        head["target"][0],
        tuple(head["passes"]),
        methods[0] if methods else None,
        tuple(head.get("import", ())),
    )
    return subject, lines


def golden_files(folder: Path) -> list[Path]:
    """All golden files of a folder, by name.

    Raises:
        UsageError: There is no such folder, or none in it.
    """
    found = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    if not found:
        raise UsageError(
            f"no golden file in {folder}: save some with `qdqviz golden save {folder} TARGET -p PASSES`"
        )
    return found


def record_lines(subject: Subject) -> list[str]:
    """Load, run and record what a golden is about, as the lines of its file.

    Raises:
        QdqvizError: The target or a pass cannot be loaded.
    """
    from qdqviz.live.session import Plan

    plan = Plan(subject.target, subject.passes, subject.imports, subject.method)
    return lines_of(subject, *plan.prepare())


def lines_of(subject: Subject, loaded: Loaded, passes: Sequence[ResolvedPass]) -> list[str]:
    """Run and record passes on a loaded target, as the lines of a golden file."""
    import tempfile

    from qdqviz.explain.golden_text import golden_lines
    from qdqviz.live.session import run

    with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
        session = run(loaded, passes, Path(folder) / "golden.qdqtrace")
        try:
            if isinstance(session.error, KeyboardInterrupt):
                raise session.error
            return [*subject.head(), "", *golden_lines(session.trace)]
        finally:
            session.trace.close()


def text_of(lines: Iterable[str]) -> str:
    """The content of a file of these lines."""
    return "".join(f"{line}\n" for line in lines)
