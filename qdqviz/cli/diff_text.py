"""A diff as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from qdqviz.cli.diff_figures import FIGURES, change, graph_word, subject_rows
from qdqviz.cli.table import columns

if TYPE_CHECKING:
    from qdqviz.check.report import Judgement
    from qdqviz.cli.diff_sides import Diff
    from qdqviz.explain.difference import Told
    from qdqviz.trace.compare.model import RewritePair, RunPair

TITLES = (
    *("target", "old", "new", "same", "metadata", "differ", "only old", "only new", "graphs", "outputs"),
    *FIGURES,
)
"""Columns of the table of several targets; `metadata`: rewrites that differ there alone; `outputs`: what has
become of them since the start."""

MOST_LINES = 12
"""How many differences between final graphs are listed."""


class Row(Protocol):
    """One comparison, told."""

    @property
    def target(self) -> str:
        """Its name."""

    @property
    def cells(self) -> tuple[str, ...]:
        """Its row of the table; one cell where it could not be compared."""

    @property
    def differs(self) -> bool:
        """Whether there is more to say than the table does."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Its report."""


def page(rows: Sequence[Row], *, brief: bool) -> Iterator[str]:
    """One comparison's report; of several a table, then the reports of those that have any difference."""
    if len(rows) == 1:
        yield from rows[0].lines
        return
    table = [TITLES, *((row.target, *row.cells) for row in rows)]
    width = len(TITLES)
    yield from columns([(*cells, *[""] * (width - len(cells))) for cells in table], right=range(1, 8))
    for row in [] if brief else rows:
        if row.differs:
            yield from ("", f"== {row.target} ==", *row.lines)


def cells(diff: Diff) -> tuple[str, ...]:
    """The row of a comparison in the table, without the target."""
    found = diff.comparison
    counts = [
        diff.left.trace.steps,
        diff.right.trace.steps,
        found.count("equal"),
        len(found.metadata),
        *(found.count(status) for status in ("different", "only_left", "only_right")),
    ]
    numbers = (change(found, name) for name in FIGURES)
    return (*map(str, counts), graph_word(found), outputs_text(diff, short=True) or "-", *numbers)


def lines(diff: Diff, *, brief: bool, metadata: bool) -> Iterator[str]:
    """The report of one comparison."""
    yield from _head(diff)
    yield from _passes(diff)
    if not brief:
        for run, group in by_run(diff, metadata=metadata):
            yield from ("", diff.teller.run_place(run))
            for each in group:
                yield from _group(diff, each, metadata=metadata)
    yield from ("", *remarks(diff))
    yield from _graphs(diff, brief=brief, metadata=metadata)


def by_run(diff: Diff, *, metadata: bool) -> Iterator[tuple[RunPair, list[list[Told]]]]:
    """The rewrites that are not the same, by pass run, and there by the reason why one side lacks them."""
    for _, found in groupby(diff.teller.rewrites(metadata=metadata), key=lambda told: id(told.run)):
        groups: dict[tuple[str, str], list[Told]] = {}
        for told in found:
            key = (told.pair.status, told.lacking) if told.lacking else ("", "")
            groups.setdefault(key, []).append(told)
        first = next(iter(groups.values()))[0]
        yield first.run, list(groups.values())


def judged(judgement: Judgement | None) -> str:
    """`equal`, `differs (wrong) by 0.0232`, `-` where there is nothing."""
    if judgement is None:
        return "-"
    kind = f" ({judgement.kind})" if judgement.kind else ""
    size = f" by {judgement.max_abs:.3g}" if judgement.verdict == "differs" and judgement.max_abs else ""
    return f"{judgement.verdict}{kind}{size}"


def numerics_text(diff: Diff, pair: RewritePair) -> str:
    """What a pair of rewrites does to the values: `equal`, `differs (wrong) by 0.02 → equal`, or nothing."""
    found = [diff.left.judgement(pair.left), diff.right.judgement(pair.right)]
    told = [judged(each) for each, step in zip(found, (pair.left, pair.right), strict=True) if step]
    return " → ".join(dict.fromkeys(told)) if any(found) else ""


def outputs_text(diff: Diff, *, short: bool = False) -> str:
    """What has become of the outputs on both sides; nothing where numerics were not checked."""
    if diff.left.check is None and diff.right.check is None:
        return ""
    told = []
    for side in (diff.left, diff.right):
        found = side.outputs
        if found is None:
            told.append("-" if side.check is None else "equal" if side.trace.steps == 0 else "unknown")
        else:
            told.append(found.verdict if short else judged(found))
    return " → ".join(dict.fromkeys(told))


def remarks(diff: Diff) -> Iterator[str]:
    """What is to be said about the rewrites as a whole."""
    from qdqviz.explain.difference_text import metadata_keys, metadata_summary

    found = diff.comparison
    if found.metadata:
        keys = metadata_keys(each for pair in found.metadata for each in pair.differences)
        yield metadata_summary(len(found.metadata), keys)
    names = diff.teller.sides
    part = found.divergence
    if part is None and not found.differing:
        moved = any(run.moved for run in found.runs)
        yield f"the rewrites are the same{', by passes in another order' if moved else ''}"
    elif part is not None:
        points = [
            f"the end of {name}" if step is None else f"step {step} of {name}"
            for step, name in zip((part.left, part.right), names, strict=True)
        ]
        only = " (the same rewrites in another order)" if not found.differing else ""
        yield f"the rewrites part at {points[0]}, {points[1]}{only}"
    outputs = outputs_text(diff)
    if outputs:
        yield f"outputs since the start: {outputs}"


def _head(diff: Diff) -> Iterator[str]:
    from qdqviz.explain.naming import counted

    sides = (diff.left, diff.right)
    rows = [
        (name, side.name, counted(side.trace.steps, "rewrite"), side.error or "")
        for name, side in zip(diff.teller.sides, sides, strict=True)
    ]
    yield from columns(rows)
    for each in diff.comparison.subjects:
        name = diff.teller.graph_name(each)
        if each.left is None or each.right is None:
            side = diff.teller.sides[0 if each.right is None else 1]
            yield f"note: only {side} has the program {name}"
        elif not each.first.equal:
            yield f"note: {name} differs before any pass: was it built from the same model?"
            yield from _indented(list(diff.teller.graph(each, each.first)))
    yield ""


def _passes(diff: Diff) -> Iterator[str]:
    """How many rewrites of each pass run compare how; of several programs only runs that differ."""
    from qdqviz.explain.naming import counted

    names = diff.teller.sides
    rows: list[tuple[str, ...]] = [
        ("pass", "same", "metadata", "differ", f"only {names[0]}", f"only {names[1]}", "")
    ]
    several = len(diff.comparison.subjects) > 1
    equal = 0
    for run in diff.comparison.runs:
        remark = pass_remark(diff, run)
        if several and not remark and run.rewrites and not run.differing:
            equal += 1
        elif run.rewrites or remark:
            counts = [run.count("equal"), len(run.metadata)]
            counts += [run.count(status) for status in ("different", "only_left", "only_right")]
            rows.append((diff.teller.run_place(run), *map(str, counts), remark))
    if len(rows) > 1:
        yield from columns(rows, right=range(1, 6))
    if equal:
        yield f"{counted(equal, 'pass run')} on {len(diff.comparison.subjects)} programs did the same"


def pass_remark(diff: Diff, run: RunPair) -> str:
    """What is special about a pair of pass runs."""
    names = diff.teller.sides
    if run.left is None or run.right is None:
        return f"did not run in {names[0 if run.left is None else 1]}"
    return "runs at another place" if run.moved else ""


def _group(diff: Diff, group: Sequence[Told], *, metadata: bool) -> Iterator[str]:
    """Rewrites that one side lacks for one reason, or that differ."""
    if group[0].lacking:
        side = diff.teller.sides[0 if group[0].pair.right is None else 1]
        yield f"  only {side}; {group[0].lacking}"
    for told in group:
        yield from _rewrite(diff, told, metadata=metadata)


def _rewrite(diff: Diff, told: Told, *, metadata: bool) -> Iterator[str]:
    pair = told.pair
    steps = [("-" if step is None else str(step)).rjust(5) for step in (pair.left, pair.right)]
    titles = " | ".join(dict.fromkeys(each for each in (told.left, told.right) if each))
    numerics = numerics_text(diff, pair)
    values = f" (numerics: {numerics})" if numerics else ""
    yield f"{steps[0]} | {steps[1].lstrip():<5}  {titles}{values}"
    indent = " " * 15
    for line in told.lines:
        if metadata or not line.startswith("metadata: "):
            yield f"{indent}{line}"


def _graphs(diff: Diff, *, brief: bool, metadata: bool) -> Iterator[str]:
    both = [each for each in diff.comparison.subjects if each.left is not None and each.right is not None]
    told = [each for each in both if len(both) == 1 or not each.final.equal]
    if len(told) < len(both):
        yield from ("", same_graphs(len(both) - len(told)))
    for each in told:
        name = diff.teller.graph_name(each)
        yield ""
        if each.final.equal:
            yield f"the final graph {name} is the same"
        else:
            yield f"the final graph {name} differs"
            if not brief:
                yield from _indented(list(diff.teller.graph(each, each.final, metadata=metadata)))
        yield from columns(subject_rows(each, diff.teller.sides), right={1, 2, 3})


def same_graphs(count: int) -> str:
    """That so many programs of several do not differ at last."""
    return f"{count} final graph{' is' if count == 1 else 's are'} the same"


def _indented(found: Sequence[str]) -> Iterator[str]:
    yield from (f"  {line}" for line in found[:MOST_LINES])
    if len(found) > MOST_LINES:
        yield f"  … and {len(found) - MOST_LINES} more (--json lists all)"
