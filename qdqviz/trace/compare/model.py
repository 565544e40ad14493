"""The data of a comparison: aligned subjects, pass runs and rewrites, and what differs between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from qdqviz.ir.node import NodeState
from qdqviz.trace.reader import Trace

Side = Literal["left", "right"]
"""One of the two traces: left is the old one where there is an old one."""

Status = Literal["equal", "different", "only_left", "only_right"]
"""How a rewrite of one trace stands to the other trace."""

Aspect = Literal["created", "erased", "target", "argument", "constant", "position", "spec", "metadata"]
"""What about a node differs."""

Place: TypeAlias = "tuple[str | int, ...]"
"""Where in a node: `("args", 3)`, `("kwargs", "axis")`, `("meta", "debug_handle")`; deeper for list items."""

Reason = Literal["no_pass", "no_node", "declined", "vetoed", "raised", "not_looked_at", "did_other"]
"""Why a trace lacks a rewrite of the other: the pass did not run there; the node is not there; the pass
declined it, was kept from it, or raised on it; never looked at it; did something else to it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs between two rewrites, or between two graphs."""

    aspect: Aspect
    """What differs."""
    path: str
    """Graph that holds the node, as the left trace names it (else as the right one does)."""
    left: NodeState | None
    """The node in the left trace, as it is after (as it was, if it is gone); None where there is none."""
    right: NodeState | None
    """The node in the right trace."""
    place: Place = ()
    """Where in the node; for arguments and metadata."""
    left_value: Any = None
    """What the left trace has there: a value, a spec, a constant; None also where it has nothing."""
    right_value: Any = None
    """What the right trace has there."""
    untouched: Side | None = None
    """The trace that left the node as it was, where only the other one changed it."""

    @property
    def is_metadata(self) -> bool:
        """Whether the difference is in metadata alone, so that the graphs compute the same in the same order.

        What metadata says about a computed value is metadata; of an input it says what the input is.
        """
        if self.aspect == "spec":
            node = self.left or self.right
            return node is not None and node.op not in ("placeholder", "get_attr")
        return self.aspect == "metadata"


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a trace lacks a rewrite that the other has."""

    reason: Reason
    """Why."""
    run: int | None = None
    """The pass run that could have made it; None where the pass did not run."""
    node: int | None = None
    """Identity of the focus's counterpart; None where there is none."""
    name: str = ""
    """Name of that node when the pass looked at it, else the last known one."""
    path: str = ""
    """Graph of that node."""
    attempts: tuple[int, ...] = ()
    """The attempts that ended so, by their numbers in the pass run."""


@dataclass(frozen=True, slots=True)
class RewritePair:
    """A rewrite and its counterpart."""

    status: Status
    """How they compare."""
    left: int | None
    """Step in the left trace; None where there is none."""
    right: int | None
    """Step in the right trace; None where there is none."""
    differences: tuple[Difference, ...] = ()
    """Where both do something: what differs between the changes."""
    absence: Absence | None = None
    """Where only one has it: why the other lacks it."""
    other_focus: bool = False
    """True where both make the same changes, but looking at different nodes."""

    @property
    def is_metadata(self) -> bool:
        """Whether both do the same and only metadata differs."""
        return self.status == "different" and all(each.is_metadata for each in self.differences)

    @property
    def same(self) -> bool:
        """Whether both do the same; metadata may differ."""
        return self.status == "equal" or self.is_metadata

    @property
    def step(self) -> int:
        """The step in the left trace, else in the right one."""
        found = self.right if self.left is None else self.left
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class RunPair:
    """A pass run and its counterpart."""

    left: int | None
    """Number of the pass run in the left trace; None where the pass ran on the right only."""
    right: int | None
    """Number of the pass run in the right trace."""
    rewrites: tuple[RewritePair, ...] = ()
    """The rewrites that the runs themselves made (nested runs have pairs of their own), aligned."""
    moved: bool = False
    """True where the passes ran in another order."""
    same_source: bool = True
    """Whether both traces hold the same source of the pass; True also where neither holds any."""

    def count(self, status: Status) -> int:
        """How many rewrites have this status; `different` leaves out those that differ in metadata alone."""
        return sum(each.status == status and not each.is_metadata for each in self.rewrites)

    @property
    def differing(self) -> tuple[RewritePair, ...]:
        """The rewrites that are not the same."""
        return tuple(each for each in self.rewrites if not each.same)

    @property
    def metadata(self) -> tuple[RewritePair, ...]:
        """The rewrites that differ in metadata alone."""
        return tuple(each for each in self.rewrites if each.is_metadata)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one graph state comes to in numbers, all graphs of the subject included."""

    nodes: int = 0
    """Nodes."""
    ops: tuple[tuple[str, int], ...] = ()
    """Calls by op (`aten.view_copy`), sorted by name."""
    quantize: int = 0
    """Quantize nodes."""
    dequantize: int = 0
    """Dequantize nodes."""
    requantize: int = 0
    """Requantize nodes."""
    moved_bytes: int = 0
    """Bytes of what data-movement nodes make; unknown sizes count for nothing."""
    peak_bytes: int = 0
    """Most bytes alive at a time in the outermost graph, constants left out."""
    byte_steps: int = 0
    """Bytes alive summed over the steps of the outermost graph."""


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """What differs between two graph states of one subject."""

    differences: tuple[Difference, ...] = ()
    """Nodes that only one has (`created`: those of the right, `erased`: those of the left), and what else
    differs in nodes that both have. Names never count."""
    reordered: tuple[tuple[NodeState, NodeState], ...] = ()
    """Nodes that stand elsewhere in the execution order: the fewest that explain it."""

    @property
    def equal(self) -> bool:
        """Whether both compute the same in the same order; metadata may differ."""
        return not self.reordered and all(each.is_metadata for each in self.differences)

    @property
    def identical(self) -> bool:
        """Whether not even metadata differs."""
        return not self.reordered and not self.differences


@dataclass(frozen=True, slots=True)
class SubjectPair:
    """A subject and its counterpart."""

    left: int | None
    """Number of the subject in the left trace; None where there is none."""
    right: int | None
    """Number of the subject in the right trace."""
    first: GraphDifference = GraphDifference()
    """How the first states differ: not at all where the same model was recorded twice."""
    final: GraphDifference = GraphDifference()
    """How the last states differ."""
    left_first: Figures = Figures()
    """Numbers of the left trace's first state."""
    left_final: Figures = Figures()
    """Numbers of the left trace's last state."""
    right_first: Figures = Figures()
    """Numbers of the right trace's first state."""
    right_final: Figures = Figures()
    """Numbers of the right trace's last state."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two traces part: all rewrites before are the same, one by one and in the same order."""

    left: int | None
    """The left trace's next step; None where it has none left."""
    right: int | None
    """The right trace's next step."""


@dataclass(frozen=True)
class Comparison:
    """Two traces of the same model, aligned."""

    left: Trace = field(repr=False)
    """The left trace: the old one, where there is an old one."""
    right: Trace = field(repr=False)
    """The right trace."""
    subjects: tuple[SubjectPair, ...]
    """The programs, in the left trace's order; those of the right trace alone where they appeared."""
    runs: tuple[RunPair, ...]
    """The pass runs in the left trace's order; those of the right trace alone where they ran. Pass managers
    are left out unless they edited something themselves."""
    divergence: Divergence | None
    """The first point where the rewrites part; None where they never do."""
    nodes: Mapping[int, int] = field(default_factory=dict, repr=False)
    """Which node of the right trace is which of the left one: identity on the left -> on the right."""

    @property
    def rewrites(self) -> tuple[RewritePair, ...]:
        """All rewrites of all pass runs, aligned."""
        return tuple(each for run in self.runs for each in run.rewrites)

    @property
    def differing(self) -> tuple[RewritePair, ...]:
        """The rewrites that are not the same."""
        return tuple(each for run in self.runs for each in run.differing)

    @property
    def metadata(self) -> tuple[RewritePair, ...]:
        """The rewrites that differ in metadata alone."""
        return tuple(each for run in self.runs for each in run.metadata)

    @property
    def same_rewrites(self) -> bool:
        """Whether both make the same rewrites in the same order; metadata may differ."""
        return not self.differing and self.divergence is None

    @property
    def same_graphs(self) -> bool:
        """Whether the last states compute the same in the same order; metadata may differ."""
        return all(
            each.left is not None and each.right is not None and each.final.equal for each in self.subjects
        )

    @property
    def same_model(self) -> bool:
        """Whether all began with the same: otherwise other things than passes differ, too."""
        return all(
            each.left is not None and each.right is not None and each.first.equal for each in self.subjects
        )

    def count(self, status: Status) -> int:
        """How many rewrites have this status; `different` leaves out those that differ in metadata alone."""
        return sum(run.count(status) for run in self.runs)
