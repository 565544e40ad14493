"""What is being tried out: interventions in force, and what the passes do differently because of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qdqviz.trace.model import PassRun
from qdqviz.tui.model.lists import Lists
from qdqviz.tui.model.moving import step_place
from qdqviz.tui.model.place import Place

if TYPE_CHECKING:
    from qdqviz.live.interventions import Intervention


@dataclass(frozen=True)
class Trial:
    """A run of the passes with interventions; without any it is the first run."""

    interventions: tuple[Intervention, ...] = ()
    """What is in force, in the order in which it was asked for."""
    before: Mapping[str, int] = field(default_factory=dict)
    """Rewrites of each pass run without interventions, by label."""
    now: Mapping[str, int] = field(default_factory=dict)
    """The same with them."""

    @property
    def texts(self) -> list[str]:
        """The interventions, a line each; not safe to show."""
        return [intervention_text(each) for each in self.interventions]

    @property
    def differences(self) -> list[tuple[str, int | str, int | str]]:
        """(label, rewrites without, rewrites with) of the pass runs that differ; `-` where there is none."""
        labels = dict.fromkeys([*self.before, *self.now])
        pairs = [(label, self.before.get(label), self.now.get(label)) for label in labels]
        return [
            (label, "-" if without is None else without, "-" if now is None else now)
            for label, without, now in pairs
            if without != now
        ]


def intervention_text(each: Intervention) -> str:
    """`veto Fuse at mm_3`; `force Fuse at mm_3: fuse.py:41:11 comes out as true`; not safe to show."""
    from qdqviz.live.interventions import Force

    node = f"{each.path}/{each.node}" if each.path else each.node
    if not isinstance(each, Force):
        return f"veto {each.run} at {node}"
    outcome = "the opposite" if each.outcome is None else str(each.outcome).lower()
    file = f"{each.file}:" if each.file else ""
    return f"force {each.run} at {node}: {file}{each.line}:{each.column} comes out as {outcome}"


def rewrites_by_label(runs: Iterable[PassRun]) -> dict[str, int]:
    """Rewrites of each pass run."""
    return {run.label: run.rewrites for run in runs if run.kind == "pass"}


def same_place(old: Lists, new: Lists, place: Place) -> Place:
    """The place in another run of the same passes that is most like one: that rewrite, else that pass.

    Args:
        old: The lists that the place belongs to.
        new: Those of the other run.
        place: The place.
    """
    if place.run is None:
        known = any(each.id == place.subject for each in new.subjects)
        return place if known else Place("start", new.subjects[0].id)
    was = old.runs[place.run]
    names = {old_subject.id: old_subject.name for old_subject in old.subjects}
    found = next(
        (
            run
            for run in new.runs
            if (run.label, run.kind) == (was.label, was.kind)
            and _name(new, run.subject) == names.get(was.subject)
        ),
        None,
    )
    if found is None:
        return Place("start", new.subjects[0].id)
    if place.step is not None:
        name = old.headers[place.step - 1].name
        for step in new.own_steps.get(found.id, ()):
            if new.headers[step - 1].name == name:
                return step_place(new, step)
        return Place("run", found.subject, found.id)
    return Place(place.kind, found.subject, found.id)


def _name(lists: Lists, subject: int) -> str | None:
    return next((each.name for each in lists.subjects if each.id == subject), None)
