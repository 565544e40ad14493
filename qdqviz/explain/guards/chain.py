"""The chain of an attempt: from where the pass left its node to the deepest test that made it leave."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from qdqviz.explain.guards.calls import Call, Calls
from qdqviz.explain.guards.cause import Cause, acts, asks, chose, collects
from qdqviz.explain.guards.conditions import Leaf, Verdict, iterations
from qdqviz.explain.guards.control import cause_of_exit
from qdqviz.explain.guards.effects import Effect
from qdqviz.explain.guards.frames import Frame, parts
from qdqviz.explain.guards.origins import EarlierCalls, Origins
from qdqviz.explain.guards.replay import verdicts
from qdqviz.trace.events import Event, Kind, Site

DEEPEST = 16
"""How many calls and bindings a chain follows at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Why an attempt ended where it did."""

    links: tuple[Cause, ...]
    """From the outermost to the deepest; empty where nothing was asked."""
    passed: tuple[tuple[Call, Leaf], ...]
    """Tests that let the node go on, in the calls of the chain, in order."""
    filtered: bool = False
    """Whether it was a comprehension that looked at the node."""
    scan: bool = False
    """Whether that comprehension only asked something about every node, as in `any(...)`."""
    kept: bool = False
    """Whether nothing turned the node down: a comprehension kept it, a loop set it aside for later."""


NO_CHAIN = Chain((), ())


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
    roots = [_handed_to_loop(root, calls) for root in parts(events, sites)]
    origins = Origins(calls, earlier)
    for root in reversed(roots):
        call = calls.of(root)
        if call is not None and call.comprehension is not None:
            if len(roots) == 1 or any(event.kind is not Kind.ITEM for event in root.events()):
                return _of_filter(call, origins)
            continue
        if _said_yes(root):
            return Chain((), _passed(roots, (), calls), kept=True)
        found = _of_part(root, call, origins)
        if found is not None:
            links = _follow(found, origins)
            return Chain(links, _passed(roots, links, calls))
        if call is not None and (acts(call) or chose(call) or _handed_on(call, calls)):
            return Chain((), _passed(roots, (), calls), kept=True)
    return Chain((), _passed(roots, (), calls))


def _said_yes(root: Frame) -> bool:
    """Whether a framework asked the pass about the node, and the answer was True."""
    last = next(reversed(list(root.calls())), None)
    return not root.function and last is not None and last.result is True


def _handed_to_loop(root: Frame, calls: Calls) -> Frame:
    """What a loop did with the node, where a generator expression had handed it to that; else all of it."""
    call = calls.of(root)
    if call is None or not isinstance(call.comprehension, ast.GeneratorExp):
        return root
    for index, item in enumerate(root.items):
        if isinstance(item, Event) and item.kind is Kind.ITEM and _is_for(call, item):
            return replace(root, items=root.items[index:])
    return root


def _is_for(call: Call, item: Event) -> bool:
    """Whether it was a `for` statement that took an item."""
    places = call.code.at(call.sites[item.site])
    return any(isinstance(call.code.parent(place), ast.For | ast.AsyncFor) for place in places)


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


def _follow(cause: Cause, origins: Origins) -> tuple[Cause, ...]:
    links = [*cause.via, cause]
    while len(links) < DEEPEST:
        followed = _deeper(links[-1], origins)
        if followed is None or any(_same(followed[1], link) for link in links):
            break
        links[-1], found = followed
        links += (*found.via, found)
    return tuple(links)


def _deeper(cause: Cause, origins: Origins) -> tuple[Cause, Cause] | None:
    """Where the last of some siblings leads; with the siblings, the one that was followed last.

    The last is what the node got furthest to. Operands of the same condition may stand in for it; what
    tests in earlier statements came from is no reason for the last one.
    """
    group = cause.leaves[-1].site.group if cause.leaves[-1].site is not None else None
    for leaf in reversed(cause.leaves):
        alike = leaf.site is not None and leaf.site.group == group and group is not None
        if leaf is not cause.leaves[-1] and not alike:
            continue
        if origins.of(cause.call, leaf) is not None:
            return _furthest_round(cause, leaf, origins)
    return None


def _furthest_round(cause: Cause, chosen: Leaf, origins: Origins) -> tuple[Cause, Cause]:
    """Of all rounds of one test the one that got furthest, and where it leads; the others go along."""
    rounds = [leaf for leaf in cause.leaves if leaf is chosen or leaf.site is chosen.site]
    found = [(leaf, lead) for leaf in rounds if (lead := origins.of(cause.call, leaf)) is not None]
    best, lead = max(reversed(found), key=lambda pair: pair[1].call.frame.asked)
    others = tuple(each for leaf, each in found if leaf is not best)
    siblings = tuple(leaf for leaf in cause.leaves if leaf is not best)
    return replace(cause, leaves=(*siblings, best)), replace(lead, also=(*lead.also, *others))


def _same(one: Cause, other: Cause) -> bool:
    asked = {id(leaf.event) for leaf in one.leaves if leaf.event is not None}
    return one.call is other.call and asked <= {id(leaf.event) for leaf in other.leaves}


def _of_filter(call: Call, origins: Origins) -> Chain:
    """The chain of a node that a comprehension looked at."""
    assert call.comprehension is not None
    found = iterations(call.comprehension, call.cursor())
    if not found:
        return Chain((), (), filtered=True, kept=True)
    verdict = _last(found[-1].filters, found[-1].element)
    if verdict is None or (found[-1].kept and found[-1].element is None):
        return Chain((), (), filtered=True, kept=True)
    leaves = tuple(leaf for leaf in verdict.blame if leaf.event is not None)
    if not leaves:
        return Chain((), (), filtered=True, kept=found[-1].kept)
    links = _follow(Cause(call, leaves), origins)
    scan = verdict is found[-1].element
    return Chain(links, (), filtered=True, scan=scan, kept=verdict.truth is not False)


def _last(filters: tuple[Verdict, ...], element: Verdict | None) -> Verdict | None:
    if filters and filters[-1].truth is False:
        return filters[-1]
    return element if element is not None else filters[-1] if filters else None


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
