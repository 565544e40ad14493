"""What a person changes about a run of passes: rewrites to leave out, guards to go past."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeAlias

from qdqviz.errors import UsageError
from qdqviz.trace.events import Site


@dataclass(frozen=True, slots=True)
class Veto:
    """A pass must not look at a node: its loop skips it."""

    run: str
    """Label of the pass run: the pass's name, with `#2` for its second run."""
    node: str
    """Name that the node has when the pass comes to it."""
    path: str = ""
    """Graph that holds the node; empty for the outermost."""

    def __str__(self) -> str:
        return f"{self.run}:{_place(self.path, self.node)}"


@dataclass(frozen=True, slots=True)
class Force:
    """A decision about a node comes out the other way."""

    run: str
    """Label of the pass run."""
    node: str
    """Name that the node has when the pass comes to it."""
    line: int
    """Line of the decision, 1-based."""
    column: int
    """Column of the decision's first character, 0-based."""
    path: str = ""
    """Graph that holds the node; empty for the outermost."""
    file: str = ""
    """Name of the source file, without its folder; empty where the line says enough."""
    outcome: bool | None = None
    """How the decision is to come out; None turns whatever it was into its opposite."""

    def __str__(self) -> str:
        place = f"{self.file}:" if self.file else ""
        return f"{self.run}:{_place(self.path, self.node)}@{place}{self.line}:{self.column}"

    def is_at(self, site: Site) -> bool:
        """Whether a site is the one that is meant."""
        if (site.line, site.column) != (self.line, self.column):
            return False
        return not self.file or PurePath(site.file).name == self.file


Intervention: TypeAlias = "Veto | Force"


@dataclass(frozen=True, slots=True)
class RunSteering:
    """The interventions in one pass run."""

    vetoes: tuple[Veto, ...]
    """Nodes to skip."""
    forces: tuple[Force, ...]
    """Decisions to turn."""
    _used: dict[Intervention, int]
    _refused: dict[Intervention, str]

    def skips(self, path: str, node: str) -> bool:
        """Whether the pass must not look at a node; asking counts as the veto being used."""
        found = next((each for each in self.vetoes if (each.path, each.node) == (path, node)), None)
        if found is not None:
            self._used[found] = self._used.get(found, 0) + 1
        return found is not None

    def cannot_skip(self, path: str, node: str) -> None:
        """Take note that a node was handed out in a way that cannot be skipped."""
        for each in self.vetoes:
            if (each.path, each.node) == (path, node):
                self._refused[each] = "its pass takes the node from a worklist, which cannot be skipped"

    def forces_on(self, path: str, node: str) -> tuple[Force, ...]:
        """The decisions to turn while the pass looks at a node."""
        return tuple(each for each in self.forces if (each.path, each.node) == (path, node))

    def outcome(self, forced: Iterable[Force], site: Site, outcome: bool) -> bool:
        """How a decision at `site` comes out, given those of `forces_on` and how it came out by itself."""
        for each in forced:
            if each.is_at(site):
                self._used[each] = self._used.get(each, 0) + 1
                return (not outcome) if each.outcome is None else each.outcome
        return outcome


class Steering:
    """The interventions of a recording; the recorder asks it at every pass run."""

    def __init__(self, interventions: Sequence[Intervention]) -> None:
        self._interventions = tuple(interventions)
        self._used: dict[Intervention, int] = {}
        self._refused: dict[Intervention, str] = {}

    def of(self, run: str) -> RunSteering | None:
        """The interventions in the pass run of this label; None where there are none."""
        mine = [each for each in self._interventions if each.run == run]
        if not mine:
            return None
        vetoes = tuple(each for each in mine if isinstance(each, Veto))
        forces = tuple(each for each in mine if isinstance(each, Force))
        return RunSteering(vetoes, forces, self._used, self._refused)

    def unused(self) -> tuple[Intervention, ...]:
        """The interventions that met nothing: no such pass run, node or decision."""
        return tuple(each for each in self._interventions if each not in self._used)

    def reason(self, intervention: Intervention) -> str | None:
        """Why an intervention met nothing, where that is known."""
        return self._refused.get(intervention)


# -- as typed --------------------------------------------------------------------------------------

_FORCE = re.compile(r"^(?P<what>.+)@(?:(?P<file>[^@:]+):)?(?P<line>\d+):(?P<column>\d+)$")


def parse_veto(text: str) -> Veto:
    """`PASS:NODE` or `PASS:GRAPH/NODE`.

    Raises:
        UsageError: It is not of that form.
    """
    run, path, node = _split(text, "--veto PASS:NODE")
    return Veto(run, node, path)


def parse_force(text: str) -> Force:
    """`PASS:NODE@LINE:COL`, with the file's name before the line where several files are meant.

    Raises:
        UsageError: It is not of that form.
    """
    found = _FORCE.match(text)
    if found is None:
        raise UsageError(f"{text!r} is no decision: write --force PASS:NODE@LINE:COL")
    run, path, node = _split(found["what"], "--force PASS:NODE@LINE:COL")
    return Force(run, node, int(found["line"]), int(found["column"]), path, found["file"] or "")


def _split(text: str, form: str) -> tuple[str, str, str]:
    run, colon, place = text.partition(":")
    if not (run and colon and place):
        raise UsageError(f"{text!r} names no pass and node: write {form}")
    path, _, node = place.rpartition("/")
    return run, path, node


def _place(path: str, node: str) -> str:
    return f"{path}/{node}" if path else node
