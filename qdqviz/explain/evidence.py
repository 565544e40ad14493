"""What a trace says about a pass run: its attempts with their chains, and the graph that they looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qdqviz.explain.answer import NodeLink, Why
from qdqviz.explain.guards.calls import Calls
from qdqviz.explain.guards.chain import chain_of
from qdqviz.explain.guards.code import Code
from qdqviz.explain.guards.describe import Describer
from qdqviz.explain.guards.frames import Frame, parts
from qdqviz.explain.guards.known import Facts
from qdqviz.explain.guards.links import NO_CHAIN, Chain
from qdqviz.explain.seen_text import seen_nodes
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.values import Atom, DictArg, Value
from qdqviz.trace.events import Kind
from qdqviz.trace.model import Attempt, PassRun
from qdqviz.trace.reader import Trace

MOST_EARLIER = 1000
"""How many attempts back a memo's entry is looked for."""

_CHECKS = frozenset({"requires", "ensures"})
"""Methods of torch.fx's PassBase that check the graph that a pass is given, and the one that it made."""

_ASKING = frozenset({Kind.TEST, Kind.COMPARE, Kind.VALUE, Kind.CASE, Kind.EXCEPT})


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One attempt, explained."""

    attempt: Attempt
    """The attempt."""
    chain: Chain
    """Why it ended where it did."""
    calls: Calls
    """Its calls, replayed."""
    grouped: bool = False
    """Whether it looked at a match or a partition that holds the node, and not at the node alone."""

    @property
    def dropped(self) -> bool:
        """Whether a comprehension dropped the node, other than one that only asks about all nodes."""
        return bool(self.chain.links) and self.chain.filtered and not (self.chain.kept or self.chain.scan)

    @property
    def checks(self) -> bool:
        """Whether it was the check of a graph before or after the pass that looked at the node."""
        first = self.attempt.events[0] if self.attempt.events else None
        site = self.calls.sites.get(first.site) if first is not None else None
        return site is not None and site.function.rpartition(".")[2] in _CHECKS

    @property
    def progress(self) -> int:
        """How many different things it asked."""
        return asked_of(self.attempt)


class Evidence:
    """Reads a trace for answers; keeps parsed sources and graph states."""

    def __init__(self, trace: Trace) -> None:
        """Take a trace."""
        self.trace = trace
        """The trace."""
        self._codes: dict[str, Code | None] = {}

    def code(self, file: str) -> Code | None:
        """A source file; None where the trace has none that can be parsed."""
        if file not in self._codes:
            source = self.trace.source(file)
            try:
                self._codes[file] = None if source is None else Code(source.text)
            except (SyntaxError, ValueError):
                self._codes[file] = None  # written by another Python than this one
        return self._codes[file]

    # -- attempts ----------------------------------------------------------------------------------

    def looks(self, run: PassRun, node: int) -> list[Look]:
        """The attempts of a pass run on a node, or on a match or partition that holds it, in order."""
        return [
            self.look(each)
            for each in self.trace.attempts(run.id)
            if each.focus == node or (each.outcome != "fired" and node in group_of(each))
        ]

    def look(self, attempt: Attempt) -> Look:
        """An attempt with its chain."""
        # Its calls are kept with it, and gone with it: a trace may hold ten thousands of attempts.
        calls = Calls(self.trace.sites, self.code)
        grouped = bool(group_of(attempt))
        if attempt.outcome == "fired":
            return Look(attempt, NO_CHAIN, calls, grouped)
        chain = chain_of(attempt.events, self.trace.sites, calls, lambda: self._calls_before(attempt))
        return Look(attempt, chain, calls, grouped)

    def _calls_before(self, attempt: Attempt) -> Iterator[Frame]:
        """The calls that earlier attempts of the same pass run made, the latest first."""
        for each in reversed(self.trace.attempts(attempt.run)[: attempt.id][-MOST_EARLIER:]):
            for part in parts(each.events, self.trace.sites):
                yield from reversed(list(part.walk()))

    def outside(self, run: PassRun) -> list[Look]:
        """What a pass run asked outside any node."""
        return [self.look(each) for each in self.trace.attempts(run.id) if each.focus is None]

    # -- answers -----------------------------------------------------------------------------------

    def blank(self, run: PassRun, link: NodeLink | None) -> Why:
        """An answer to be filled in."""
        path = link.path if link is not None else ""
        subject = self.trace.subjects[run.subject].name
        return Why(
            verdict="never",
            pass_=run.label,
            run=run.id,
            graph=f"{subject}/{path}" if path else subject,
            node=link,
            looked_for=run.looked_for,
            note="" if run.decisions == "recorded" else f"decisions are missing: {run.decisions}",
        )

    def told(self, look: Look, answer: Why) -> Why:
        """An answer with the chain of an attempt."""
        describer = self._describer(look)
        return replace(
            answer,
            chain=describer.chain(look.chain),
            passed=describer.passed(look.chain),
            attempt=look.attempt.id,
        )

    def _describer(self, look: Look) -> Describer:
        """What describes the guards of an attempt."""
        attempt = look.attempt
        run = self.trace.runs[attempt.run]
        body = self.body(run, attempt)

        def link_of(node: int, name: str) -> NodeLink:
            found = body.get(node)
            return NodeLink(node, name or (found.name if found is not None else "?"), attempt.path)

        return Describer(Facts(look.calls, body), link_of, attempt.focus)

    # -- graphs ------------------------------------------------------------------------------------

    def body(self, run: PassRun, attempt: Attempt) -> Body:
        """The graph that an attempt looked at, as it was then."""
        state = self.trace.cursor(run.subject).at(attempt.after_step)
        return state.bodies.get(attempt.path) or Body()

    def state_before(self, run: PassRun) -> GraphState:
        """A pass run's program before it."""
        return self.trace.cursor(run.subject).at(run.first_step)

    def state_after(self, run: PassRun) -> GraphState:
        """A pass run's program after it."""
        return self.trace.cursor(run.subject).at(run.last_step)

    def known_before(self, run: PassRun, path: str) -> Body:
        """The nodes of a graph before a pass run."""
        return self.state_before(run).bodies.get(path) or Body()


def group_of(attempt: Attempt) -> frozenset[int]:
    """The nodes of the match or partition that a loop handed out; none where it handed out a node."""
    first = attempt.events[0] if attempt.events else None
    if first is None or first.kind is not Kind.ITEM or not first.values:
        return frozenset()
    item = first.values[0]
    parts = item if isinstance(item, tuple) else (item,)
    return frozenset(seen.node for part in parts if _is_group(part) for seen in seen_nodes(part))


def _is_group(value: Value) -> bool:
    """Whether a value is a match or a partition: recordings write one as its class and its nodes."""
    if not isinstance(value, DictArg) or len(value.items) != 1:
        return False
    key = value.items[0][0]
    return isinstance(key, Atom) and key.kind == "type"


def asked_of(attempt: Attempt) -> int:
    """How many different things an attempt asked."""
    return len({event.site for event in attempt.events if event.kind in _ASKING})


def deciding(looks: Sequence[Look]) -> Look | None:
    """Of a node's attempts the one that tells why it was left alone; None where no loop looked at it.

    That is the one that got furthest: it asked most different things; of equals the last. What a loop set
    aside, and a comprehension dropped after that, got no further than there. A match or partition that holds
    the node was made by a scan that had let it pass: what was asked about that got further than any scan.
    What a pass checks of the graph before and after it comes last.
    """
    asked = [
        at
        for at, look in enumerate(looks)
        if not look.chain.filtered and (look.chain.links or look.chain.kept)
    ]
    if not asked:
        return None
    last = looks[asked[-1]]
    if last.chain.kept and not last.chain.links:
        dropped = [look for look in looks[asked[-1] + 1 :] if look.dropped]
        if dropped:
            return dropped[-1]
    told = [looks[at] for at in asked if looks[at].chain.links]
    told = [look for look in told if not look.checks] or told
    return furthest([look for look in told if look.grouped] or told) if told else last


def furthest(looks: Sequence[Look]) -> Look:
    """The attempt that asked most different things; of equals the last."""
    return max(reversed(list(looks)), key=lambda look: look.progress)
