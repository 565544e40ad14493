"""What a lint rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qdqviz.check.region import Region
from qdqviz.ir.graph import Body
from qdqviz.ir.node import OpInfo
from qdqviz.trace.model import Rewrite


@dataclass(frozen=True, slots=True)
class Touched:
    """One rewrite in one graph."""

    rewrite: Rewrite
    """The rewrite, with its changes."""
    path: str
    """The graph."""
    before: Body
    """The graph before it."""
    after: Body
    """The graph after it."""
    region: Region
    """What it touched."""
    ops: Mapping[str, OpInfo]
    """What is known of call targets."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What a rule found right after a rewrite; a fault if it still stands when the pass ends."""

    rule: str
    """Name of the rule."""
    node: int
    """The node."""
    found: str
    """What is."""
    wanted: str
    """What should be."""
    about: Any = None
    """What the rule needs to look at the node again."""


class Rule(ABC):
    """Finds one kind of fault in what rewrites do."""

    names: tuple[str, ...]
    """Its name, by which it is turned off; a rule about several metadata keys has a name for each."""

    @abstractmethod
    def suspect(self, touched: Touched) -> Iterator[Suspicion]:
        """Look at what a rewrite touched."""

    @abstractmethod
    def stands(self, suspicion: Suspicion, body: Body) -> bool:
        """Whether a suspicion still holds in a later state of the graph; the node exists in it."""
