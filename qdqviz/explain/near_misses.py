"""Who got furthest in a pass, grouped by the guard that turned them down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from qdqviz.explain.answer import Guard, NearMiss, NodeLink
from qdqviz.explain.evidence import Evidence, Look, deciding, furthest
from qdqviz.explain.later import decided_later, rounds_of
from qdqviz.ir.graph import GraphState
from qdqviz.ir.roles import op_name
from qdqviz.trace.model import Attempt, PassRun

_NO_CALLS = frozenset({"placeholder", "get_attr", "output", ""})
"""Ops of nodes that compute nothing: what a guard saw of them tells little."""


@dataclass(slots=True)
class _Group:
    attempt: Attempt
    """The attempt that the guard is told of."""
    calls: bool = False
    """Whether that attempt is on a node that calls something."""
    passed: int = 0
    nodes: dict[int, NodeLink] = field(default_factory=dict)


def near_misses(evidence: Evidence, run: PassRun) -> tuple[NearMiss, ...]:
    """The declined nodes of a pass run, those that passed most tests first.

    A node counts once, for the attempt that got furthest; attempts that fired count for nothing. Equal
    paths through the pass are explained once.
    """
    rounds = rounds_of(evidence, run)
    known: dict[Any, Look] = {}

    def decisive(node: int, looks: Sequence[Look]) -> Look | None:
        best = deciding(looks)
        if best is not None and not best.chain.kept:
            return best
        return decided_later(rounds.get(node, ()), looks, lambda each: _look(evidence, each, known)) or best

    return _grouped(evidence, run, decisive)


def filtered_misses(evidence: Evidence, run: PassRun) -> tuple[NearMiss, ...]:
    """The nodes that comprehensions dropped which kept none at all, those that passed most tests first.

    What one of them kept and the pass then did nothing with, was turned down by something else.
    """
    known: dict[Any, Look] = {}
    looks = [_look(evidence, each, known) for each in _on_nodes(evidence, run)]
    keeping = {_opened_at(look) for look in looks if look.chain.filtered and look.chain.kept}

    def dropped(_: int, looks: Sequence[Look]) -> Look | None:
        found = [look for look in looks if look.dropped and _opened_at(look) not in keeping]
        return furthest(found) if found else None

    return tuple(replace(miss, filtered=True) for miss in _grouped(evidence, run, dropped))


def looked_at(evidence: Evidence, run: PassRun) -> int:
    """How many nodes the loops of a pass run looked at, and neither rewrote nor lost to an exception."""
    known: dict[Any, Look] = {}
    return sum(
        any(not _look(evidence, each, known).chain.filtered for each in attempts)
        for attempts in _declined(evidence, run).values()
    )


def _on_nodes(evidence: Evidence, run: PassRun) -> list[Attempt]:
    """The attempts of a pass run on nodes."""
    return [each for each in evidence.trace.attempts(run.id) if each.focus is not None and each.events]


def _opened_at(look: Look) -> int:
    """The site of the loop that handed a node out."""
    return look.attempt.events[0].site


def _grouped(
    evidence: Evidence, run: PassRun, choose: Callable[[int, Sequence[Look]], Look | None]
) -> tuple[NearMiss, ...]:
    """The declined nodes, grouped by the guard of the attempt that is chosen for each."""
    known: dict[Any, Look] = {}
    groups: dict[Any, _Group] = {}
    states = evidence.state_before(run), evidence.state_after(run)
    for node, attempts in _declined(evidence, run).items():
        looks = [_look(evidence, each, known) for each in attempts]
        look = choose(node, looks)
        if look is None or not look.chain.links:
            continue
        # A look stands for all attempts that asked the same; only this node's own one saw its values.
        pairs = zip(attempts, looks, strict=True)
        attempt = next((each for each, its in pairs if its is look), look.attempt)
        link = NodeLink(node, attempts[0].name, attempts[0].path)
        group = groups.setdefault(_place(look), _Group(attempt))
        if not group.calls and _op(link, states) not in _NO_CALLS:
            group.attempt, group.calls = attempt, True
        before = 0 if look in looks else max(each.progress for each in looks)  # when it was set aside
        group.passed = max(group.passed, before + look.progress)
        group.nodes[node] = link
    found = [_miss(evidence, run, group, states) for group in groups.values()]
    return tuple(sorted(found, key=lambda miss: (-miss.passed, -miss.count)))


def _look(evidence: Evidence, attempt: Attempt, known: dict[Any, Look]) -> Look:
    """An attempt explained, or another one that asked the same and got the same answers."""
    shape = tuple((event.kind, event.site, event.outcome) for event in attempt.events)
    look = known.get(shape)
    if look is None:
        look = known[shape] = evidence.look(attempt)
    return look


def _declined(evidence: Evidence, run: PassRun) -> dict[int, list[Attempt]]:
    """The attempts on each node that the program holds and that nothing was done to."""
    fired: set[int] = set()
    found: dict[int, list[Attempt]] = {}
    for attempt in evidence.trace.attempts(run.id):
        if attempt.focus is None:
            continue
        if attempt.outcome != "declined":
            fired.add(attempt.focus)
        found.setdefault(attempt.focus, []).append(attempt)
    held = _identities(evidence.state_before(run)) | _identities(evidence.state_after(run))
    return {node: each for node, each in found.items() if node in held and node not in fired}


def _identities(state: GraphState) -> set[int]:
    return {node.id for path in state.paths() for node in state.body(path)}


def _place(look: Look) -> tuple[Any, ...]:
    """What two attempts share that were turned down by the same guard."""
    last = look.chain.links[-1]
    leaf = last.leaves[-1]
    if leaf.site is not None:
        return last.call.frame.file, leaf.site.id
    return last.call.frame.file, *last.call.code.place(leaf.expr)


def _miss(evidence: Evidence, run: PassRun, group: _Group, states: tuple[GraphState, ...]) -> NearMiss:
    ops = Counter(op for link in group.nodes.values() if (op := _op(link, states)))
    chain = evidence.told(evidence.look(group.attempt), evidence.blank(run, None)).chain
    nodes = tuple(group.nodes.values())
    return NearMiss(chain[-1], group.passed, nodes, tuple(ops.most_common()), _reason(chain))


def _reason(chain: tuple[Guard, ...]) -> str | None:
    """What the deepest guard's predicate says; of one that is what a predicate returned, that predicate."""
    last = chain[-1]
    returned = last.kind == "return" and len(chain) > 1
    return last.reason or (chain[-2].reason if returned else None)


def _op(link: NodeLink, states: tuple[GraphState, ...]) -> str:
    """The plain name of what a node calls, or its node op; empty for an unknown node."""
    bodies = (state.bodies.get(link.path) for state in states)
    node = next((found for body in bodies if body is not None and (found := body.get(link.id))), None)
    if node is None:
        return ""
    return op_name(node.target).plain if node.op == "call_function" else node.op


def total(misses: Sequence[NearMiss]) -> int:
    """How many nodes were turned down in all."""
    return sum(miss.count for miss in misses)
