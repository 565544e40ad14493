"""Statements of a call that ran: how each came out, what ran inside of it, how it was left."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from qdqviz.explain.guards.conditions import Verdict
from qdqviz.trace.events import Event


@dataclass(frozen=True, slots=True, eq=False)
class Exit:
    """How a block was left before its end."""

    kind: str
    """return, continue, break or raise."""
    statement: ast.stmt
    """The statement that left it; for an exception from inside the one that it came through."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """One arm of an if/elif chain whose test was asked, or of a match."""

    node: ast.If | ast.match_case
    """Its `if`; its `case`, of a match whose guard was asked."""
    verdict: Verdict
    """How its test came out."""


@dataclass(slots=True, eq=False)
class Step:
    """One statement that ran."""

    node: ast.stmt
    """The statement."""
    start: int
    """Index of the frame's first item that belongs to it."""
    end: int = 0
    """Index after the last."""
    arms: list[Arm] = field(default_factory=list)
    """For if and match: the arms asked, in order."""
    taken: list[ast.stmt] | None = None
    """For if and match: the body that ran; None where none did."""
    verdict: Verdict | None = None
    """For assert: how its test came out; for while: how it did the last time."""
    blocks: list[list[Step]] = field(default_factory=list)
    """What ran inside, block by block; for a loop one for each item."""
    items: list[Event] = field(default_factory=list)
    """For a loop: the events that handed out its items."""
    over: Event | None = None
    """For a loop: the event at its end."""
    caught: Event | None = None
    """For try: the event of the handler that ran."""
    exit: Exit | None = None
    """How the block around was left from in here; None where it went on."""
    ends: list[Exit | None] = field(default_factory=list)
    """For a loop: how the body was left for each item."""


@dataclass(slots=True, eq=False)
class Path:
    """The statements of a block that ran."""

    steps: list[Step]
    """In order."""
    exit: Exit | None
    """How it was left; None where its end was reached."""


NO_PATH = Path([], None)
"""What is known of a call whose source is missing."""


def verdicts(step: Step) -> list[Verdict]:
    """The verdicts of a statement's own tests."""
    found = [arm.verdict for arm in step.arms]
    return [*found, step.verdict] if step.verdict is not None else found
