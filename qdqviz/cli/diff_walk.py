"""A diff in the terminal's application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqviz.draw.theme import DEFAULT_THEME
from qdqviz.tui.compare.app import run_compare
from qdqviz.tui.compare.source import Compared, Judgements

if TYPE_CHECKING:
    from qdqviz.cli.diff_sides import Diff, Side


def walk(diff: Diff, theme: str | None) -> None:
    """Walk through a diff until the person leaves."""
    run_compare(compared_of(diff), theme=theme or DEFAULT_THEME)


def compared_of(diff: Diff) -> Compared:
    """A diff as the application takes it."""
    names = diff.left.name, diff.right.name
    title = f"{diff.target}: {names[0]} | {names[1]}" if diff.target else f"{names[0]} | {names[1]}"
    checked = diff.left.check is not None or diff.right.check is not None
    judgements = _judgements(diff.left), _judgements(diff.right)
    return Compared(diff.comparison, diff.teller.sides, names, title, judgements, checked)


def _judgements(side: Side) -> Judgements:
    return {} if side.check is None else {each.step: each.judgement for each in side.check.rewrites}
