"""Links of a chain as the guards that an answer shows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

from qdqviz.explain.answer import Guard, NodeLink, Seen
from qdqviz.explain.guards.bindings import bound_to
from qdqviz.explain.guards.calls import Call
from qdqviz.explain.guards.cause import Cause
from qdqviz.explain.guards.conditions import Leaf
from qdqviz.explain.guards.known import Facts
from qdqviz.explain.guards.links import Chain
from qdqviz.explain.guards.reason import reason_of
from qdqviz.explain.seen_text import NO_CONTENT, seen_nodes, seen_targets, seen_text
from qdqviz.ir.values import Atom, NodeSeen, Value
from qdqviz.trace.events import Event, Kind

MOST_FACTS = 4
"""How many expressions of one test are told in nodes."""

MOST_SIBLINGS = 24
"""How many siblings of one guard are shown."""

LinkOf = Callable[[int, str], NodeLink]
"""(identity, name at that instant or empty) -> the node to go to."""


class Describer:
    """Describes the links of one attempt's chain."""

    def __init__(self, facts: Facts, link_of: LinkOf, focus: int | None) -> None:
        """Take who knows the nodes that names stand for, how to link to a node, and the node asked about."""
        self._facts = facts
        self._link_of = link_of
        self._focus = focus

    def chain(self, chain: Chain) -> tuple[Guard, ...]:
        """All links, outermost first."""
        return tuple(self.guard(link) for link in chain.links if link.leaves)

    def passed(self, chain: Chain) -> tuple[Guard, ...]:
        """The tests that let the node go on."""
        return tuple(self._test(call, leaf) for call, leaf in chain.passed)

    def guard(self, cause: Cause) -> Guard:
        """A link: its last test, and the others as siblings."""
        tests = [(cause.call, leaf) for leaf in cause.leaves[:-1]]
        tests += [(other.call, leaf) for other in cause.also for leaf in other.leaves]
        own = self._test(cause.call, cause.leaves[-1])
        others = _distinct(self._test(call, leaf) for call, leaf in tests[-MOST_SIBLINGS:])
        guard = replace(own, siblings=tuple(each for each in others if each != own))
        return guard if guard.nodes else replace(guard, about=self._about(cause.call))

    def _about(self, call: Call) -> tuple[NodeLink, ...]:
        """The nodes that a call was made for, unless the one asked about is among them."""
        nodes = self._facts.about(call)
        return () if self._focus in nodes else tuple(self._link_of(node, "") for node in nodes)

    def _test(self, call: Call, leaf: Leaf) -> Guard:
        site = leaf.site
        bound = bound_to(call, leaf)
        line, column = call.code.place(leaf.expr)[:2] if site is None else (site.line, site.column)
        return Guard(
            file=call.frame.file,
            line=line,
            column=column,
            function=call.frame.function,
            text=call.code.source(leaf.expr) if site is None else site.text,
            kind=("return" if leaf.seen else "call") if site is None else site.context or site.kind,
            outcome=leaf.outcome if leaf.event is None or leaf.event.kind is not Kind.LOOP else None,
            case=_case(call, leaf),
            reason=reason_of(call, leaf),
            bound="" if bound is None else call.code.source(bound),
            values=self._values(call, leaf, bound),
        )

    # -- values ------------------------------------------------------------------------------------

    def _values(self, call: Call, leaf: Leaf, bound: ast.expr | None) -> tuple[Seen, ...]:
        asked = [pair for pair in asked_about(call, leaf) if not self._is_focus(pair[1])]
        values = [self._seen(text, value) for text, value in (*_operands(call, leaf), *asked)]
        shown = {seen.text for seen in values}
        told = {node.id for seen in values for node in seen.nodes}
        facts = self._facts.of(call, leaf.expr, leaf.end)
        if bound is not None:
            facts += self._facts.of(call, bound, leaf.end)
        for fact in facts[:MOST_FACTS]:
            if fact.text in shown or (len(fact.nodes) == 1 and fact.nodes[0] in (self._focus, *told)):
                continue
            if fact.said:
                values.append(Seen(fact.text, fact.said))
                continue
            links = tuple(self._link_of(node, "") for node in fact.nodes)
            names = ", ".join(link.name for link in links)
            text = f"nodes in {fact.text}" if fact.partial else fact.text
            values.append(Seen(text, f"[{names}]" if fact.several else names, links))
        return tuple(values)

    def _is_focus(self, value: Value) -> bool:
        """Whether a value is the node asked about, which the answer names anyway."""
        return isinstance(value, NodeSeen) and value.node == self._focus

    def _seen(self, text: str, value: Value) -> Seen:
        links = tuple(self._link_of(node.node, node.name) for node in seen_nodes(value))
        return Seen(text, seen_text(value), links, tuple(seen_targets(value)))


def _case(call: Call, leaf: Leaf) -> str:
    """The pattern of the case that ran, where a leaf is what a `match` looked at."""
    for step, _ in call.steps():
        if isinstance(step.node, ast.Match) and step.node.subject is leaf.expr and step.start == leaf.start:
            taken = next((case for case in step.node.cases if case.body is step.taken), None)
            return "" if taken is None else call.code.source(taken.pattern)
    return ""


def _operands(call: Call, leaf: Leaf) -> list[tuple[str, Value]]:
    """What a test saw, each value with the expression that gave it."""
    event, expr = leaf.event, leaf.expr
    if event is None:
        return [(call.code.source(expr), value) for value in leaf.seen]
    if event.kind is Kind.LOOP:
        return [(call.code.source(expr), Atom("size", "no items"))]
    if event.kind is Kind.EXCEPT:
        names = ("exception", "message", "raised at")
        return [pair for pair in zip(names, event.values, strict=False) if pair[1] is not None]
    if event.kind is Kind.COMPARE and isinstance(expr, ast.Compare) and leaf.site is not None:
        pairs = zip(_sides(call, leaf, expr), event.values, strict=False)
        return [(text, value) for text, value in pairs if not _is_literal(text)]
    text = leaf.site.text if leaf.site is not None else call.code.source(expr)
    if not event.values:
        return [] if leaf.outcome is None else [(text, leaf.outcome)]
    return [(text, event.values[0])]


def asked_about(call: Call, leaf: Leaf) -> list[tuple[str, Value]]:
    """What the call asked about that a test is, each value with the expression that gave it.

    Objects that the trace holds no more than the type of say nothing.
    """
    found: dict[str, Value] = {}
    for item in call.frame.items[leaf.start : leaf.end]:
        if not isinstance(item, Event) or item.kind is not Kind.OPERAND or not item.values:
            continue
        site, value = call.sites[item.site], item.values[0]
        if not call.code.inside(site, leaf.expr) or (isinstance(value, Atom) and value.kind in NO_CONTENT):
            continue
        found[site.text] = value
    return list(found.items())


def _sides(call: Call, leaf: Leaf, expr: ast.Compare) -> tuple[str, str]:
    """The two sides of a comparison; of a chained one those of the link that was asked last."""
    operands = [expr.left, *expr.comparators]
    texts = [call.code.source(operand) for operand in operands]
    if len(operands) == 2 or leaf.site is None:
        return texts[0], texts[1]
    for left, right in pairwise(texts):
        if leaf.site.text.startswith(left) and leaf.site.text.endswith(right):
            return left, right
    return texts[0], texts[-1]


def _is_literal(text: str) -> bool:
    """Whether an expression says its value itself."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _distinct(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    return tuple(dict.fromkeys(guards))
