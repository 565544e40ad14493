"""The Check tab: whether a rewrite or a pass kept the values, faults in metadata, what is being tried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from qdqviz.ir.labels import short_name, shortened
from qdqviz.ir.text import safe_text
from qdqviz.tui.model.details.fact import HEADING, Fact, Part, heading, plain_fact
from qdqviz.tui.model.details.leads import ToStep
from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.trial import Trial
from qdqviz.tui.model.verdicts import FAULT, Verdicts, badge_of

if TYPE_CHECKING:
    from qdqviz.check.lint import Finding
    from qdqviz.check.report import Judgement, RewriteCheck

MOST_LISTED = 200
"""Rewrites that are listed."""

_INDENT = 2
"""Columns that belong to the sign."""

NO_PROGRAM = "a trace alone cannot be run: open the target with its passes to check values, veto and force"
"""Said where there is no program."""

TitleOf = Callable[[int], "str | None"]
"""Titles of rewrites as far as they are known; safe to show."""


def check_facts(
    verdicts: Verdicts, lists: Lists | None, place: Place, trial: Trial, title_of: TitleOf
) -> list[Fact]:
    """What the Check tab says.

    Args:
        verdicts: What is known.
        lists: The trace's lists.
        place: Where one is.
        trial: What is being tried out.
        title_of: Titles of rewrites.
    """
    if lists is None:
        return []
    return [
        *_here(verdicts, place),
        *_faults(verdicts, place),
        *_trial(trial),
        *_all(verdicts, lists, title_of),
        *_all_faults(verdicts, place),
    ]


def _here(verdicts: Verdicts, place: Place) -> Iterator[Fact]:
    if not verdicts.has_program:
        yield heading(NO_PROGRAM, "muted")
        return
    if place.step is not None:
        check = verdicts.rewrites.get(place.step)
        if check is not None:
            yield from _judged("this rewrite", check.judgement)
    elif place.run is not None and place.run in verdicts.passes:
        after = verdicts.passes[place.run]
        yield from _judged("outputs after this pass", after.judgement)
        yield from _judged("outputs since the start", after.since_start)
    if verdicts.reason:
        yield heading(f"values are not checked: {verdicts.reason}", "ui.warning")
    elif verdicts.state in ("waiting", "running"):
        yield heading(f"checking … {len(verdicts.rewrites):,} rewrites so far", "muted")


def _judged(what: str, judgement: Judgement) -> Iterator[Fact]:
    sign, style = badge_of(judgement)
    kind = f" ({judgement.kind.replace('_', ' ')})" if judgement.kind else ""
    verdict = f"{judgement.verdict.replace('_', ' ')}{kind}"
    yield heading(f"{sign} ", style, Part(f"{what}: ", "muted"), Part(verdict, "bold"))
    figures = _figures(judgement)
    if figures:
        yield _below(Part(figures))
    if judgement.where and judgement.verdict != "equal":
        yield _below(Part("where: ", "muted"), Part(_short(judgement.where)))
    if judgement.detail:
        yield _below(Part(_short(judgement.detail)))


def _below(*parts: Part) -> Fact:
    """What goes on with the line above it."""
    return Fact(HEADING, parts, _INDENT)


def _short(text: str) -> str:
    """A text with the names of nodes as the boxes have them; safe to show."""
    return safe_text(*shortened([text]))


def _figures(judgement: Judgement) -> str:
    parts = []
    if judgement.max_abs is not None and (judgement.max_abs or judgement.verdict != "equal"):
        parts.append(f"up to {judgement.max_abs:.3g}")
    if judgement.steps is not None and judgement.max_abs:
        parts.append(f"{judgement.steps:.3g} quantization steps")
    if judgement.sqnr is not None and isfinite(judgement.sqnr):
        parts.append(f"SQNR {judgement.sqnr:.1f} dB")
    return " · ".join(parts)


def _faults(verdicts: Verdicts, place: Place) -> Iterator[Fact]:
    if place.step is None:
        return
    for each in verdicts.findings.get(place.step, ()):
        yield from _fault(each)


def _fault(finding: Finding) -> Iterator[Fact]:
    sign, style = FAULT
    yield heading(f"{sign} ", style, Part(f"{finding.rule}: ", "bold"), Part(_short(finding.node)))
    yield plain_fact("  is", _short(finding.found))
    yield plain_fact("  should be", _short(finding.wanted))


def _trial(trial: Trial) -> Iterator[Fact]:
    if not trial.interventions:
        return
    yield heading("tried out", "ui.title_focus", Part("   i lists · u undoes the last", "muted"))
    for text in trial.texts:
        yield heading("  ", "", Part(safe_text(text)))
    if not trial.differences:
        yield heading("  every pass makes as many rewrites as without", "muted")
    for label, without, now in trial.differences:
        yield heading("  ", "", Part(safe_text(label), "bold"), Part(f"  {without} → {now} rewrites"))


def _all(verdicts: Verdicts, lists: Lists, title_of: TitleOf) -> Iterator[Fact]:
    if not verdicts.rewrites:
        return
    bad = verdicts.in_order()
    equal = len(verdicts.rewrites) - len(bad)
    counts = f"{len(verdicts.rewrites):,} checked, {equal:,} equal"
    yield heading(counts, "ui.title_focus", Part("  the others, the worst first" if bad else "", "muted"))
    yield from (_row(each, lists, title_of) for each in bad[:MOST_LISTED])
    if len(bad) > MOST_LISTED:
        yield heading(f"… and {len(bad) - MOST_LISTED:,} more", "muted")


def _row(each: RewriteCheck, lists: Lists, title_of: TitleOf) -> Fact:
    sign, style = badge_of(each.judgement)
    number = str(each.step).rjust(len(str(lists.steps)))
    title = title_of(each.step) or safe_text(short_name(each.focus))
    lead = ToStep(each.step)
    said = f"  {(each.judgement.kind or each.judgement.verdict).replace('_', ' ')}"
    size = "" if each.judgement.max_abs is None else f", up to {each.judgement.max_abs:.3g}"
    name = Part(f"  {safe_text(each.name)}", "muted", None, lead)
    return heading(
        f"{sign} ", style, Part(f"{number} {title}", "link", None, lead), Part(f"{said}{size}"), name
    )


def _all_faults(verdicts: Verdicts, place: Place) -> Iterator[Fact]:
    if not verdicts.is_linted:
        return
    elsewhere = [each for step, found in verdicts.findings.items() if step != place.step for each in found]
    if not verdicts.findings:
        yield heading("no faults in metadata", "muted")
        return
    if elsewhere:
        yield heading("faults in metadata", "ui.title_focus")
        yield from _fault_rows(elsewhere)


def _fault_rows(findings: Sequence[Finding]) -> Iterator[Fact]:
    for each in findings[:MOST_LISTED]:
        where = "left as it was" if each.step is None else f"step {each.step}"
        lead = None if each.step is None else ToStep(each.step)
        step = Part(where, "link" if lead else "muted", None, lead)
        node = Part(f"  {_short(each.node)}: {_short(each.found)}", "muted", None, lead)
        yield heading(f"{FAULT[0]} ", FAULT[1], step, Part(f"  {each.rule}", "", None, lead), node)
    if len(findings) > MOST_LISTED:
        yield heading(f"… and {len(findings) - MOST_LISTED:,} more", "muted")
