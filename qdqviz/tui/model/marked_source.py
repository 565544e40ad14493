"""Makes listings: marks in a pass's source what ran, what was seen, and the guard that said no."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qdqviz.explain.answer import Guard, Why
from qdqviz.explain.evidence import Evidence, Look
from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.frames import Frame, parts
from qdqviz.explain.guards.steps import Step
from qdqviz.ir.text import safe_text
from qdqviz.trace.events import Event, Kind, Site
from qdqviz.trace.model import Attempt, PassRun
from qdqviz.tui.model.listing import Called, Listing, SourceLine
from qdqviz.tui.model.seen_notes import note_of

TAB = 4
"""Columns of a tab in source text."""


def listings_of(evidence: Evidence, run: PassRun, attempt: Attempt | None, why: Why) -> tuple[Listing, ...]:
    """The files that ran in an attempt, that of the blocking guard first; at least the pass's own file.

    Args:
        evidence: Reads the trace.
        run: The pass run.
        attempt: The attempt; None where there is none to show.
        why: The answer, whose guards are marked.
    """
    marks: dict[str, _Marks] = {}
    if attempt is not None:
        _mark_attempt(evidence, attempt, marks)
    guards = [] if why.guard is None else [*why.guard.siblings, why.guard]
    for guard in guards:
        marks.setdefault(guard.file, _Marks()).blame(guard, evidence)
    first = why.guard.file if why.guard is not None else next(iter(marks), run.file)
    files = dict.fromkeys([first, *marks, run.file])
    made = (_listing(evidence, file, marks.get(file), run) for file in files if file)
    return tuple(each for each in made if each is not None)


@dataclass
class _Marks:
    """What is known of the lines of one file."""

    ran: set[int] = field(default_factory=set)
    notes: dict[int, dict[int, list[str]]] = field(default_factory=dict)
    calls: dict[int, dict[Called, None]] = field(default_factory=dict)
    guards: dict[int, Guard] = field(default_factory=dict)
    entered: list[int] = field(default_factory=list)

    def note(self, event: Event, site: Site) -> None:
        text = note_of(event, site)
        if text:
            self.notes.setdefault(site.line, {}).setdefault(event.site, []).append(safe_text(text))

    def blame(self, guard: Guard, evidence: Evidence) -> None:
        last = guard.line
        for site in evidence.trace.sites.values():
            if (site.file, site.line, site.column) == (guard.file, guard.line, guard.column):
                last = max(last, site.end_line)
        self.guards |= dict.fromkeys(range(guard.line, last + 1), guard)

    def texts(self, line: int) -> tuple[str, ...]:
        """What was seen at a line: of what ran several times the last, and how often it ran."""
        found = []
        for texts in self.notes.get(line, {}).values():
            found.append(texts[-1] if len(texts) == 1 else f"{texts[-1]}  ({len(texts)} times)")
        return tuple(found)


def _listing(evidence: Evidence, file: str, marks: _Marks | None, run: PassRun) -> Listing | None:
    source = evidence.trace.source(file)
    if source is None:
        return None
    marks = marks or _Marks()
    texts = source.text.split("\n")
    lines = tuple(
        SourceLine(
            number,
            safe_text(text.rstrip("\r").expandtabs(TAB)),
            number in marks.ran or number in marks.guards,
            marks.guards.get(number),
            marks.texts(number),
            tuple(marks.calls.get(number, ())),
        )
        for number, text in enumerate(texts, 1)
    )
    return Listing(file, lines, _start(marks, texts, run))


def _start(marks: _Marks, texts: Sequence[str], run: PassRun) -> int:
    """The blocking guard, else the function entered first, else the pass's class."""
    if marks.guards:
        return max(marks.guards)
    if marks.entered:
        return marks.entered[0]
    if marks.ran:
        return min(marks.ran)
    heads = (f"class {run.name}", f"def {run.name}")
    return next((n for n, text in enumerate(texts, 1) if text.lstrip().startswith(heads)), 1)


def _mark_attempt(evidence: Evidence, attempt: Attempt, marks: dict[str, _Marks]) -> None:
    sites = evidence.trace.sites
    look = evidence.look(attempt)
    for root in parts(attempt.events, sites):
        for frame in root.walk():
            if not frame.file:
                continue
            own = marks.setdefault(frame.file, _Marks())
            events = [*frame.events(), *([frame.leave] if frame.leave is not None else [])]
            for event in events:
                site = sites.get(event.site)
                if site is not None and site.file == frame.file:
                    own.note(event, site)
                    if event.kind is not Kind.LEAVE:
                        own.ran.add(site.line)
            if frame.definition is not None:
                own.ran.add(frame.definition.line)
                own.entered.append(frame.definition.line)
            _mark_steps(look, frame, own)


def _mark_steps(look: Look, frame: Frame, marks: _Marks) -> None:
    call = look.calls.of(frame)
    if call is None:
        return
    inner: set[int] = set()
    for step, _ in reversed(list(call.steps())):
        marks.ran |= set(_own_lines(step))
        indexes = set(range(step.start, step.end)) - inner
        inner |= indexes
        _mark_calls(call, step, sorted(indexes), marks)


def _mark_calls(call: Call, step: Step, indexes: Sequence[int], marks: _Marks) -> None:
    for index in indexes:
        item = call.frame.items[index]
        if isinstance(item, Frame) and item.definition is not None:
            called = Called(safe_text(item.name), item.file, item.definition.line)
            marks.calls.setdefault(step.node.lineno, {})[called] = None


def _own_lines(step: Step) -> Iterator[int]:
    """The lines of a statement, without the blocks inside it; of an if/elif chain the arms asked."""
    heads: list[ast.AST] = [*(arm.node for arm in step.arms)] or [step.node]
    for node in heads:
        if isinstance(node, ast.match_case):
            yield node.pattern.lineno
            continue
        body = getattr(node, "body", None)
        assert isinstance(node, ast.stmt)
        last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
        yield from range(node.lineno, max(last, node.lineno) + 1)
