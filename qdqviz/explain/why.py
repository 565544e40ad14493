"""Why a pass did, or did not do, something to a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qdqviz.errors import UsageError
from qdqviz.explain.answer import NodeLink, Verdict, Why
from qdqviz.explain.ask import find_node, find_runs, single_run
from qdqviz.explain.considered import considered
from qdqviz.explain.evidence import Evidence, Look, asked_of, deciding
from qdqviz.explain.later import decided_later, rewritten_later, rounds_of
from qdqviz.explain.near_misses import near_misses
from qdqviz.explain.nearest import wanted_here, with_kinship
from qdqviz.explain.never import never
from qdqviz.explain.remarks import kin_in_collections, remarks_on
from qdqviz.explain.whole_pass import whole_pass
from qdqviz.ir.change import Erase
from qdqviz.ir.graph import ROOT
from qdqviz.trace.model import Attempt, PassRun
from qdqviz.trace.reader import Trace

PRECEDENCE: tuple[Verdict, ...] = ("fired", "raised", "declined", "considered", "never")
"""Of several verdicts the first holds."""


def _precedence(answer: Why) -> int:
    """What was looked at to no effect says little: any other answer but `never` says more."""
    return PRECEDENCE.index("considered" if answer.idle else answer.verdict) * 2 + bool(answer.idle)


def why(trace: Trace, pass_: str | int | type, node: str | int | None = None) -> Why:
    """Why a pass did, or did not do, something to a node.

    Args:
        trace: A trace.
        pass_: The pass: `PASS`, `PASS#2` for its second run, `PROGRAM:PASS` where several programs ran it,
            the number of a pass run, or the class.
        node: The node: its name before that pass, `NAME@STEP`, `PATH/NAME` in a sub-graph, or its identity.
            None asks about the pass as a whole: who got furthest, grouped by the guard that turned them down.

    Raises:
        UsageError: If nothing goes by a name, with the closest ones; or several do, with the choices.
    """
    return Explainer(trace).why(pass_, node)


class Explainer:
    """Answers questions about one trace; keeps parsed sources from one to the next."""

    def __init__(self, trace: Trace) -> None:
        """Take a trace; it stays the caller's to close."""
        self.trace = trace
        """The trace."""
        self._evidence = Evidence(trace)

    def why(self, pass_: str | int | type, node: str | int | None = None) -> Why:
        """Answer one question; see `why`."""
        runs = find_runs(self.trace, pass_)
        if node is None:
            run = single_run(self.trace, runs)
            told = whole_pass(self._evidence, run, near_misses(self._evidence, run))
            return self._remarked(run, with_kinship(self._evidence, run, told))
        run, link = self._find(runs, node)
        return self.of(run, link)

    def of(self, run: PassRun, link: NodeLink) -> Why:
        """What a pass run, or the runs nested in it, did with a node."""
        own = self._in_run(run, link)
        answers = [own]
        for child in self.trace.children(run.id):
            if child.subject == run.subject:
                inner = self.of(child, link)
                answers.append(replace(inner, pass_=run.label, inside=inner.inside or child.label))
        # A nested pass that never looked says nothing about the outer one.
        best = min(answers, key=_precedence)
        return own if best.verdict == "never" else best

    def _find(self, runs: Sequence[PassRun], node: str | int) -> tuple[PassRun, NodeLink]:
        """The pass run and the node; a node that only one of several runs can mean chooses the run."""
        if len(runs) == 1:
            return runs[0], find_node(self.trace, runs[0], node)
        found: list[tuple[PassRun, NodeLink]] = []
        failure: UsageError | None = None
        for run in runs:
            try:
                found.append((run, find_node(self.trace, run, node)))
            except UsageError as error:
                failure = error
        if not found and failure is not None:
            raise failure
        run = single_run(self.trace, [run for run, _ in found])
        return next(pair for pair in found if pair[0] is run)

    def _in_run(self, run: PassRun, link: NodeLink) -> Why:
        evidence = self._evidence
        blank = evidence.blank(run, link)
        looks = evidence.looks(run, link.id)
        attempts = tuple(look.attempt.id for look in looks)
        blank = replace(blank, attempts=attempts)
        fired = self._fired(run, link, looks, blank)
        if fired is not None:
            return fired
        raised = next((look for look in looks if look.attempt.outcome == "raised"), None)
        if raised is not None:
            return replace(evidence.told(raised, blank), verdict="raised", error=run.error)
        declined = self._declined(run, link.id, looks, blank)
        if declined is not None:
            declined = with_kinship(evidence, run, wanted_here(evidence, run, declined))
            return self._remarked(run, self._with_further(run, declined))
        seen = considered(evidence, run, link, blank)
        if seen is None:
            seen = with_kinship(evidence, run, never(evidence, run, link, looks, blank))
        return self._remarked(run, seen)

    def _declined(self, run: PassRun, node: int, looks: Sequence[Look], blank: Why) -> Why | None:
        """The attempt on the node that tells why it was left alone, if there was any."""
        best = deciding(looks)
        rounds: Sequence[Attempt] = ()
        if best is None or best.chain.kept:
            rounds = rounds_of(self._evidence, run).get(node, ())
            best = decided_later(rounds, looks, self._evidence.look) or best
        if best is None:
            return None
        answer = replace(self._evidence.told(best, blank), verdict="declined")
        if best.chain.links:
            return answer
        taken = rewritten_later(rounds, looks)
        if taken is None:
            return replace(answer, note="it was set aside for later, and nothing was done with it")
        return replace(
            answer, note=f"it was set aside for later; step {taken.step} rewrote {taken.name} then"
        )

    def _with_further(self, run: PassRun, answer: Why) -> Why:
        """An answer with the attempt on another node that turned that one down because of this one."""
        if answer.node is None or answer.attempt is None:
            return answer
        # A node that was set aside got as far as anything that was asked about it later.
        own = asked_of(self.trace.attempts(run.id)[answer.attempt]) if answer.chain else 0
        blank = self._evidence.blank(run, answer.node)
        seen = considered(self._evidence, run, answer.node, blank, further_than=own)
        told = (
            seen is not None
            and not seen.rewrites
            and any(answer.node in (*guard.nodes, *guard.about) for guard in seen.chain)
        )
        return replace(answer, further=seen) if told else answer

    def _remarked(self, run: PassRun, answer: Why) -> Why:
        """An answer with what is to be said about the nodes that it names."""
        evidence, asked = self._evidence, answer.node or next(iter(answer.nodes), None)
        if answer.verdict == "fired":
            return answer
        body = evidence.known_before(run, asked.path if asked is not None else ROOT)
        remarks = remarks_on(answer, body)
        if answer.attempt is not None and answer.guard is not None:
            events = self.trace.attempts(answer.run)[answer.attempt].events
            links = (answer.node, *answer.guard.nodes)
            nodes = [node for link in links if link is not None and (node := body.get(link.id)) is not None]
            remarks += kin_in_collections(events, self.trace.sites, nodes, evidence.code)
        return replace(answer, remarks=remarks)

    def _fired(self, run: PassRun, link: NodeLink, looks: Sequence[Look], blank: Why) -> Why | None:
        own = {look.attempt.step for look in looks if look.attempt.outcome == "fired"}
        steps = {step for step in own if step is not None}
        steps |= {header.step for header in self.trace.rewrites_of(run.id) if header.focus == link.id}
        if steps:
            return replace(blank, verdict="fired", rewrites=tuple(sorted(steps)))
        taken = self._taken(run, link)
        if taken is not None:
            step, through = taken
            return replace(blank, verdict="fired", rewrites=(step,), through=through)
        if own:
            return replace(blank, verdict="fired", note="what it did changed nothing")
        return None

    def _taken(self, run: PassRun, link: NodeLink) -> tuple[int, NodeLink | None] | None:
        """The rewrite of another node that took this one out of the graph."""
        if self._evidence.state_after(run).bodies.get(link.path) is not None:
            body = self._evidence.state_after(run).body(link.path)
            if link.id in body or link.id not in self._evidence.known_before(run, link.path):
                return None
        for header in self.trace.rewrites_of(run.id):
            changes = self.trace.rewrite(header.step).changes
            if any(isinstance(change, Erase) and change.node.id == link.id for change in changes):
                through = (
                    NodeLink(header.focus, header.name, header.path) if header.focus is not None else None
                )
                return header.step, through
        return None
