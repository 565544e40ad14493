"""Guards as facts: the test, where it stands, what it saw."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from qdqviz.ir.text import safe_text
from qdqviz.tui.model.details.fact import Fact, Part, heading
from qdqviz.tui.model.details.leads import ToLine, ToNode

if TYPE_CHECKING:
    from qdqviz.explain.answer import Guard, Seen

_INDENT = 2
"""Columns for each guard that one is led through."""

MOST_PASSED = 12
"""Tests that a node passed which are told; the last ones."""


def guard_facts(guard: Guard, depth: int, *, is_last: bool) -> Iterator[Fact]:
    """A guard of the chain with its siblings, what they saw, and what the predicate says of itself.

    Args:
        guard: The guard.
        depth: How many guards lead to it.
        is_last: Whether it is the one that turned the node down.
    """
    indent = _INDENT * depth
    for each in (*guard.siblings, guard):
        style = "ui.error" if is_last else "muted"
        test = Part(safe_text(_test(each)), "bold" if is_last else "", None, _lead(each))
        where = Part(f"  {safe_text(each.place)}", "link", None, _lead(each))
        inside = Part(f" in {safe_text(each.function)}", "muted")
        fact = heading("✗ " if is_last else "↳ ", style, test, where, inside)
        yield replace(fact, indent=indent)
        for seen in each.values:
            if not _says_it(each, seen):
                yield replace(heading("", "", *seen_parts(seen)), indent=indent + 2 * _INDENT)
        if each.bound:
            yield replace(heading(f"from {each.bound}", "muted"), indent=indent + 2 * _INDENT)
    if guard.reason:
        yield replace(heading(f"“{guard.reason}”", "source.note"), indent=indent + 2 * _INDENT)


def passed_facts(passed: Sequence[Guard]) -> Iterator[Fact]:
    """The tests that a node had passed before."""
    if not passed:
        return
    left_out = len(passed) - MOST_PASSED
    more = f", the last {MOST_PASSED} of {len(passed)}" if left_out > 0 else ""
    yield heading(f"it had passed{more}", "ui.title_focus")
    for guard in passed[-MOST_PASSED:]:
        place = Part(f"  {safe_text(guard.place)}", "link", None, _lead(guard))
        yield heading("✓ ", "ui.ok", Part(safe_text(_test(guard)), "muted", None, _lead(guard)), place)


def seen_parts(seen: Seen) -> tuple[Part, ...]:
    """`node.users = [add, mul]`, with the nodes in it as links; those that it leaves out come after it."""
    links = {node.name: ToNode(node.id, node.path) for node in seen.nodes}
    parts = [Part(f"{safe_text(seen.text)} = ", "muted")]
    for piece in _pieces(seen.value, links):
        lead = links.pop(piece, None)
        parts.append(Part(safe_text(piece), "link" if lead else "", None, lead))
    if len(seen.nodes) > 1:
        for name, lead in links.items():
            parts += [Part("  "), Part(safe_text(name), "link", None, lead)]
    return tuple(parts)


def _pieces(text: str, names: Collection[str]) -> list[str]:
    """A text cut before and after each of some names, wherever these stand as words."""
    if not names:
        return [text]
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    words = "|".join(map(re.escape, longest_first))
    return [piece for piece in re.split(rf"(?<!\w)({words})(?!\w)", text) if piece]


def _test(guard: Guard) -> str:
    from qdqviz.explain.why_text import test_text

    return " ".join(test_text(guard).split())


def _lead(guard: Guard) -> ToLine:
    return ToLine(guard.file, guard.line, guard)


def _says_it(guard: Guard, seen: Seen) -> bool:
    """Whether a value only repeats how a test came out."""
    return seen.text == guard.text and seen.value in ("True", "False")
