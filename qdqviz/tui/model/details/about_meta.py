"""The Meta tab: everything in a node's metadata, with what a rewrite lost or changed."""

from __future__ import annotations

from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState
from qdqviz.tui.model.details.about_node import TextOf, meta_text
from qdqviz.tui.model.details.difference import differing_facts
from qdqviz.tui.model.details.fact import Fact, Part, heading, lines_fact, plain_fact

LONGEST = 4000
"""Characters of one value that are shown."""


def meta_facts(before: Body | None, after: Body, node: int, text_of: TextOf) -> list[Fact]:
    """The metadata of a node, with what it was before where that differs."""
    old = None if before is None else before.get(node)
    new = after.get(node)
    shown = new or old
    if shown is None:
        return [plain_fact("", "this graph has no such node", "muted")]
    title = heading(f"metadata of {shown.name}")
    if old is None or new is None:
        return [title, *_facts(shown, text_of)]
    return [title, *differing_facts(_facts(old, text_of), _facts(new, text_of))]


def _facts(node: NodeState, text_of: TextOf) -> list[Fact]:
    facts = [_fact(key, meta_text(value, text_of)) for key, value in node.meta]
    if node.shares_meta is not None:
        shared = Part("the same dictionary as that of another node: editing one edits both", "mark.changed")
        facts.append(Fact("shared", (shared,)))
    return facts or [plain_fact("", "none", "muted")]


def _fact(key: str, text: str) -> Fact:
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return lines_fact(key, [line.strip() for line in cut.strip().splitlines()] or [""])
