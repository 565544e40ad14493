"""Why a pass never looked at a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qdqviz.explain.answer import NodeLink, Why
from qdqviz.explain.evidence import Evidence, Look, furthest
from qdqviz.explain.nearest import absent_targets, nearest_to
from qdqviz.explain.seen_text import op_text
from qdqviz.ir.change import Erase, Insert
from qdqviz.ir.node import NodeState
from qdqviz.trace.events import Event, Kind
from qdqviz.trace.model import Attempt, LookedFor, PassRun


def never(evidence: Evidence, run: PassRun, link: NodeLink, looks: Sequence[Look], blank: Why) -> Why:
    """Why a pass run never looked at a node.

    Args:
        evidence: The trace.
        run: The pass run.
        link: The node.
        looks: Attempts in which only a comprehension looked at it, or a loop that did nothing with it.
        blank: The answer to fill in.
    """
    node = evidence.known_before(run, link.path).get(link.id)
    if node is None:
        return _not_there(evidence, run, link, blank)
    rejected = [look for look in looks if look.chain.filtered and look.chain.links and not look.chain.kept]
    early = _left_early(evidence, run, blank)
    if rejected and rejected[-1].chain.scan and early is not None:
        own = evidence.told(rejected[-1], blank)
        return replace(early, chain=(*early.chain, *own.chain))
    if rejected:
        dropped = [look for look in rejected if look.dropped]
        return replace(evidence.told(furthest(dropped or rejected), blank), reason="filtered")
    if run.error is not None:
        return replace(blank, reason="pass_raised", error=run.error)
    if run.paths and link.path not in run.paths:
        return replace(blank, reason="other_graph", note=f"it looked at {_graphs(run)} only")
    return (
        _looked_for_other(evidence, run, node, link, blank)
        or _loop_ended(evidence, run, link, blank)
        or early
        or to_no_effect(evidence, run, looks, blank)
        or _retraced(evidence, run, node, blank)
        or replace(blank, reason="unknown", note=blank.note or asked_nothing(evidence, run))
    )


# -- the node --------------------------------------------------------------------------------------


def _not_there(evidence: Evidence, run: PassRun, link: NodeLink, blank: Why) -> Why:
    """A node that was not yet, or no longer, in the graph."""
    gone: int | None = None
    for header in evidence.trace.headers:
        if header.subject != run.subject:
            continue
        for change in evidence.trace.rewrite(header.step).changes:
            if isinstance(change, Insert) and change.node.id == link.id:
                return replace(blank, reason="not_yet_created", step=header.step)
            if isinstance(change, Erase) and change.node.id == link.id and header.step <= run.first_step:
                gone = header.step
    if gone is not None:
        return replace(blank, reason="unknown", step=gone, note=f"step {gone} had removed it before")
    return replace(blank, reason="unknown", note="the graph did not hold it when the pass ran")


def _graphs(run: PassRun) -> str:
    return ", ".join(path or "the outermost graph" for path in run.paths)


# -- what the pass searched for --------------------------------------------------------------------


def _looked_for_other(
    evidence: Evidence, run: PassRun, node: NodeState, link: NodeLink, blank: Why
) -> Why | None:
    searched = [each for each in run.looked_for if each.path == link.path]
    if not searched or any(_fits(each, node) for each in searched):
        return None
    body = evidence.known_before(run, link.path)
    wanted = tuple(dict.fromkeys(each.target for each in searched if each.target is not None))
    near = nearest_to(body, wanted, link.path) if absent_targets(body, wanted) == wanted else ()
    return replace(blank, reason="looked_for_other", wanted=wanted, nearest=near)


def _fits(searched: LookedFor, node: NodeState) -> bool:
    return searched.op in (None, node.op) and searched.target in (None, node.target)


def _retraced(evidence: Evidence, run: PassRun, node: NodeState, blank: Why) -> Why | None:
    """A pass that runs the graph again and overrides how operators are called sees nothing else."""
    attempts = (each for each in evidence.trace.attempts(run.id) if each.focus is not None)
    first = next((each.events[0] for each in attempts if each.events), None)
    site = evidence.trace.sites.get(first.site) if first is not None else None
    if site is None or first is None or first.kind is not Kind.ENTER:
        return None
    name = site.function.rpartition(".")[2]
    what = f"a {node.op}" if node.op != "call_function" else f"a call of {op_text(node.target)}"
    return replace(blank, reason="looked_for_other", note=f"it overrides {name}, which never sees {what}")


def asked_nothing(evidence: Evidence, run: PassRun) -> str:
    """A remark on a pass run that took no decision at all, else nothing."""
    events = (event for each in evidence.trace.attempts(run.id) for event in each.events)
    asked = any(event.kind in (Kind.TEST, Kind.COMPARE, Kind.VALUE, Kind.CASE) for event in events)
    return "" if asked else "it asked nothing"


def to_no_effect(evidence: Evidence, run: PassRun, looks: Sequence[Look], blank: Why) -> Why | None:
    """A loop looked at a node after all: it asked nothing that turned it down, and did nothing that lasted.

    What the pass asked outside any node is to blame, if it left because of that.
    """
    idle = [look for look in looks if not look.chain.filtered]
    if not idle:
        return None
    answer = replace(evidence.told(furthest(idle), blank), verdict="declined", chain=(), idle=1)
    return without_effect(evidence, run, answer)


def without_effect(evidence: Evidence, run: PassRun, answer: Why) -> Why:
    """An answer about idle looks, with why the pass left after them, else with what is known."""
    for look in reversed(evidence.outside(run)):
        if look.chain.links:
            return replace(answer, chain=evidence.told(look, answer).chain)
    asked = asked_nothing(evidence, run)
    nothing = "nothing that it did changed anything"
    return replace(answer, note=answer.note or (f"{asked}, and {nothing}" if asked else nothing))


# -- where the pass stopped ------------------------------------------------------------------------


def _loop_ended(evidence: Evidence, run: PassRun, link: NodeLink, blank: Why) -> Why | None:
    """A loop over nodes that ended before it came to this one."""
    attempts = evidence.trace.attempts(run.id)
    opened = {
        each.events[0].site: each
        for each in attempts
        if each.focus is not None and each.events and each.events[0].kind is Kind.ITEM
    }
    for attempt in attempts:
        if attempt.focus is not None:
            continue
        for event in attempt.events:
            if event.kind is Kind.LOOP and event.site in opened and _cut_short(event):
                last = evidence.look(opened[event.site])
                focus = last.attempt.focus
                assert focus is not None
                through = NodeLink(focus, last.attempt.name, last.attempt.path)
                answer = evidence.told(last, blank)
                steps = () if last.attempt.step is None else (last.attempt.step,)
                return replace(answer, reason="loop_ended", through=through, rewrites=steps)
    return None


def _cut_short(event: Event) -> bool:
    return len(event.values) > 1 and event.values[1] in ("break", "return", "left")


def _left_early(evidence: Evidence, run: PassRun, blank: Why) -> Why | None:
    """The whole pass returned before it looked at any node."""
    looked = any(
        not evidence.look(each).chain.filtered
        for each in _first_of_each_shape(evidence, run)
        if each.focus is not None
    )
    if looked:
        return None
    for look in reversed(evidence.outside(run)):
        if look.chain.links:
            return replace(evidence.told(look, blank), reason="left_early")
    return None


def _first_of_each_shape(evidence: Evidence, run: PassRun) -> list[Attempt]:
    found = {
        attempt.events[0].site if attempt.events else -1: attempt
        for attempt in evidence.trace.attempts(run.id)
        if attempt.focus is not None
    }
    return list(found.values())
