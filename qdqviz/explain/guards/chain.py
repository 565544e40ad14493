"""The chain of an attempt: from where the pass left its node to the deepest test that made it leave."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from qdqviz.explain.guards.calls import Call, Calls
from qdqviz.explain.guards.cause import Cause, acts, asks, chose, collected_after_all, collects
from qdqviz.explain.guards.conditions import Leaf
from qdqviz.explain.guards.control import cause_of_exit
from qdqviz.explain.guards.effects import Effect
from qdqviz.explain.guards.filtered import handed_on, of_comprehension, of_function
from qdqviz.explain.guards.frames import Frame, parts
from qdqviz.explain.guards.links import Chain, follow
from qdqviz.explain.guards.origins import EarlierCalls, Origins
from qdqviz.explain.guards.steps import verdicts
from qdqviz.trace.events import Event, Kind, Site


def chain_of(
    events: Sequence[Event], sites: Mapping[int, Site], calls: Calls, earlier: EarlierCalls = tuple
) -> Chain:
    """The chain of an attempt's events.

    Args:
        events: What the attempt asked.
        sites: Sites by id.
        calls: What replays calls.
        earlier: Gives the calls of earlier attempts of the same pass run, the latest first; a memo may hold
            what one of them found out.
    """
    roots = [handed_on(root, calls) for root in parts(events, sites)]
    origins = Origins(calls, earlier)
    for root in reversed(roots):
        call = calls.of(root)
        if call is not None and call.comprehension is not None:
            if len(roots) == 1 or any(event.kind is not Kind.ITEM for event in root.events()):
                return of_comprehension(call, origins)
            continue
        if call is not None and call.handed is not None:
            return of_function(call, origins)
        if _said_yes(root):
            return Chain((), _passed(roots, (), calls), kept=True)
        found = _of_part(root, call, origins)
        if found is not None:
            links = follow(found, origins)
            later = call is not None and collected_after_all(call)
            return Chain(links, _passed(roots, links, calls), kept=later)
        if call is not None and (acts(call) or chose(call) or _handed_on(call, calls)):
            return Chain((), _passed(roots, (), calls), kept=True)
    return Chain((), _passed(roots, (), calls))


def _said_yes(root: Frame) -> bool:
    """Whether a framework asked the pass about the node, and the answer was True."""
    last = next(reversed(list(root.calls())), None)
    return not root.function and last is not None and last.result is True


def _of_part(root: Frame, call: Call | None, origins: Origins) -> Cause | None:
    if call is not None and chose(call):
        return None
    if call is not None and call.path.steps:
        cause = cause_of_exit(call)
        if cause is not None and not cause.provisional and cause.rank < Effect.ACTS and collects(call):
            return None  # what it did was more than what it did not
        found = origins.resolved(cause)
        if found is not None or acts(call) or _asked_itself(call):
            return found
    return origins.into_last([frame for frame in root.calls() if asks(frame)])


def _handed_on(call: Call, calls: Calls) -> bool:
    """Whether a statement left the node to a call that collected or edited something for it."""
    for step, _ in call.steps():
        if isinstance(step.node, ast.Expr):
            inner = [calls.of(frame) for frame in call.frames(step.start, step.end)]
            if any(collects(each) or _handed_on(each, calls) for each in inner if each is not None):
                return True
    return False


def _asked_itself(call: Call) -> bool:
    """Whether a loop's body tested anything: then what its helpers were asked is no reason of its own."""
    return any(verdict.asked for step, _ in call.steps() for verdict in verdicts(step))


def _passed(roots: list[Frame], links: tuple[Cause, ...], calls: Calls) -> tuple[tuple[Call, Leaf], ...]:
    """Tests before the blocking ones, in the calls that the chain goes through, in order."""
    blamed = {id(leaf.event) for link in links for leaf in link.leaves if leaf.event is not None}
    through = {id(link.call.frame) for link in links}
    found: list[tuple[Call, Leaf]] = []
    for root in roots:
        for frame in root.walk():
            call = calls.of(frame) if frame is root or id(frame) in through else None
            if call is None:
                continue
            for step, _ in call.steps():
                leaves = [leaf for verdict in verdicts(step) for leaf in verdict.asked]
                if any(id(leaf.event) in blamed for leaf in leaves):
                    leaves = [leaf for leaf in leaves if id(leaf.event) not in blamed]
                found += [(call, leaf) for leaf in leaves if leaf.event is not None]
    return tuple(found)
