"""The Why tab for a node: what the pass did with it and the guards that say why, then the other passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from qdqviz.ir.text import safe_text
from qdqviz.tui.model.asking import Answer, OtherPass
from qdqviz.tui.model.details.fact import Fact, Part, heading
from qdqviz.tui.model.details.guard_facts import guard_facts, passed_facts
from qdqviz.tui.model.details.leads import ToNode, ToPlace, ToStep
from qdqviz.tui.model.place import Place

if TYPE_CHECKING:
    from qdqviz.explain.answer import NodeLink, Why

VERDICT_STYLES = {
    "fired": "ui.ok",
    "raised": "ui.error",
    "declined": "mark.removed",
    "considered": "mark.rewired",
    "never": "muted",
}
"""Styles of verdicts."""

VERDICT_SIGNS = {"fired": "✓", "raised": "!", "declined": "✗", "considered": "~", "never": "·"}
"""Signs of verdicts: they tell them apart without colour."""

_OTHERS_INDENT = 2


def why_facts(answer: Answer) -> list[Fact]:
    """What the Why tab says of a node."""
    facts: list[Fact] = []
    if answer.why is not None:
        facts += _of_pass(answer.why)
        if answer.here:
            facts.insert(1, heading(f"at this step {answer.name} is called {answer.here}", "muted"))
        if answer.why.verdict == "fired" and answer.listings:
            facts.append(heading("the Source tab shows the way that it took, test by test", "muted"))
    elif answer.name:
        facts.append(heading(f"what the passes did with {answer.name}"))
    return [*facts, *_others(answer)]


def _of_pass(why: Why) -> Iterator[Fact]:
    from qdqviz.explain.why_text import headline

    sign, style = VERDICT_SIGNS[why.verdict], VERDICT_STYLES[why.verdict]
    said = headline(replace(why, chain=()))  # the guards follow, one by one
    yield heading(f"{sign} ", style, Part(safe_text(said), "bold"))
    if why.error is not None and why.verdict == "raised":
        error = why.error
        yield heading(f"{error.type}: {error.message}", "ui.error")
    if why.wanted and not any(each.found for each in why.looked_for) and why.looked_for:
        yield heading("this graph has none of these", "muted")
    yield from nearest_facts(why)
    for depth, guard in enumerate(why.chain):
        yield from guard_facts(guard, depth, is_last=depth == len(why.chain) - 1)
    yield from further_facts(why)
    yield from remark_facts(why)
    if len(why.attempts) > 1:
        yield heading(f"looked at {len(why.attempts)} times; this is when it got furthest", "muted")
    yield from passed_facts(why.passed)
    if why.rewrites:
        yield Fact("rewrites", _steps(why))


def further_facts(why: Why) -> Iterator[Fact]:
    """The node whose attempt got further, and why that one was left alone; the node can be gone to."""
    from qdqviz.explain.why_text import further_text

    further = why.further
    if further is None or further.through is None:
        return
    before, after = further_text(further)
    yield heading(before, "", *node_parts((further.through,)), Part(safe_text(after)))


def remark_facts(why: Why) -> Iterator[Fact]:
    """What a person who knows the graph would add."""
    for remark in why.remarks:
        yield heading(f"· {remark}", "")


def nearest_facts(why: Why) -> Iterator[Fact]:
    """The nodes most like what a pass looks for."""
    if why.nearest:
        yield Fact("nearest", node_parts(why.nearest))
    if why.kinship:
        yield heading(f"· {why.kinship}", "")


def node_parts(links: Sequence[NodeLink]) -> tuple[Part, ...]:
    """Nodes that can be gone to."""
    parts: list[Part] = []
    for link in links:
        parts += [Part(", ")] if parts else []
        parts.append(Part(safe_text(link.name), "link", None, ToNode(link.id, link.path)))
    return tuple(parts)


def _steps(why: Why) -> tuple[Part, ...]:
    parts: list[Part] = []
    for step in why.rewrites[:12]:
        parts += [Part(", ")] if parts else []
        parts.append(Part(f"step {step}", "link", None, ToStep(step)))
    if len(why.rewrites) > 12:
        parts.append(Part(f", … ({len(why.rewrites)} in all)", "muted"))
    return tuple(parts)


def _others(answer: Answer) -> Iterator[Fact]:
    if not answer.is_whole:
        yield heading("asking the other passes …", "muted")
        return
    if answer.question.node is None:
        return
    if answer.others:
        title = "other passes on this node" if answer.why is not None else "passes"
        yield heading(title, "ui.title_focus")
        yield from (_other(each, answer.question.subject) for each in answer.others)
    if answer.absent:
        many = "pass" if answer.absent == 1 else "passes"
        yield heading(f"· {answer.absent} {many} ran when this node was not in the graph", "muted")


def _other(other: OtherPass, subject: int) -> Fact:
    why = other.why
    sign, style = VERDICT_SIGNS[why.verdict], VERDICT_STYLES[why.verdict]
    name = Part(safe_text(why.pass_), "link", None, ToPlace(Place("run", subject, other.run)))
    said = Part(f"  {safe_text(verdict_text(why))}", "muted")
    return heading(f"{sign} ", style, name, said)


def verdict_text(why: Why) -> str:
    """A verdict in a few words; not safe to show."""
    from qdqviz.explain.seen_text import op_text
    from qdqviz.explain.why_text import test_text

    match why.verdict:
        case "fired":
            steps = ", ".join(str(step) for step in why.rewrites[:3])
            return f"fired, step {steps}" if steps else "fired, and changed nothing"
        case "raised":
            return f"raised {why.error.type if why.error else ''}".rstrip()
        case "never" if why.reason == "looked_for_other" and why.wanted:
            more = f" and {len(why.wanted) - 1} more" if len(why.wanted) > 1 else ""
            return f"looks for {op_text(why.wanted[0])}{more}"
        case "never":
            return f"never looked at it: {(why.reason or 'unknown').replace('_', ' ')}"
        case "considered" if why.through is not None:
            return f"seen while it looked at {why.through.name}"
    guard = why.guard
    return why.verdict if guard is None else f"{guard.reason or test_text(guard)}  {guard.place}"
