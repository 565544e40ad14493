"""A node that a pass saw only while it looked at another one."""

from __future__ import annotations

from dataclasses import replace

from qdqviz.explain.answer import Guard, NodeLink, Why
from qdqviz.explain.evidence import Evidence, Look, asked_of
from qdqviz.explain.seen_text import seen_nodes
from qdqviz.trace.events import Kind
from qdqviz.trace.model import Attempt, PassRun


def considered(
    evidence: Evidence, run: PassRun, link: NodeLink, blank: Why, further_than: int = -1
) -> Why | None:
    """The attempt of another node among whose operands a node was, if there is one.

    Of several, one whose blocking guard names the node, else the one that got furthest; where it must have
    got further than some other attempt, the furthest of those whose chain names the node.

    Args:
        evidence: The trace.
        run: The pass run.
        link: The node.
        blank: The answer to fill in.
        further_than: How many different things the attempt must have asked, and more.
    """
    looks = [
        evidence.look(attempt)
        for attempt in evidence.trace.attempts(run.id)
        if attempt.focus not in (None, link.id)
        and asked_of(attempt) > further_than
        and _saw(attempt, link.id)
    ]
    looks = [
        look
        for look in looks
        # A node that the attempt itself made was no operand of it.
        if not look.chain.filtered and link.id in evidence.body(run, look.attempt)
    ]
    if not looks:
        return None
    answers = [(look, _answer(evidence, look, blank)) for look in looks]
    if further_than >= 0:
        return max(answers, key=lambda pair: (_naming(pair[1], link)[1], pair[0].progress))[1]
    return max(answers, key=lambda pair: (*_naming(pair[1], link), pair[0].progress))[1]


def _answer(evidence: Evidence, look: Look, blank: Why) -> Why:
    attempt = look.attempt
    assert attempt.focus is not None
    answer = replace(
        evidence.told(look, blank),
        verdict="considered",
        through=NodeLink(attempt.focus, attempt.name, attempt.path),
    )
    return answer if attempt.step is None else replace(answer, rewrites=(attempt.step,))


def _naming(answer: Why, link: NodeLink) -> tuple[bool, bool]:
    """Whether the blocking guard names the node, and whether any guard of the chain does."""

    def names(guard: Guard) -> bool:
        tests = (guard, *guard.siblings)
        return any(node.id == link.id for each in tests for node in (*each.nodes, *each.about))

    last = answer.guard
    return last is not None and names(last), any(map(names, answer.chain))


def _saw(attempt: Attempt, node: int) -> bool:
    """Whether an attempt saw a node: among the operands of a test, as a loop's item, as a helper's answer."""
    for event in attempt.events:
        if event.kind is Kind.LOOP or not event.values:
            continue
        if any(seen.node == node for value in event.values for seen in seen_nodes(value)):
            return True
    return False
