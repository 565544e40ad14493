"""What a pass did as a whole: the answer to `why` without a node."""

from __future__ import annotations

from dataclasses import replace

from qdqviz.explain.answer import NearMiss, NodeLink, Why
from qdqviz.explain.evidence import Evidence
from qdqviz.explain.near_misses import filtered_misses, looked_at
from qdqviz.explain.nearest import absent_targets, nearest_to, wanted_here
from qdqviz.explain.never import asked_nothing, without_effect
from qdqviz.ir.graph import ROOT
from qdqviz.trace.model import PassRun


def whole_pass(evidence: Evidence, run: PassRun, misses: tuple[NearMiss, ...]) -> Why:
    """What a pass run did, and who came nearest to being rewritten."""
    blank = replace(evidence.blank(run, None), near_misses=misses, error=run.error)
    own = evidence.trace.rewrites_of(run.id)
    if run.error is not None:
        return _raised(evidence, run, replace(blank, verdict="raised"))
    if run.rewrites:
        blank = replace(blank, near_misses=misses or filtered_misses(evidence, run))
        steps = own or [h for h in evidence.trace.headers if run.first_step < h.step <= run.last_step]
        return replace(blank, verdict="fired", rewrites=tuple(header.step for header in steps))
    if any(attempt.outcome == "fired" for attempt in evidence.trace.attempts(run.id)):
        return replace(blank, verdict="fired", note="what it did changed nothing")
    if misses:
        answer = replace(blank, verdict="declined", chain=(misses[0].guard,))
        asked = _first_call(evidence, run, misses[0])
        wanted = wanted_here(evidence, run, replace(answer, node=asked)).wanted
        near = nearest_to(evidence.known_before(run, ROOT), wanted, ROOT)
        return replace(answer, wanted=wanted, nearest=near)
    return _never(evidence, run, blank)


def _first_call(evidence: Evidence, run: PassRun, miss: NearMiss) -> NodeLink:
    """The first of some nodes that calls an op: what the guard saw of it tells more than of an input."""
    for link in miss.nodes:
        node = evidence.known_before(run, link.path).get(link.id)
        if node is not None and node.op == "call_function":
            return link
    return miss.nodes[0]


def _raised(evidence: Evidence, run: PassRun, blank: Why) -> Why:
    for attempt in reversed(evidence.trace.attempts(run.id)):
        if attempt.outcome == "raised":
            answer = evidence.told(evidence.look(attempt), blank)
            if attempt.focus is None:
                return answer
            return replace(answer, through=NodeLink(attempt.focus, attempt.name, attempt.path))
    return blank


def _never(evidence: Evidence, run: PassRun, blank: Why) -> Why:
    """A pass that looked at no node, or did nothing with those that it looked at."""
    searched = [each for each in run.looked_for if each.target is not None]
    wanted = tuple(dict.fromkeys(each.target for each in searched if each.target is not None))
    if wanted and not any(each.found for each in searched):
        body = evidence.known_before(run, ROOT)
        near = nearest_to(body, wanted, ROOT) if absent_targets(body, wanted) else ()
        return replace(blank, reason="looked_for_other", wanted=wanted, nearest=near)
    dropped = filtered_misses(evidence, run)
    if dropped:
        return replace(blank, reason="filtered", chain=(dropped[0].guard,), near_misses=dropped)
    count = looked_at(evidence, run)
    if count:
        return without_effect(evidence, run, replace(blank, verdict="declined", idle=count))
    for look in reversed(evidence.outside(run)):
        if look.chain.links:
            return replace(evidence.told(look, blank), reason="left_early")
    return replace(blank, reason="unknown", note=blank.note or asked_nothing(evidence, run))
