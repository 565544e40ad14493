"""An answer's lines with the short names of nodes, for people; source text in them stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qdqviz.explain.answer import Guard, NodeLink, Why
from qdqviz.explain.ask import states_of
from qdqviz.ir.labels import short_names
from qdqviz.trace.reader import Trace

_CODE = re.compile(r"""(`[^`]*`|“[^”]*”|'[^']*'|"[^"]*"|^\s+from .*|(?<![^\s(])[^\s(]++ = )""")
"""What is no sentence: source text, docstrings, strings that a test saw, what a value is the value of."""

_WORD = re.compile(r"(?<![\w.])\w+(?!\w|\.\w)")
"""A word that is no part of a dotted name: ops, attributes and files keep theirs."""


def brief_lines(trace: Trace, answer: Why) -> tuple[str, ...]:
    """The sentences of an answer, with the names that pictures and other commands use for its nodes.

    Where two nodes of the answer would read alike, or one like another node's whole name, the whole name
    stays; what is said is otherwise `answer.sentences`.

    Args:
        trace: The trace that was asked.
        answer: The answer.
    """
    known = _names(trace, answer)
    lines = answer.sentences
    told = {word for line in lines for text in _prose(line) for word in _WORD.findall(text) if word in known}
    short = {name: brief for name, brief in short_names(told).items() if brief not in known}
    return tuple(_shortened(line, short) for line in lines)


def _names(trace: Trace, answer: Why) -> set[str]:
    """The whole names of all nodes that an answer may speak of."""
    states = states_of(trace, trace.runs[answer.run])
    names = {node.name for state in states for path in state.paths() for node in state.body(path)}
    return names | {link.name for link in _links(answer)}


def _links(answer: Why) -> Iterator[NodeLink]:
    """The nodes that an answer links to: they may have had another name at that instant."""
    yield from (link for link in (answer.node, answer.through) if link is not None)
    yield from answer.nearest
    for guard in (*answer.chain, *answer.passed):
        yield from _of_guard(guard)
    if answer.further is not None:
        yield from _links(answer.further)


def _of_guard(guard: Guard) -> Iterator[NodeLink]:
    for each in (guard, *guard.siblings):
        yield from each.nodes
        yield from each.about


def _prose(line: str) -> list[str]:
    return _CODE.split(line)[::2]


def _shortened(line: str, short: Mapping[str, str]) -> str:
    # Splitting at a group puts text at even places and code at odd ones.
    pieces = _CODE.split(line)
    pieces[::2] = [_WORD.sub(lambda found: short.get(found[0], found[0]), text) for text in pieces[::2]]
    return "".join(pieces)
