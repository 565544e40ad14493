"""What the tabs Why and Check say of a pair of rewrites, or of a program's two final graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from qdqviz.explain.difference import Told
from qdqviz.ir.text import safe_text
from qdqviz.trace.compare.model import Difference, SubjectPair
from qdqviz.tui.compare.archive import PairArchive
from qdqviz.tui.compare.sight import sentence
from qdqviz.tui.model.details.fact import Fact, Part, heading, plain_fact
from qdqviz.tui.model.details.guard_facts import guard_facts, passed_facts
from qdqviz.tui.model.details.leads import ToNode, ToStep
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.verdicts import Badge, badge_of

if TYPE_CHECKING:
    from qdqviz.check.report import Judgement
    from qdqviz.explain.answer import Why

BADGES: dict[str, Badge] = {
    "different": ("≠", "mark.changed"),
    "only_left": ("-", "mark.removed"),
    "only_right": ("+", "mark.added"),
    "metadata": ("≈", "muted"),
    "equal": ("=", "muted"),
}
"""How a pair of rewrites compares: signs before its row."""

MOST_LINES = 200
"""How many differences between final graphs are listed."""


def pair_badge(archive: PairArchive, step: int) -> Badge:
    """The sign of a pair."""
    pair = archive.item(step).pair
    return BADGES["metadata" if pair.is_metadata else pair.status]


def why_facts(archive: PairArchive, place: Place) -> list[Fact]:
    """What differs, and why one side lacks what the other has."""
    if place.step is not None:
        return list(_of_pair(archive, place.step))
    facts = [heading(sentence(archive, place))]
    if place.run is not None:
        return facts
    return [*facts, *_of_graphs(archive, archive.subject(place.subject))]


def _of_pair(archive: PairArchive, step: int) -> Iterator[Fact]:
    told = archive.told(step)
    yield heading(*pair_badge(archive, step), Part(f" {_status(told, archive)}", "bold"))
    for side, number, title in zip(
        archive.compared.sides, (told.pair.left, told.pair.right), (told.left, told.right), strict=True
    ):
        where = "no such rewrite" if number is None else f"step {number}: {title}"
        yield plain_fact(side, where, "muted" if number is None else "")
    yield from (_difference(archive, told, each) for each in told.pair.differences if not each.is_metadata)
    yield from (plain_fact("", line, "muted") for line in told.lines if line.startswith("metadata: "))
    if told.pair.other_focus:
        yield plain_fact("", "the passes looked at other nodes and did the same", "muted")
    if told.lacking:
        yield heading("✗ ", "mark.removed", Part(safe_text(_lacking(told, archive)), "bold"))
    if told.why is not None:
        lacks_right = told.pair.right is None
        yield from (_renumbered(fact, archive) if lacks_right else fact for fact in _guards(told.why))


def _status(told: Told, archive: PairArchive) -> str:
    name = archive.teller.run_name(told.run)
    match told.pair.status:
        case "equal":
            said = "the same in both"
        case "different":
            said = "the same but for metadata" if told.pair.is_metadata else "differs"
        case "only_left":
            said = f"only {archive.compared.sides[0]}"
        case _:
            said = f"only {archive.compared.sides[1]}"
    return safe_text(f"{said}: {name}")


def _lacking(told: Told, archive: PairArchive) -> str:
    """Why a side lacks a rewrite; where guards follow that say it, no more than that it declined."""
    if told.guard is None:
        return told.lacking
    here, there = archive.compared.sides[:: 1 if told.pair.left is None else -1]
    more = f"; {there} asks the same, and saw something else" if told.follows else ""
    return f"{here} declined{more}"


def _difference(archive: PairArchive, told: Told, each: Difference) -> Fact:
    line = archive.teller.lines(told.pair).line(each)
    node = None
    if each.left is not None:
        node = each.left.id
    elif each.right is not None:
        node = archive.number(each.right.id)
    return Fact("differs", (Part(safe_text(line), "link", node),))


def _guards(why: Why) -> Iterator[Fact]:
    for depth, guard in enumerate(why.chain):
        yield from guard_facts(guard, depth, is_last=depth == len(why.chain) - 1)
    yield from passed_facts(why.passed)


def _renumbered(fact: Fact, archive: PairArchive) -> Fact:
    """A fact about the right trace, its nodes by the numbers under which they are shown."""
    return replace(fact, parts=tuple(_renumbered_part(part, archive) for part in fact.parts))


def _renumbered_part(part: Part, archive: PairArchive) -> Part:
    if not isinstance(part.lead, ToNode):
        return part
    return replace(part, lead=replace(part.lead, node=archive.number(part.lead.node)))


def _of_graphs(archive: PairArchive, subject: SubjectPair) -> Iterator[Fact]:
    if subject.left is None or subject.right is None:
        return
    if not subject.first.equal:
        yield heading(
            "the programs differ before any pass: were they built from the same model?", "ui.warning"
        )
    rows = (
        ("nodes", subject.left_final.nodes, subject.right_final.nodes),
        ("quantize", subject.left_final.quantize, subject.right_final.quantize),
        ("dequantize", subject.left_final.dequantize, subject.right_final.dequantize),
        ("requantize", subject.left_final.requantize, subject.right_final.requantize),
        ("bytes moved", subject.left_final.moved_bytes, subject.right_final.moved_bytes),
        ("live peak", subject.left_final.peak_bytes, subject.right_final.peak_bytes),
        ("byte-steps", subject.left_final.byte_steps, subject.right_final.byte_steps),
    )
    for name, left, right in rows:
        if left == right:
            yield plain_fact(name, f"{left:,}", "muted")
        else:
            yield plain_fact(name, f"{left:,} → {right:,}", "mark.changed")
    lines = list(archive.teller.graph(subject, subject.final, metadata=True))
    yield from (plain_fact("", line) for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield heading(f"… and {len(lines) - MOST_LINES:,} more", "muted")


# -- numerics ----------------------------------------------------------------------------------------


def check_facts(archive: PairArchive, place: Place) -> list[Fact]:
    """The numerics of either side: of this pair, then of all whose verdicts are bad."""
    compared = archive.compared
    if not compared.checked:
        return [
            heading(
                "numerics are known where a target is recorded: qdqviz diff TARGET --old … --new …", "muted"
            )
        ]
    facts: list[Fact] = []
    if place.step is not None:
        pair = archive.item(place.step).pair
        for index, number in enumerate((pair.left, pair.right)):
            facts += _judged(compared.sides[index], _judgement(archive, index, number))
    bad = list(_bad(archive))
    title = "rewrites that change values" if bad else "no rewrite changes values"
    return [*facts, heading(title, "ui.title_focus"), *bad]


def _judgement(archive: PairArchive, side: int, step: int | None) -> Judgement | None:
    return None if step is None else archive.compared.judgements[side].get(step)


def _judged(name: str, judgement: Judgement | None) -> Iterator[Fact]:
    if judgement is None:
        yield plain_fact(name, "no such rewrite, or not checked", "muted")
        return
    sign, style = badge_of(judgement)
    yield Fact(safe_text(name), (Part(f"{sign} ", style), Part(_verdict(judgement), "bold")))
    if judgement.where and judgement.verdict != "equal":
        yield plain_fact("", judgement.where)
    if judgement.detail:
        yield plain_fact("", judgement.detail)


def _verdict(judgement: Judgement) -> str:
    kind = f" ({judgement.kind.replace('_', ' ')})" if judgement.kind else ""
    size = f", up to {judgement.max_abs:.3g}" if judgement.max_abs and judgement.verdict == "differs" else ""
    return f"{judgement.verdict.replace('_', ' ')}{kind}{size}"


def _bad(archive: PairArchive) -> Iterator[Fact]:
    for number, item in enumerate(archive.pairs.items, 1):
        found = [_judgement(archive, i, n) for i, n in enumerate((item.pair.left, item.pair.right))]
        if all(each is None or each.verdict == "equal" for each in found):
            continue
        told = " → ".join("-" if each is None else _verdict(each) for each in found)
        name = archive.known_title(number) or safe_text(archive.lists.headers[number - 1].name)
        yield heading(f"{number} ", "muted", Part(name, "link", None, ToStep(number)), Part(f"  {told}"))
