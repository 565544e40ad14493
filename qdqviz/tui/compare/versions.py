"""The Source tab of a comparison: both versions of the pass, as a difference where they are alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from qdqviz.ir.text import safe_text
from qdqviz.trace.model import PassRun
from qdqviz.trace.reader import Trace
from qdqviz.tui.compare.archive import PairArchive
from qdqviz.tui.model.details.fact import Fact, Part, heading
from qdqviz.tui.model.place import Place

CONTEXT = 3
"""Equal lines that are shown around lines that differ."""

ALIKE = 0.5
"""From which share of equal lines two versions are shown as a difference."""

_STYLES = {"-": "mark.removed", "+": "mark.added", " ": ""}


@dataclass(frozen=True)
class Version:
    """The source of a pass on one side."""

    side: str
    """What the side is called."""
    file: str
    """Its file; empty where it was not kept."""
    first: int
    """Number of the first line, from 1."""
    lines: tuple[str, ...]
    """The class or function of the pass; where it cannot be told, the whole file."""


def source_facts(archive: PairArchive, place: Place) -> list[Fact]:
    """The source of both versions of the pass that a place is about."""
    pair = None
    if place.step is not None:
        pair = archive.item(place.step).run
    elif place.run is not None:
        pair = archive.pairs.runs[place.run]
    if pair is None:
        return [heading("go to a pass or to one of its rewrites", "muted")]
    comparison, sides = archive.compared.comparison, archive.compared.sides
    versions = [
        _version(side, trace, trace.runs[number])
        for side, trace, number in zip(
            sides, (comparison.left, comparison.right), (pair.left, pair.right), strict=True
        )
        if number is not None
    ]
    return list(_told(versions))


def _version(side: str, trace: Trace, run: PassRun) -> Version:
    source = trace.source(run.file)
    if source is None:
        return Version(side, run.file, 1, ())
    first, last = _extent(source.text, run.source.rpartition(":")[2] or run.name)
    return Version(side, run.file, first, tuple(source.text.splitlines()[first - 1 : last]))


def _extent(text: str, name: str) -> tuple[int, int | None]:
    """First and last line of a class or function; of the whole file where it is not there."""
    wanted = name.rpartition(".")[2]
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return 1, None
    for node in nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == wanted:
            return min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno
    return 1, None


def _told(versions: Sequence[Version]) -> Iterator[Fact]:
    for each in versions:
        if not each.lines:
            yield heading(f"{each.side}: no source was kept", "muted")
    found = [each for each in versions if each.lines]
    if len(found) == 2:
        left, right = found
        matcher = SequenceMatcher(None, left.lines, right.lines, autojunk=False)
        if left.lines == right.lines:
            names = " and ".join(each.side for each in found)
            yield heading(
                f"{names}: the same source", "ui.title_focus", Part(f"  {safe_text(left.file)}", "muted")
            )
            yield from _whole(left)
            return
        if matcher.ratio() >= ALIKE:
            yield from _difference(left, right, matcher)
            return
    for each in found:
        yield heading(f"{each.side} ", "ui.title_focus", Part(safe_text(each.file), "muted"))
        yield from _whole(each)


def _whole(version: Version) -> Iterator[Fact]:
    for number, line in enumerate(version.lines, version.first):
        yield _line(str(number), "", " ", line)


def _difference(left: Version, right: Version, matcher: SequenceMatcher[str]) -> Iterator[Fact]:
    yield heading(f"- {left.side} ", "mark.removed", Part(safe_text(left.file), "muted"))
    yield heading(f"+ {right.side} ", "mark.added", Part(safe_text(right.file), "muted"))
    for index, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if index:
            yield heading("…", "muted")
        for tag, i, j, k, m in group:
            if tag == "equal":
                for offset in range(j - i):
                    numbers = str(left.first + i + offset), str(right.first + k + offset)
                    yield _line(*numbers, " ", left.lines[i + offset])
                continue
            for number in range(i, j):
                yield _line(str(left.first + number), "", "-", left.lines[number])
            for number in range(k, m):
                yield _line("", str(right.first + number), "+", right.lines[number])


def _line(left: str, right: str, sign: str, text: str) -> Fact:
    number = f"{left:>5}{right:>5}" if right or sign != " " else f"{left:>5}"
    return heading(f"{number} ", "muted", Part(f"{sign} {safe_text(text)}", _STYLES[sign]))
