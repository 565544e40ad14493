"""What `why` answers: a verdict, the guard that decided, and the chain that leads to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from qdqviz.trace.model import LookedFor, PassError

Verdict = Literal["fired", "raised", "declined", "considered", "never"]
"""What a pass did with a node, in order of precedence."""

NeverReason = Literal[
    "looked_for_other",
    "filtered",
    "left_early",
    "loop_ended",
    "not_yet_created",
    "pass_raised",
    "other_graph",
    "unknown",
]
"""Why a pass never looked at a node."""


@dataclass(frozen=True, slots=True)
class NodeLink:
    """A node that an answer names, to go to."""

    id: int
    """Identity in the trace."""
    name: str
    """Its name at that instant."""
    path: str = ""
    """The graph that holds it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A value that a guard saw."""

    text: str
    """The expression, as the source has it; `nodes in EXPRESSION` where it holds more than the nodes told."""
    value: str
    """The value, as text."""
    nodes: tuple[NodeLink, ...] = ()
    """Nodes that it holds."""
    targets: tuple[str, ...] = ()
    """Call targets that it holds, as traces write them."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A test in a pass's source, and how it came out."""

    file: str
    """Source file."""
    line: int
    """First line, from 1."""
    column: int
    """Column of the first character, from 0."""
    function: str
    """Qualified name of the function that holds it."""
    text: str
    """Its source text."""
    kind: str
    """What it belongs to: if, elif, while, assert, return, comprehension, any, all, match, for, ..."""
    outcome: bool | None = None
    """How it came out; None where it is no test: an empty loop, a handler, what a `match` looked at."""
    case: str = ""
    """For what a `match` looked at: the pattern of the case that ran; empty where none did."""
    reason: str | None = None
    """What the predicate that it calls says of itself: the first line of its docstring."""
    bound: str = ""
    """What was bound to the tested name, as the source has it; empty where no name was tested."""
    values: tuple[Seen, ...] = ()
    """What it saw at that instant."""
    about: tuple[NodeLink, ...] = ()
    """The nodes that its function was called for, where no value names a node and they are others than the
    one asked about."""
    siblings: tuple[Guard, ...] = ()
    """Other tests to blame alike: arms of an elif chain, operands of one `or`, rounds of one loop."""

    @property
    def place(self) -> str:
        """`fuse_ops.py:102`."""
        return f"{self.file.replace(chr(92), '/').rpartition('/')[2]}:{self.line}"

    @property
    def nodes(self) -> tuple[NodeLink, ...]:
        """The nodes that its values name, each once."""
        return tuple({node.id: node for seen in self.values for node in seen.nodes}.values())


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Nodes that one guard turned down."""

    guard: Guard
    """The guard, with what it saw of the first of them."""
    passed: int
    """How many different tests those nodes had passed before, at most."""
    nodes: tuple[NodeLink, ...]
    """The nodes, each once, in order."""
    ops: tuple[tuple[str, int], ...]
    """What they call and how often, the most frequent first."""
    reason: str | None = None
    """What the predicate that the guard calls, or that returned it, says of itself."""
    filtered: bool = False
    """Whether the guard is a filter in front of all loops, so that none of them looked at the nodes."""

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.nodes)


@dataclass(frozen=True)
class Why:
    """Why a pass did, or did not do, something to a node."""

    verdict: Verdict
    """What it did."""
    pass_: str
    """Name of the pass run, with #N where it is repeated."""
    run: int
    """Number of the pass run."""
    graph: str
    """The graph: the program's name, and below it the path of a sub-graph."""
    node: NodeLink | None = None
    """The node asked about; None where the question was about the pass as a whole."""
    reason: NeverReason | None = None
    """Why it never looked at the node; set for `never` only."""
    chain: tuple[Guard, ...] = ()
    """From the outermost guard to the deepest."""
    passed: tuple[Guard, ...] = ()
    """Tests that the node had passed before, in the functions of the chain."""
    idle: int = 0
    """For `declined`: how many nodes it looked at, where no test turned them down and nothing that was done
    with them changed anything."""
    rewrites: tuple[int, ...] = ()
    """Steps of the rewrites, for `fired`; of another node's, where that one was looked at."""
    attempt: int | None = None
    """The attempt that got furthest, by its number in the pass run."""
    attempts: tuple[int, ...] = ()
    """All attempts on the node, in order."""
    through: NodeLink | None = None
    """For `considered`: the node whose attempt saw this one. For `fired`: the one whose rewrite took it.
    For `raised`, of a pass as a whole: the one that was looked at."""
    inside: str | None = None
    """The nested pass that this is about, where the pass asked about ran others."""
    looked_for: tuple[LookedFor, ...] = ()
    """What the pass searched the graph for."""
    wanted: tuple[str, ...] = ()
    """Targets that the pass asks for, where the answer turns on that."""
    nearest: tuple[NodeLink, ...] = ()
    """Nodes most like what it asks for, where the graph has none of that."""
    kinship: str = ""
    """How the node, or else the nearest one, differs from what the pass asks for: overload, dialect."""
    remarks: tuple[str, ...] = ()
    """What a person who knows the graph would add: a user that reads a shape only, kin that a list holds."""
    further: Why | None = None
    """For `declined`: the attempt on another node that got further, where this one was the reason there."""
    near_misses: tuple[NearMiss, ...] = ()
    """For a pass as a whole: who got furthest, grouped by guard."""
    step: int | None = None
    """For `not_yet_created`: the step that made the node."""
    error: PassError | None = None
    """The exception, where one ended the pass."""
    note: str = ""
    """A remark: changed nothing, set aside and not come back to, decisions missing."""

    @property
    def guard(self) -> Guard | None:
        """The blocking guard: the deepest of the chain."""
        return self.chain[-1] if self.chain else None

    @property
    def values(self) -> tuple[Seen, ...]:
        """What the blocking guard saw."""
        return self.guard.values if self.guard is not None else ()

    @cached_property
    def nodes(self) -> tuple[NodeLink, ...]:
        """All nodes that the chain names, each once."""
        return tuple({node.id: node for guard in self.chain for node in guard.nodes}.values())

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The answer in plain text, line by line; text of the graph is in it as it is."""
        from qdqviz.explain.why_text import lines_of

        return lines_of(self)
