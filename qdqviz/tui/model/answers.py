"""Answers questions about a trace; for workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from qdqviz.ir.text import safe_text
from qdqviz.trace.model import Attempt, PassRun
from qdqviz.trace.reader import Trace
from qdqviz.tui.model.asking import Answer, OtherPass, Question

if TYPE_CHECKING:
    from qdqviz.explain.answer import NodeLink, Why
    from qdqviz.explain.why import Explainer
    from qdqviz.ir.graph import GraphState


class Answers:
    """Answers questions about one trace as it is now; keeps parsed sources between them."""

    def __init__(self, trace: Trace) -> None:
        """Take a trace; nothing is read yet."""
        from qdqviz.explain.evidence import Evidence
        from qdqviz.explain.why import Explainer

        self._trace = trace
        self._explainer: Explainer = Explainer(trace)
        self._evidence = Evidence(trace)

    def first(self, question: Question) -> Answer:
        """The answer about the pass asked about; the other passes are left to `other`.

        Raises:
            TraceFileError: The trace is damaged.
        """
        link = None if question.node is None else self._link(question)
        why = None if question.run is None else self._why(question, link)
        name = "" if link is None else safe_text(link.name)
        here = safe_text(self._name_here(question))
        here = "" if here == name else here
        answer = Answer(question, why, name, here=here, is_whole=link is None)
        if why is None:
            return answer
        run = self._trace.runs[why.run]
        attempt = self._attempt(run, question, why)
        asked = attempt.name if attempt is not None and attempt.focus is not None else ""
        from qdqviz.tui.model.marked_source import listings_of

        return replace(answer, listings=listings_of(self._evidence, run, attempt, why), asked=asked)

    def asked(self, question: Question) -> list[int]:
        """The other passes that a question is about: outermost ones on the same program."""
        return [run.id for run in self._trace.runs if self._is_asked(run, question)]

    def other(self, run: int, question: Question) -> OtherPass | None:
        """What another pass did with the node; None where the graph had none such when it ran.

        Raises:
            TraceFileError: The trace is damaged.
        """
        about = replace(question, run=run, step=None)
        link, found = self._link(about), self._trace.runs[run]
        return OtherPass(run, self._explainer.of(found, link)) if self._held(found, link) else None

    def _why(self, question: Question, link: NodeLink | None) -> Why:
        assert question.run is not None
        run = self._trace.runs[question.run]
        if link is None:
            return self._explainer.why(run.id)
        return self._explainer.of(run, link)

    def _attempt(self, run: PassRun, question: Question, why: Why) -> Attempt | None:
        """The attempt to show: that of the rewrite here if it is about the node, else the one explained."""
        attempts = self._trace.attempts(run.id)
        for each in reversed(attempts):
            is_here = each.step is not None and each.step == question.step
            if is_here and (each.focus == question.node or each.step in (*why.rewrites, why.step)):
                return each
        if why.attempt is not None and why.attempt < len(attempts):
            return attempts[why.attempt]
        return attempts[why.attempts[-1]] if why.attempts else None

    def _link(self, question: Question) -> NodeLink:
        """The node under the name that it had when the pass began, else any that it ever had."""
        from qdqviz.explain.answer import NodeLink

        assert question.node is not None
        for state in self._states_around(question):
            body = state.bodies.get(question.path)
            node = None if body is None else body.get(question.node)
            if node is not None:
                return NodeLink(node.id, node.name, question.path)
        return NodeLink(question.node, f"node {question.node}", question.path)

    def _name_here(self, question: Question) -> str:
        """Name of the node at the step that one looks at; empty where there is no such step."""
        if question.step is None or question.node is None:
            return ""
        cursor = self._trace.cursor(question.subject)
        for step in (question.step, question.step - 1):
            body = cursor.at(step).bodies.get(question.path)
            node = None if body is None else body.get(question.node)
            if node is not None:
                return node.name
        return ""

    def _states_around(self, question: Question) -> Iterator[GraphState]:
        cursor = self._trace.cursor(question.subject)
        run = None if question.run is None else self._trace.runs[question.run]
        if run is not None and run.subject != question.subject:
            run = None
        if run is not None:
            yield cursor.at(run.first_step)
        if (
            question.step is not None
        ):  # before the end of the pass, where a new node may go by an old one's name
            yield cursor.at(question.step - 1)
            yield cursor.at(question.step)
        if run is not None:
            yield cursor.at(run.last_step)
        yield cursor.final()

    def _is_asked(self, run: PassRun, question: Question) -> bool:
        if run.kind != "pass" or run.subject != question.subject or run.id == question.run:
            return False
        parent = None if run.parent is None else self._trace.runs[run.parent]
        return parent is None or parent.kind != "pass"

    def _held(self, run: PassRun, link: NodeLink) -> bool:
        """Whether the graph held a node when a pass began or ended."""
        cursor = self._trace.cursor(run.subject)
        bodies = (cursor.at(step).bodies.get(link.path) for step in (run.first_step, run.last_step))
        return any(body is not None and link.id in body for body in bodies)
