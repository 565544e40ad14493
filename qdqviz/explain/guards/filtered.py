"""Chains of nodes that no loop's body looked at: a comprehension did, or a function that `filter` calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from qdqviz.explain.guards.calls import HANDED, Call, Calls
from qdqviz.explain.guards.cause import Cause, acts, asks, can_act, is_answer
from qdqviz.explain.guards.code import call_name, called_names
from qdqviz.explain.guards.conditions import Leaf, Verdict, evaluate, iterations, truth_of
from qdqviz.explain.guards.frames import Frame, Item
from qdqviz.explain.guards.links import Chain, follow
from qdqviz.explain.guards.origins import Origins
from qdqviz.trace.events import Event, Kind

_DROPS = {"filter": False, "filterfalse": True, "takewhile": False, "dropwhile": True}
"""The answers to which these functions drop an item."""

_CHOOSING = frozenset({"min", "max"})
"""Functions that compare items: what they are told of one turns none down."""

_QUANTIFIERS = frozenset({"any", "all"})
"""Functions that only ask something about all items."""

_NOTHING_ASKED = Chain((), (), filtered=True, kept=True)


def of_comprehension(call: Call, origins: Origins) -> Chain:
    """The chain of a node that a comprehension looked at."""
    assert call.comprehension is not None
    outer = _outer_filters(call)
    if outer is not None:
        return _turned_down(call, outer, origins)
    found = iterations(call.comprehension, call.cursor())
    if not found:
        return _NOTHING_ASKED
    made = _made_for_element(call)
    if found[-1].kept and made:
        answers = is_answer(made[-1]) and not _asks_of_all(call, call.comprehension)
        if answers or _may_act(made, origins):
            return _visited(made, origins)
    verdict = _last(found[-1].filters, found[-1].element)
    if verdict is None or (found[-1].kept and found[-1].element is None):
        return _NOTHING_ASKED
    return _turned_down(call, verdict, origins, scan=verdict is found[-1].element, kept=found[-1].kept)


def of_function(call: Call, origins: Origins) -> Chain:
    """The chain of a node that was handed to a function: by `filter`, by `map`."""
    assert call.handed is not None
    name = call_name(call.handed)
    made = list(call.frame.calls())
    if not made or name in _CHOOSING:
        return _NOTHING_ASKED
    found = origins.into(made[-1])
    if name in _DROPS:
        if made[-1].how != "return" or truth_of(made[-1].result) is not _DROPS[name]:
            return Chain((), (), kept=True)
        return Chain(_through(call, made[-1], found, origins), ())
    if _may_act(made, origins) or not _asks_of_all(call, call.handed):
        return _visited(made, origins)
    kept = truth_of(made[-1].result)
    return Chain(follow(found, origins) if found is not None else (), (), filtered=True, scan=True, kept=kept)


def _made_for_element(call: Call) -> list[Frame]:
    """The calls that a comprehension made for its element, and not to filter."""
    match call.comprehension:
        case ast.DictComp(key=key, value=value):
            names = called_names(key, value)
        case ast.ListComp(elt=element) | ast.SetComp(elt=element) | ast.GeneratorExp(elt=element):
            names = called_names(element)
        case _:
            return []
    return [frame for frame in call.frame.calls() if frame.name in names]


def _visited(made: Sequence[Frame], origins: Origins) -> Chain:
    """The chain of a node that was left to a function, as in `[self.visit(n) for n in nodes]`."""
    found = origins.into_last([frame for frame in made if asks(frame)])
    if found is not None:
        return Chain(follow(found, origins), ())
    acted = any(call is not None and acts(call) for call in map(origins.call, made))
    return Chain((), (), kept=acted, filtered=not acted)


def _may_act(made: Sequence[Frame], origins: Origins) -> bool:
    """Whether any function that was called for a node holds a statement that edits or collects."""
    calls = (origins.call(each) for frame in made for each in frame.walk())
    return any(call is not None and can_act(call) for call in calls)


def _through(call: Call, made: Frame, found: Cause | None, origins: Origins) -> tuple[Cause, ...]:
    """The links from a predicate that a function was given to what made it answer as it did."""
    assert call.handed is not None
    given = call.handed.args[0]
    links = follow(found, origins) if found is not None else ()
    if links and isinstance(given, ast.Lambda):
        return links  # its text says what its test does
    asked = Leaf(given, truth_of(made.result), made=made)
    return (Cause(call, (asked,)), *links)


def _asks_of_all(call: Call, expr: ast.expr) -> bool:
    """Whether what was said of all items is only summed up: `any(map(fits, nodes))`."""
    around = call.code.parent(expr)
    return isinstance(around, ast.Call) and call_name(around) in _QUANTIFIERS


def _turned_down(
    call: Call, verdict: Verdict, origins: Origins, scan: bool = False, kept: bool = False
) -> Chain:
    leaves = tuple(leaf for leaf in verdict.blame if leaf.event is not None)
    if not leaves:
        return Chain((), (), filtered=True, kept=kept)
    links = follow(Cause(call, leaves), origins)
    return Chain(links, (), filtered=True, scan=scan, kept=verdict.truth is not False)


def _outer_filters(call: Call) -> Verdict | None:
    """How the filters came out of a loop in a comprehension that holds another loop, if one was false."""
    assert call.comprehension is not None
    first = next(call.frame.events())
    for generator in call.comprehension.generators[:-1]:
        if not call.code.exactly(call.sites[first.site], generator.iter):
            continue
        cursor = call.cursor(1)
        for each in generator.ifs:
            verdict = evaluate(each, cursor)
            if verdict.truth is False:
                return verdict
    return None


def _last(filters: tuple[Verdict, ...], element: Verdict | None) -> Verdict | None:
    if filters and filters[-1].truth is False:
        return filters[-1]
    return element if element is not None else filters[-1] if filters else None


def handed_on(root: Frame, calls: Calls) -> Frame:
    """What was done last with a node that generators and functions handed on; else all that was done."""
    while (call := calls.of(root)) is not None:
        if call.handed is None and not isinstance(call.comprehension, ast.GeneratorExp):
            return root
        index = next((at for at, item in enumerate(root.items) if at and _takes(call, item)), None)
        if index is None:
            return root
        root = replace(root, items=root.items[index:])
    return root


def _takes(call: Call, item: Item) -> bool:
    """Whether another loop, comprehension or function took an item."""
    if not isinstance(item, Event) or item.kind is not Kind.ITEM:
        return False
    for place in call.code.at(call.sites[item.site]):
        around = call.code.parent(place)
        if isinstance(around, ast.comprehension):
            return call.comprehension is None or around not in call.comprehension.generators
        if isinstance(around, ast.For | ast.AsyncFor):
            return True
        if isinstance(around, ast.Call) and call.sites[item.site].kind == HANDED:
            return around is not call.handed
    return False
