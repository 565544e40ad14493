"""The data of a trace: subjects, pass runs, attempts and rewrites."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from qdqviz.ir.change import Change
from qdqviz.trace.events import Event

OUTSIDE = "(outside any pass)"
"""Name of the pass run that holds edits made between passes."""

Outcome = Literal["fired", "declined", "vetoed", "raised"]
"""How an attempt ended."""


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """Where a trace comes from."""

    title: str
    """What was recorded: a target, a script."""
    created: str
    """ISO 8601 time of the recording's start, UTC."""
    versions: tuple[tuple[str, str], ...] = ()
    """Packages and their versions: qdqviz, python, torch, executorch, torchao."""
    command: tuple[str, ...] = ()
    """The command line that recorded it, or empty."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One program that passes ran on."""

    id: int
    """Dense number, in order of first appearance."""
    name: str
    """A method's name, or the graph's name with a number."""
    dialect: str
    """aten, edge, or mixed, as at its first state."""
    parent: int | None = None
    """The subject that this one was copied or cut from, if known."""


@dataclass(frozen=True, slots=True)
class LookedFor:
    """What a pass searched a graph for as a whole."""

    call: str
    """The search, such as `find_nodes` or `graph_has_target`."""
    op: str | None
    """Node op searched for, such as call_function; None when any."""
    target: str | None
    """Target searched for; None when any."""
    found: int
    """How many nodes it found."""
    path: str = ""
    """Graph that was searched."""


@dataclass(frozen=True, slots=True)
class PassError:
    """The exception that ended a pass run."""

    type: str
    """Exception class name."""
    message: str
    """First line of its message."""
    file: str
    """File of the innermost frame that belongs to the pass."""
    line: int
    """Line in that file."""
    text: str
    """Source text of that line, stripped."""


@dataclass(frozen=True, slots=True)
class PassRun:
    """One call of one pass on one subject."""

    id: int
    """Dense number, in order of start."""
    subject: int
    """Subject it ran on."""
    name: str
    """Class or function name of the pass."""
    source: str
    """Dotted path `module:qualname` of the pass."""
    parent: int | None
    """The pass run that called this one, or None."""
    ordinal: int = 1
    """How many runs of the same name on the same subject there have been, this one included: `PASS#2`."""
    kind: str = "pass"
    """pass, manager (a pass manager: holds others), or outside."""
    first_step: int = 0
    """Last step before this run; its rewrites have greater numbers."""
    last_step: int = 0
    """Last step when it ended; equal to `first_step` when it rewrote nothing."""
    seconds: float = 0.0
    """Wall time in seconds, recording included."""
    modified: bool | None = None
    """What the pass itself claimed, or None where it said nothing."""
    attempts: int = 0
    """Number of attempts on a node; what the pass asked about none is not counted."""
    declined: int = 0
    """Number of those that declined."""
    decisions: str = "recorded"
    """`recorded`, or why its decisions are missing (`no source`, ...)."""
    looked_for: tuple[LookedFor, ...] = ()
    """Whole-graph searches, in order."""
    paths: tuple[str, ...] = ("",)
    """Graphs that it iterated or edited."""
    file: str = ""
    """Source file of the pass."""
    error: PassError | None = None
    """The exception that ended it."""
    done: bool = True
    """False while it runs, and for good where the recording was cut off within it."""

    @property
    def label(self) -> str:
        """Name with its number when repeated: `SinkOps`, `SinkOps#2`."""
        return self.name if self.ordinal == 1 else f"{self.name}#{self.ordinal}"

    @property
    def rewrites(self) -> int:
        """Number of steps taken while it ran, those of nested runs included."""
        return self.last_step - self.first_step


@dataclass(frozen=True, slots=True)
class Attempt:
    """One pass looking at one node."""

    id: int
    """Dense number within its pass run, in order of opening."""
    run: int
    """Pass run it belongs to."""
    path: str
    """Graph that holds the focus."""
    focus: int | None
    """Node looked at; None for what the pass decided before or after any node (its whole-graph guards)."""
    name: str
    """Name of the focus at that instant; for no focus, empty."""
    outcome: Outcome
    """How it ended."""
    step: int | None = None
    """The rewrite it belongs to; None when it declined, or fired and what it did changed nothing."""
    events: tuple[Event, ...] = ()
    """What it asked, in order."""
    after_step: int = 0
    """Number of the last step before the attempt opened: the state it looked at."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """All changes of one attempt that fired: one step."""

    step: int
    """Global number, 1-based."""
    run: int
    """Innermost pass run that made it."""
    subject: int
    """Subject it changed."""
    path: str
    """Graph of its focus."""
    focus: int | None
    """Node that the attempt looked at; None for a named call that has none."""
    name: str
    """Name of the focus before the rewrite, or of the call that made it (`eliminate_dead_code`)."""
    unconditional: bool
    """True where the pass asked nothing before it."""
    changes: tuple[Change, ...] = field(default=(), repr=False)
    """The edits in order."""
    note: str = ""
    """`graph replaced`, or empty."""


@dataclass(frozen=True, slots=True)
class Settling:
    """Bookkeeping changes between two rewrites of a subject: renames, split get_attrs, refreshed values."""

    subject: int
    """Subject they changed."""
    run: int
    """Pass run in which they happened."""
    after_step: int
    """They come after this step (of any subject) and before the next."""
    changes: tuple[Change, ...] = ()
    """The edits in order."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source file as it was when the pass ran."""

    file: str
    """Path as the interpreter names it."""
    text: str
    """Whole text."""
