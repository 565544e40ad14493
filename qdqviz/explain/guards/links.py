"""A chain, and how its links are followed from the outermost test to the deepest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.cause import Cause
from qdqviz.explain.guards.conditions import Leaf
from qdqviz.explain.guards.origins import Origins

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
    """Whether a comprehension kept the node, or a loop set it aside for later; with links, also for later."""


NO_CHAIN = Chain((), ())


def follow(cause: Cause, origins: Origins) -> tuple[Cause, ...]:
    """The links of a chain from its outermost on: what each of them came from."""
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
