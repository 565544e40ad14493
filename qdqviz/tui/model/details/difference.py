"""Facts about one thing before and after a rewrite, as one list that says what differs."""

from __future__ import annotations

from collections.abc import Sequence

from qdqviz.tui.model.details.fact import Fact, Part


def differing_facts(before: Sequence[Fact], after: Sequence[Fact]) -> list[Fact]:
    """The facts after; below each that was another before, what it was. Labels are unique in each list."""
    old = {fact.label: fact for fact in before}
    found: list[Fact] = []
    for fact in after:
        found.append(fact)
        was = old.pop(fact.label, None)
        if was is None:
            found.append(Fact("", (Part("not so before", "mark.added"),)))
        elif was.text != fact.text:
            found.append(_was(was, ""))
    return [*found, *(_was(fact, fact.label) for fact in old.values())]


def _was(fact: Fact, label: str) -> Fact:
    return Fact(label, (Part("was ", "mark.removed"), *fact.parts))
