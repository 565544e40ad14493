"""What a case for a guard is: a graph that one guard, and no other, keeps a pass from rewriting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from torch.fx import GraphModule

Build: TypeAlias = Callable[[], GraphModule]


@dataclass(frozen=True)
class Case:
    """A graph that one guard, and no other, keeps a pass from rewriting."""

    name: str
    """The pass."""
    guard: str
    """The guard's name in the pass's module."""
    build: Build
    """Makes the graph."""
    behind: tuple[str, ...] = ()
    """Guards further on that would turn it down too, with a reason that says less."""
    focus: str = ""
    """A piece of the name of the node that the case is about; empty where the guard turns down one node."""


@dataclass(frozen=True)
class Cases:
    """A list of cases that functions are added to where they stand."""

    all: list[Case] = field(default_factory=list)

    def case(self, name: str, guard: str, *behind: str, focus: str = "") -> Callable[[Build], Build]:
        """Adds the function below as a case for a guard."""

        def register(build: Build) -> Build:
            self.all.append(Case(name, guard, build, behind, focus))
            return build

        return register
