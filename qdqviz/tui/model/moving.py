"""From place to place: next rewrite, next pass, first and last."""

from __future__ import annotations

from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.outline import Outline
from qdqviz.tui.model.place import Place


def step_place(lists: Lists, step: int) -> Place:
    """The place of a step."""
    header = lists.headers[step - 1]
    return Place("step", header.subject, header.run, step)


def step_at(lists: Lists, place: Place) -> int:
    """The last step that has happened in the state that a place shows."""
    if place.step is not None:
        return place.step
    if place.run is None:
        return last_step_before(lists, place)
    run = lists.runs[place.run]
    return run.last_step if place.kind in ("run", "error") else run.first_step


def last_step_before(lists: Lists, place: Place) -> int:
    """The last step that had happened when one came to a place; 0 where there was none."""
    if place.step is not None:
        return place.step - 1
    if place.run is None:
        runs = [run.first_step for run in lists.runs if run.subject == place.subject]
        return runs[0] if runs else 0
    run = lists.runs[place.run]
    return run.first_step if place.kind == "run" else run.last_step


def next_step(lists: Lists, place: Place, by: int) -> Place | None:
    """The rewrite that follows a place (`by` 1), or comes before it (-1); None at the ends."""
    before = last_step_before(lists, place)
    step = before + (2 if place.step is not None else 1) if by > 0 else before
    return step_place(lists, step) if 1 <= step <= lists.steps else None


def next_run(outline: Outline, place: Place, by: int) -> Place | None:
    """The pass that follows a place (`by` 1), or the one that it is in or comes before it (-1)."""
    here = outline.nearest(place)
    rows = range(here + 1, len(outline.rows)) if by > 0 else range(here - 1, -1, -1)
    return next((outline.rows[i].place for i in rows if outline.rows[i].kind in ("run", "start")), None)


def opening_place(lists: Lists) -> Place | None:
    """Where one begins: at the first rewrite; where none will come at the pass that raised, or the first one.

    While passes run, and where none did, at the start of the first subject.
    """
    if lists.headers:
        return step_place(lists, 1)
    runs = [run for run in lists.runs if run.kind == "pass"] if lists.complete else []
    if runs:
        run = next((each for each in reversed(runs) if each.error is not None), runs[0])
        return Place("run", run.subject, run.id)
    return Place("start", lists.subjects[0].id) if lists.subjects else None
