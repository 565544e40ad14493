"""Causes: sibling tests that are to blame for one thing, and how they are weighed against each other."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.code import has_blocks, own_nodes
from qdqviz.explain.guards.conditions import Leaf
from qdqviz.explain.guards.effects import Effect, Goal, effect
from qdqviz.explain.guards.frames import Frame
from qdqviz.explain.guards.steps import Step
from qdqviz.trace.events import Event, Kind

MOST_LEAVES = 64
"""How many siblings are kept at most: a loop over many users may have found nothing in any of them."""

MUCH_MORE = 8
"""A statement that asked so many times more than another got further, where both could have acted."""


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """Why something came out as it did: sibling tests in one call."""

    call: Call
    """The call that asked."""
    leaves: tuple[Leaf, ...]
    """The tests to blame, in the order in which they were asked."""
    rank: Effect = Effect.EDITS
    """What they kept from happening."""
    depth: int = 0
    """How many tests and handlers within the call led there."""
    work: int = 0
    """How much was asked in the statement that it stands in, helpers included."""
    provisional: bool = False
    """Whether its only leaf is an expression that is to be traced back, and no test."""
    otherwise: Cause | None = None
    """The cause if a provisional one leads nowhere."""
    led: bool = False
    """Whether its tests led to where the call left, rather than kept it from leaving before."""
    via: tuple[Cause, ...] = ()
    """The calls that handed the answer on, outermost first: `return helper(node)`."""
    also: tuple[Cause, ...] = ()
    """The same in sibling calls: a helper asked about each user answers each time for itself."""


def strongest(causes: Iterable[Cause | None]) -> Cause | None:
    """The cause that kept most from happening; of equals the one that got furthest, equals in that joined."""
    found = [cause for cause in causes if cause is not None and cause.rank > Effect.LEAVES]
    if not found:
        return None
    best = max((cause.rank, cause.depth) for cause in found)
    equals = [cause for cause in found if (cause.rank, cause.depth) == best]
    most = max(cause.work for cause in equals)
    equals = [cause for cause in equals if cause.work * MUCH_MORE >= most]
    if len(equals) == 1 or any(cause.provisional for cause in equals):
        return equals[-1]
    leaves = tuple(leaf for cause in equals for leaf in cause.leaves)
    return replace(equals[-1], leaves=leaves[-MOST_LEAVES:], work=most)


def alternatives(earlier: Cause | None) -> tuple[Leaf, ...]:
    """The tests whose other outcome would have answered otherwise before."""
    if earlier is None or earlier.led or earlier.rank is not Effect.EDITS:
        return ()
    return earlier.leaves


def deeper(cause: Cause) -> Cause:
    """A cause as seen from outside of the test or handler that it stands in."""
    return replace(cause, depth=cause.depth + 1)


def led_here(call: Call, step: Step) -> tuple[Leaf, ...]:
    """The tests that made a statement run the block that it ran."""
    if isinstance(step.node, ast.If) and step.arms:
        last = step.arms[-1].verdict
        if last.truth:
            return last.blame
        return tuple(leaf for arm in step.arms for leaf in arm.verdict.blame)
    if isinstance(step.node, ast.Match):
        return led_to_case(call, step)
    if step.caught is not None:
        return (event_leaf(call, step.caught),)
    return ()


def event_leaf(call: Call, event: Event) -> Leaf:
    """A leaf for an event that is no test: a loop's end, a handler."""
    site = call.sites[event.site]
    place = next((node for node in call.code.at(site) if isinstance(node, ast.expr)), None)
    index = next(at for at, item in enumerate(call.frame.items) if item is event)
    return Leaf(place or ast.Constant(None), None, site, event, index, index)


def led_to_case(call: Call, step: Step) -> tuple[Leaf, ...]:
    """What made a `match` run the case that it ran: its guard, or else the pattern and earlier guards."""
    assert isinstance(step.node, ast.Match)
    taken = next((case for case in step.node.cases if case.body is step.taken), None)
    own = tuple(leaf for arm in step.arms if arm.node is taken for leaf in arm.verdict.blame)
    if own:
        return own
    failed = tuple(leaf for arm in step.arms for leaf in arm.verdict.blame)
    anything = taken is not None and isinstance(taken.pattern, ast.MatchAs) and taken.pattern.pattern is None
    return failed if failed and anything else (*failed, *match_subject(call, step))


def missed_case(call: Call, step: Step, cases: Sequence[ast.match_case]) -> tuple[Leaf, ...]:
    """What kept a `match` from running some of its cases: their guards that failed, or else its subject."""
    missed = {id(case) for case in cases}
    failed = [arm.verdict for arm in step.arms if id(arm.node) in missed and arm.verdict.truth is False]
    return tuple(leaf for verdict in failed for leaf in verdict.blame) or match_subject(call, step)


def match_subject(call: Call, step: Step) -> tuple[Leaf, ...]:
    """What a `match` looked at; it is no test, its truth says nothing."""
    assert isinstance(step.node, ast.Match)
    for index in range(step.start, step.end):
        item = call.frame.items[index]
        if isinstance(item, Event) and item.kind is Kind.VALUE:
            site = call.sites[item.site]
            if call.code.exactly(site, step.node.subject):
                return (Leaf(step.node.subject, None, site, item, step.start, index),)
    return ()


# -- what calls did ---------------------------------------------------------------------------------


def asks(frame: Frame) -> bool:
    """Whether a call took any decision, itself or further in."""
    asking = (Kind.TEST, Kind.COMPARE, Kind.VALUE, Kind.CASE, Kind.EXCEPT)
    return any(event.kind in asking for each in frame.walk() for event in each.events())


def is_answer(frame: Frame) -> bool:
    """Whether what a call gave back answers a question: a bool, None, nothing at all, or an exception."""
    if frame.how in ("raise", "end"):
        return True
    result = frame.result
    if result is None or isinstance(result, bool):
        return True
    items = getattr(result, "items", result)
    if isinstance(items, tuple):
        return not items or any(item is None or isinstance(item, bool) for item in items)
    return False


def acts(call: Call) -> bool:
    """Whether a statement ran that edits, collects or sets a flag."""
    simple = (step.node for step, _ in call.steps() if not has_blocks(step.node))
    return any(effect([node], Goal()) >= _enough(node) for node in simple)


def can_act(call: Call) -> bool:
    """Whether a call's function holds a statement that edits, collects or sets a flag."""
    body = call.function.body if isinstance(call.function, ast.FunctionDef) else []
    simple = (node for node in own_nodes(*body) if isinstance(node, ast.stmt) and not has_blocks(node))
    return any(effect([node], Goal()) >= _enough(node) for node in simple if not isinstance(node, ast.Return))


def collects(call: Call) -> bool:
    """Whether a statement ran that edits, collects or sets a flag, other than by calling something.

    A flag that the call itself tests is for its own use.
    """
    simple = (step.node for step, _ in call.steps() if not has_blocks(step.node))
    return any(effect([node], Goal(tested=call.tested)) >= Effect.ACTS for node in simple)


def collected_after_all(call: Call) -> bool:
    """Whether the `else` of a loop that found nothing collected something: `else: groups.append([node])`."""
    loops = (step for step, _ in call.steps() if isinstance(step.node, ast.For) and step.node.orelse)
    ran = (step.blocks[-1] for step in loops if len(step.blocks) > len(step.ends))
    simple = (each.node for block in ran for each in block if not has_blocks(each.node))
    return any(effect([node], Goal(tested=call.tested)) is Effect.ACTS for node in simple)


def _enough(node: ast.stmt) -> Effect:
    """The effect from which on a statement does something: a call whose result is dropped does."""
    return Effect.CALLS if isinstance(node, ast.Expr) else Effect.ACTS


def chose(call: Call) -> bool:
    """Whether a loop was left because it had found what it looked for: it kept an item, then came `break`."""
    left = call.path.exit
    if left is None or left.kind != "break":
        return False
    for step, around in call.steps():
        if step.node is left.statement and around:
            return any(_keeps(each.node) for each in around[-1].blocks[-1])
    return False


def _keeps(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant)
