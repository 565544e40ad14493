"""Facts with the short names of nodes, as the boxes of pictures have them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from qdqviz.ir.labels import shortened
from qdqviz.tui.model.details.fact import Fact, Part

_CODE = re.compile(r"(`[^`]*`|[^\s=]+ = $)")
"""Source text within a part: in backticks, or what a value is the value of."""


def with_short_names(facts: Iterable[Fact]) -> list[Fact]:
    """The same facts with short names of nodes, save where two would read alike; source text stays."""
    given = list(facts)
    pieces = [[_CODE.split(part.text) for part in fact.parts] for fact in given]
    # Splitting at a group puts text at even places and code at odd ones.
    texts = iter(shortened([text for fact in pieces for part in fact for text in part[::2]]))

    def brief(part: Part, split: list[str]) -> Part:
        text = "".join(piece if at % 2 else next(texts) for at, piece in enumerate(split))
        return part if text == part.text else replace(part, text=text)

    return [
        replace(fact, parts=tuple(map(brief, fact.parts, split)))
        for fact, split in zip(given, pieces, strict=True)
    ]
