"""What became of a node that a loop set aside: the round of a later loop over groups with it in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from qdqviz.explain.evidence import Evidence, Look, furthest
from qdqviz.explain.seen_text import seen_nodes
from qdqviz.trace.events import Event, Kind
from qdqviz.trace.model import Attempt, PassRun

LookAt = Callable[[Attempt], Look]
"""Explains an attempt."""

Rounds = Mapping[int, Sequence[Attempt]]
"""The rounds that handed out a group or pair with a node in it, by the node, in order."""


def rounds_of(evidence: Evidence, run: PassRun) -> Rounds:
    """The rounds of a pass run in which a node was handed out with or beside others.

    Those of loops over what is no node are recorded with all else that was asked outside any node.
    """
    found: dict[int, list[Attempt]] = {}
    for attempt in evidence.trace.attempts(run.id):
        for part in [attempt] if attempt.focus is not None else _rounds(attempt):
            for node in _held(part):
                if node != part.focus:
                    found.setdefault(node, []).append(part)
    return found


def decided_later(rounds: Sequence[Attempt], looks: Sequence[Look], look_at: LookAt) -> Look | None:
    """The later round that turned a node down which was set aside; of several the one that got furthest.

    Args:
        rounds: The rounds that handed the node out.
        looks: The attempts on the node itself.
        look_at: Explains an attempt.
    """
    if not any(look.chain.kept for look in looks):
        return None
    later = [look_at(each) for each in rounds if each.outcome == "declined" and _follows(each, looks)]
    found = [look for look in later if look.chain.links and not look.chain.filtered]
    return furthest(found) if found else None


def rewritten_later(rounds: Sequence[Attempt], looks: Sequence[Look]) -> Attempt | None:
    """The later round that rewrote something with a node at hand which was set aside."""
    return next((each for each in rounds if each.step is not None and _follows(each, looks)), None)


def _follows(attempt: Attempt, looks: Sequence[Look]) -> bool:
    return all(attempt.id > look.attempt.id for look in looks)


def _rounds(attempt: Attempt) -> Iterator[Attempt]:
    """The rounds of the loops in what was asked outside any node, each as an attempt of its own."""
    for index, event in enumerate(attempt.events):
        if event.kind is Kind.ITEM and event.values and seen_nodes(event.values[0]):
            yield replace(attempt, events=tuple(_round(attempt.events, index)))


def _round(events: Sequence[Event], start: int) -> Iterator[Event]:
    """The events from an item on, up to the next one of the same loop."""
    site = events[start].site
    yield events[start]
    for event in events[start + 1 :]:
        if event.site == site and event.kind in (Kind.ITEM, Kind.LOOP):
            return
        yield event


def _held(attempt: Attempt) -> set[int]:
    """The nodes in what a loop handed out."""
    first = attempt.events[0] if attempt.events else None
    if first is None or first.kind is not Kind.ITEM or not first.values:
        return set()
    return {seen.node for seen in seen_nodes(first.values[0])}
