"""The Why tab for a pass as a whole: what it did, and what it declined, grouped by the guard that did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qdqviz.ir.text import safe_text
from qdqviz.tui.model.details.about_why import VERDICT_SIGNS, VERDICT_STYLES, nearest_facts, remark_facts
from qdqviz.tui.model.details.fact import Fact, Part, heading
from qdqviz.tui.model.details.guard_facts import guard_facts
from qdqviz.tui.model.details.leads import ToGroup, ToLine, ToNode

if TYPE_CHECKING:
    from qdqviz.explain.answer import NearMiss, Why

MOST_OPS = 4
"""Ops that are named for one guard."""

MOST_NODES = 400
"""Nodes that are listed for one guard."""


def pass_facts(why: Why, chosen: int | None) -> list[Fact]:
    """What the Why tab says of a pass.

    Args:
        why: The answer about the pass as a whole.
        chosen: Number of the guard whose nodes alone are listed; None lists all guards.
    """
    from qdqviz.explain.naming import counted
    from qdqviz.explain.why_text import headline

    sign, style = VERDICT_SIGNS[why.verdict], VERDICT_STYLES[why.verdict]
    facts = [heading(f"{sign} ", style, Part(safe_text(headline(why)), "bold"))]
    if why.error is not None:
        facts.append(heading(f"{why.error.type}: {why.error.message}", "ui.error"))
    facts += nearest_facts(why)
    facts += remark_facts(why)
    if chosen is not None and chosen < len(why.near_misses):
        return [*facts, *_group(why.near_misses[chosen], chosen)]
    if why.near_misses:
        total = sum(miss.count for miss in why.near_misses)
        hint = Part("   enter on a guard lists its nodes", "muted")
        what = f"{counted(total, 'node')} {_turned_down(why.near_misses[0])}, those that got furthest first"
        facts.append(heading(what, "ui.title_focus", hint))
        facts += [_miss(miss, index) for index, miss in enumerate(why.near_misses)]
    elif why.verdict in ("never", "declined"):
        for depth, guard in enumerate(why.chain):
            facts += guard_facts(guard, depth, is_last=depth == len(why.chain) - 1)
    return facts


def _miss(miss: NearMiss, index: int) -> Fact:
    lead = ToGroup(index)
    count = Part(f"{miss.count:>5} × ", "bold", None, lead)
    test = Part(safe_text(_said(miss)), "link", None, lead)
    place = Part(f"  {safe_text(miss.guard.place)}", "muted", None, lead)
    return heading("", "", count, test, place, Part(f"  {_ops(miss)}", "muted", None, lead))


def _group(miss: NearMiss, index: int) -> Iterator[Fact]:
    from qdqviz.explain.naming import counted

    back = Part("   all guards", "link", None, ToGroup(index))
    yield heading(f"{counted(miss.count, 'node')} {_turned_down(miss)} by", "ui.title_focus", back)
    yield from guard_facts(miss.guard, 0, is_last=True)
    source = Part("look at the source", "link", None, ToLine(miss.guard.file, miss.guard.line, miss.guard))
    yield heading("", "", source)
    for link in miss.nodes[:MOST_NODES]:
        yield heading("  ", "", Part(safe_text(link.name), "link", None, ToNode(link.id, link.path)))
    if miss.count > MOST_NODES:
        yield heading(f"  … and {miss.count - MOST_NODES:,} more", "muted")


def _turned_down(miss: NearMiss) -> str:
    """What was done to nodes: a loop declined them, or a filter kept them from it."""
    return "filtered out" if miss.filtered else "declined"


def _said(miss: NearMiss) -> str:
    from qdqviz.explain.why_text import test_text

    return miss.guard.reason or " ".join(test_text(miss.guard).split())


def _ops(miss: NearMiss) -> str:
    shown = ", ".join(f"{op} {count}" for op, count in miss.ops[:MOST_OPS])
    return safe_text(f"{shown}, …" if len(miss.ops) > MOST_OPS else shown)
