"""How a row of the list of passes and rewrites reads."""

from __future__ import annotations

from collections.abc import Callable, Collection

from qdqviz.draw.text import cut, cut_middle, cut_words, pad, width
from qdqviz.ir.labels import short_name
from qdqviz.ir.text import safe_text
from qdqviz.trace.model import PassRun
from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.outline import Row
from qdqviz.tui.model.verdicts import Badge

Run = tuple[str, str]
"""A text and the key of its style."""

BadgeOf = Callable[[Row], "Badge | None"]
"""Badges of rows that have one."""

_INDENT = 2
"""Columns for each run that a row lies in."""


def row_runs(
    row: Row,
    lists: Lists,
    title_of: Callable[[int], str | None],
    closed: Collection[int],
    columns: int,
    badge_of: BadgeOf | None = None,
) -> list[Run]:
    """A row in exactly `columns` columns.

    Args:
        row: The row.
        lists: The trace's lists.
        title_of: Titles of rewrites as far as they are known; safe to show.
        closed: Runs whose content is folded away.
        columns: Width.
        badge_of: Gives badges; None leaves out their column.
    """
    lead = " " * (_INDENT * min(row.depth, 6))
    badge = _badge(row, badge_of)
    room = columns - len(lead) - sum(width(text) for text, _ in badge)
    runs = [(lead, ""), *badge, *_content(row, lists, title_of, closed, room)]
    used = sum(width(text) for text, _ in runs)
    if used < columns:
        runs.append((" " * (columns - used), ""))
    return runs


def _badge(row: Row, badge_of: BadgeOf | None) -> list[Run]:
    if badge_of is None or row.kind not in ("run", "step"):
        return []
    sign, style = badge_of(row) or (" ", "")
    return [(f"{sign} ", style)]


def _content(
    row: Row, lists: Lists, title_of: Callable[[int], str | None], closed: Collection[int], room: int
) -> list[Run]:
    match row.kind:
        case "start":
            subject = next(each for each in lists.subjects if each.id == row.subject)
            return _ends(f"○ {safe_text(subject.name)}", "bold", subject.dialect, room)
        case "run":
            assert row.run is not None
            return _run(lists.runs[row.run], row, lists, closed, room)
        case "step":
            assert row.step is not None
            return _step(row.step, lists, title_of, room)
    assert row.run is not None
    run = lists.runs[row.run]
    if run.error is not None and row.kind == "error":
        return [(cut(safe_text(f"✗ {run.error.type}: {run.error.message}"), room), "ui.error")]
    return [(cut(f"  {run.declined:,} declined", room), "muted")]


def _run(run: PassRun, row: Row, lists: Lists, closed: Collection[int], room: int) -> list[Run]:
    has_rows = run.rewrites or run.declined or run.error or lists.children.get(run.id)
    sign = "▸" if run.id in closed else "▾"
    if run.error is not None:
        sign = "✗"
    elif not has_rows:
        sign = "·"
    name = safe_text(run.label)
    if len(lists.subjects) > 1 and row.depth == 0:
        subject = next(each.name for each in lists.subjects if each.id == row.subject)
        name = f"{name} · {safe_text(subject)}" if subject != "forward" else name
    style = "ui.error" if run.error else "bold" if run.rewrites else "muted"
    count = f"{run.rewrites:,}" if run.done else f"{run.rewrites:,} …"
    return _ends(f"{sign} {name}", style, count, room, keep_end=True)


def _step(step: int, lists: Lists, title_of: Callable[[int], str | None], room: int) -> list[Run]:
    number = str(step).rjust(len(str(lists.steps)))
    title = title_of(step)
    style = "" if title is not None else "muted"
    if title is None:
        title = safe_text(short_name(lists.headers[step - 1].name))
    return [(f"{number} ", "muted"), (cut_words(title, room - len(number) - 1), style)]


def _ends(text: str, style: str, end: str, room: int, *, keep_end: bool = False) -> list[Run]:
    """A text at the left and a short one at the right end."""
    left = room - width(end) - 1
    shown = cut_middle(text, left) if keep_end else cut(text, left)
    return [(pad(shown, left), style), (f" {end}", "muted")]
