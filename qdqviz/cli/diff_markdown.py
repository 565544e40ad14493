"""A diff as Markdown, for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from qdqviz.cli.diff_figures import subject_rows
from qdqviz.cli.diff_text import (
    MOST_LINES,
    TITLES,
    Row,
    by_run,
    numerics_text,
    pass_remark,
    remarks,
    same_graphs,
)

if TYPE_CHECKING:
    from qdqviz.cli.diff_sides import Diff
    from qdqviz.explain.difference import Told
    from qdqviz.trace.compare.model import SubjectPair

MOST_REWRITES = 50
"""How many rewrites are listed; a comment in a pull request has an end."""

_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"[\\`*{}\[\]<>|#@!~&]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown could take for markup; an underscore within a word it does not."""


def page(rows: Sequence[Row], *, brief: bool) -> Iterator[str]:
    """The table of all targets, then each one's report, folded."""
    yield from ("### What the passes do", "")
    yield from _table([TITLES, *((row.target, *row.cells) for row in rows)])
    for row in [] if brief else rows:
        if len(rows) == 1:
            yield from ("", *row.lines)
        elif row.differs:
            yield from (
                "",
                f"<details><summary>{text(row.target)}</summary>",
                "",
                *row.lines,
                "",
                "</details>",
            )


def lines(diff: Diff, *, brief: bool, metadata: bool) -> Iterator[str]:
    """The report of one comparison."""
    for name, side in zip(diff.teller.sides, (diff.left, diff.right), strict=True):
        error = f", {text(side.error)}" if side.error else ""
        yield f"- **{name}**: {text(side.name)}{error}"
    if not diff.comparison.same_model:
        yield "- the programs differ before any pass: were they built from the same model?"
    yield ""
    count = 0
    for run, groups in () if brief else by_run(diff, metadata=metadata):
        yield f"- **{text(diff.teller.run_place(run))}**"
        for group in groups:
            shown = group[: max(MOST_REWRITES - count, 0)]
            yield from _group(diff, shown, metadata=metadata)
            count += len(group)
    if count > MOST_REWRITES:
        yield f"- … and {count - MOST_REWRITES} more rewrites"
    for run in diff.comparison.runs:
        remark = pass_remark(diff, run)
        if remark:
            yield f"- {text(diff.teller.run_place(run))}: {text(remark)}"
    yield from (f"- {text(each)}" for each in remarks(diff))
    both = [each for each in diff.comparison.subjects if each.left is not None and each.right is not None]
    told = [each for each in both if len(both) == 1 or not each.final.equal]
    if len(told) < len(both):
        yield f"- {same_graphs(len(both) - len(told))}"
    for subject in told:
        yield from _graph(diff, subject, brief=brief, metadata=metadata)


def _graph(diff: Diff, subject: SubjectPair, *, brief: bool, metadata: bool) -> Iterator[str]:
    """The final graphs: what differs, and the numbers that do."""
    name = text(diff.teller.graph_name(subject))
    if subject.final.equal:
        yield f"- the final graph {name} is the same"
    else:
        yield f"- the final graph {name} differs"
        found = [] if brief else list(diff.teller.graph(subject, subject.final, metadata=metadata))
        yield from (f"  - {text(line)}" for line in found[:MOST_LINES])
        if len(found) > MOST_LINES:
            yield f"  - … and {len(found) - MOST_LINES} more"
    rows = subject_rows(subject, diff.teller.sides)
    different = [row for row in rows[1:] if row[-1]]
    if different:
        yield ""
        yield from _table([rows[0], *different])


def _group(diff: Diff, group: Sequence[Told], *, metadata: bool) -> Iterator[str]:
    """Rewrites that one side lacks for one reason, or that differ."""
    indent = "  "
    if group and group[0].lacking:
        side = diff.teller.sides[0 if group[0].pair.right is None else 1]
        yield f"  - only {side}; {text(group[0].lacking)}"
        indent = "    "
    for told in group:
        yield from (f"{indent}{line}" for line in _rewrite(diff, told, metadata=metadata))


def _rewrite(diff: Diff, told: Told, *, metadata: bool) -> Iterator[str]:
    pair = told.pair
    steps = " → ".join(f"step {step}" for step in (pair.left, pair.right) if step is not None)
    titles = " → ".join(dict.fromkeys(each for each in (told.left, told.right) if each))
    numerics = numerics_text(diff, pair)
    values = f" (numerics: {text(numerics)})" if numerics else ""
    yield f"- {steps}: {text(titles)}{values}"
    yield from (f"  - {text(line)}" for line in told.lines if metadata or not line.startswith("metadata: "))


def text(words: str) -> str:
    """Text from a graph, a pass or a file name: what stands in backticks as code, nothing else as markup."""
    parts = _CODE.split(" ".join(words.split()))
    return "".join(part if index % 2 else _MARKUP.sub(r"\\\g<0>", part) for index, part in enumerate(parts))


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    width = max(len(row) for row in rows)
    for index, row in enumerate(rows):
        yield f"| {' | '.join(map(text, (*row, *[''] * (width - len(row)))))} |"
        if index == 0:
            yield f"|{' --- |' * width}"
