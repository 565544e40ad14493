"""What a pass saw at a line of its source, in a few words."""

from __future__ import annotations

from qdqviz.draw.text import cut, cut_middle
from qdqviz.explain.seen_text import NO_CONTENT, seen_text
from qdqviz.ir.values import Atom, Value
from qdqviz.trace.events import Event, Kind, Site

_SIDE = 44
"""Columns of one side of a comparison."""

_TEST = 40
"""Columns of a test's own text, where it has to be told from others on its line."""

_PLAIN = frozenset({"if", "elif", "while", "assert"})
"""Kinds of tests that are all of their statement's test, so that their text is read off the line."""


def note_of(event: Event, site: Site) -> str:
    """What an event says, beside the line of its site; empty where the line says it. Not safe to show."""
    match event.kind:
        case Kind.COMPARE:
            sides = [_short(value) for value in event.values]
            return f"{f' {site.operator} '.join(sides)} → {_truth(event)}"
        case Kind.TEST | Kind.VALUE:
            return _test(event, site)
        case Kind.CASE:
            return "matches" if event.outcome else "no match"
        case Kind.OPERAND:
            return _operand(event, site)
        case Kind.ITEM:
            return _short(event.values[0]) if event.values else ""
        case Kind.LOOP:
            return _loop(event)
        case Kind.EXCEPT:
            return ": ".join(str(value) for value in event.values[:2] if value)
        case Kind.LEAVE:
            return _leave(event)
    return ""


def _test(event: Event, site: Site) -> str:
    seen = event.values[0] if event.values else None
    if event.kind is Kind.VALUE and event.outcome is None:
        return _short(seen)
    is_whole = site.kind in _PLAIN and not site.negated
    what = _short(seen) if event.values and not isinstance(seen, bool) else ""
    if not what and not is_whole:
        what = cut_middle(site.text, _TEST)
    return f"{what} → {_truth(event)}".lstrip()


def _operand(event: Event, site: Site) -> str:
    """What a call asked about, by its own text: there may be several of one call. Objects say nothing."""
    if not event.values or (isinstance(event.values[0], Atom) and event.values[0].kind in NO_CONTENT):
        return ""
    return f"{cut_middle(site.text, _TEST)} = {_short(event.values[0])}"


def _loop(event: Event) -> str:
    count = str(event.values[0]) if event.values else "?"
    how = str(event.values[1]) if len(event.values) > 1 else "end"
    items = "no items" if count == "0" else f"{count} item{'' if count == '1' else 's'}"
    return items if how == "end" else f"{items}, left by {how}" if how in ("break", "return") else items


def _leave(event: Event) -> str:
    how = event.values[0] if event.values else None
    if how == "raise":
        return f"raises {event.values[1]}" if len(event.values) > 1 else "raises"
    if how != "return" or len(event.values) < 2:
        return ""
    return f"= {_short(event.values[1])}"


def _short(value: Value) -> str:
    return cut(seen_text(value), _SIDE)


def _truth(event: Event) -> str:
    return "?" if event.outcome is None else "true" if event.outcome else "false"
