"""A comparison of two traces in words: what differs in a rewrite, and why one trace lacks it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from qdqviz.explain.answer import Guard, NodeLink, Why
from qdqviz.explain.difference_text import Lines
from qdqviz.explain.evidence import Evidence
from qdqviz.explain.title import title
from qdqviz.explain.why import Explainer
from qdqviz.explain.why_text import test_text
from qdqviz.trace.compare.model import Absence, Comparison, GraphDifference, RewritePair, RunPair, SubjectPair
from qdqviz.trace.model import Attempt
from qdqviz.trace.reader import Trace


@dataclass(frozen=True, slots=True)
class Told:
    """A rewrite that the traces do not share, in words. Text from graphs is in it as it is."""

    run: RunPair
    """The pass runs."""
    pair: RewritePair
    """The rewrites."""
    left: str
    """What the left one did, in a few words; empty where there is none."""
    right: str
    """What the right one did."""
    lines: tuple[str, ...]
    """What differs, where both have one."""
    lacking: str = ""
    """Where one trace lacks it: why, alike for all that lack it for the same reason."""
    why: Why | None = None
    """Where one trace lacks it though its pass ran: what that pass did with the node."""
    follows: bool = False
    """True where the test that turned the node down is in the other version, too: what it saw is what
    differs, so that the rewrite follows from others."""

    @property
    def guard(self) -> Guard | None:
        """The test of the pass that turned the node down on the side that lacks the rewrite.

        What it came from in helpers is in the chain of `why`.
        """
        return self.why.chain[0] if self.why is not None and self.why.chain else None


class Teller:
    """Tells a comparison; keeps what it has read of both traces."""

    def __init__(self, comparison: Comparison, sides: tuple[str, str] = ("left", "right")) -> None:
        """Take a comparison, and what its sides are called: `old` and `new`, say."""
        self.comparison = comparison
        """The comparison."""
        self.sides = sides
        """What the sides are called."""
        self._traces = comparison.left, comparison.right
        self._evidence: dict[int, tuple[Evidence, Explainer]] = {}
        self._sources: dict[tuple[int, str], list[str]] = {}
        self._attempts: dict[tuple[int, int], dict[int, Attempt]] = {}

    # -- names -------------------------------------------------------------------------------------

    def run_name(self, run: RunPair) -> str:
        """The pass, with its number where it is repeated; where the names differ both of them."""
        names = [
            trace.runs[number].label
            for trace, number in zip(self._traces, (run.left, run.right), strict=True)
            if number is not None
        ]
        return " → ".join(dict.fromkeys(names))

    def run_place(self, run: RunPair) -> str:
        """The pass as `run_name` has it, and the program that it ran on where there are several."""
        subjects = self.comparison.subjects
        if len(subjects) == 1:
            return self.run_name(run)
        for each in subjects:
            for trace, number, subject in zip(
                self._traces, (run.left, run.right), (each.left, each.right), strict=True
            ):
                if number is not None and trace.runs[number].subject == subject:
                    return f"{self.run_name(run)} on {self.graph_name(each)}"
        return self.run_name(run)

    def graph_name(self, subject: SubjectPair) -> str:
        """The program's name; where the names differ both of them."""
        names = [
            trace.subjects[number].name
            for trace, number in zip(self._traces, (subject.left, subject.right), strict=True)
            if number is not None
        ]
        return " → ".join(dict.fromkeys(names))

    # -- rewrites ----------------------------------------------------------------------------------

    def rewrites(self, *, metadata: bool = False) -> Iterator[Told]:
        """All rewrites that are not the same, in order; with `metadata` also those that differ only there."""
        for run in self.comparison.runs:
            for pair in run.rewrites:
                if pair.status != "equal" and (metadata or not pair.is_metadata):
                    yield self.rewrite(run, pair)

    def rewrite(self, run: RunPair, pair: RewritePair) -> Told:
        """One pair of rewrites."""
        titles = [
            "" if step is None else title(trace, trace.rewrite(step))
            for trace, step in zip(self._traces, (pair.left, pair.right), strict=True)
        ]
        why = self._why(pair)
        if pair.absence is not None:
            follows = self._has_tests(run, pair, why)
            lacking = self._absence_text(pair, pair.absence, why)
            if follows:
                lacking += f" ({self.sides[1 - self._lacking(pair)]} asks the same, and saw something else)"
            return Told(run, pair, titles[0], titles[1], (), lacking, why, follows)
        return Told(run, pair, titles[0], titles[1], tuple(self._lines(pair)))

    def _lines(self, pair: RewritePair) -> Iterator[str]:
        lines = self.lines(pair)
        yield from map(lines.line, (each for each in pair.differences if not each.is_metadata))
        yield from lines.of_metadata(each for each in pair.differences if each.is_metadata)

    def lines(self, pair: RewritePair) -> Lines:
        """What writes the differences of a pair as lines."""
        states = [
            () if step is None else (trace.after(step), trace.before(step))
            for trace, step in zip(self._traces, (pair.left, pair.right), strict=True)
        ]
        return Lines(self._traces, self.sides, states[0], states[1])

    def graph(self, subject: SubjectPair, found: GraphDifference, *, metadata: bool = False) -> Iterator[str]:
        """What differs between two states of a program: the last ones, or the first where that is `found`."""
        lines = self.graph_lines(subject, found)
        yield from map(lines.line, (each for each in found.differences if not each.is_metadata))
        if found.reordered:
            yield lines.reordered(found.reordered)
        if metadata:
            yield from lines.of_metadata(each for each in found.differences if each.is_metadata)

    def graph_lines(self, subject: SubjectPair, found: GraphDifference) -> Lines:
        """What writes the differences between two states of a program as lines."""
        first = found is subject.first
        states = [
            () if number is None else (trace.first(number) if first else trace.final(number),)
            for trace, number in zip(self._traces, (subject.left, subject.right), strict=True)
        ]
        return Lines(self._traces, self.sides, states[0], states[1], of_graphs=True)

    # -- why not -----------------------------------------------------------------------------------

    def _lacking(self, pair: RewritePair) -> int:
        """Which side lacks the rewrite: 0 the left, 1 the right."""
        return 0 if pair.left is None else 1

    def _why(self, pair: RewritePair) -> Why | None:
        """What the pass did with the node on the side that lacks the rewrite."""
        absence = pair.absence
        if absence is None or absence.run is None or absence.node is None:
            return None
        evidence, explainer = self._explainers(self._lacking(pair))
        trace = self._traces[self._lacking(pair)]
        run = trace.runs[absence.run]
        link = NodeLink(absence.node, absence.name, absence.path)
        if absence.reason != "declined":
            return explainer.of(run, link)
        # Asked anew, the answer would be what else the pass did with the node; here it is why not this.
        known = self._attempts_of(self._lacking(pair), run.id)
        looks = [evidence.look(known[each]) for each in absence.attempts]
        told = [look for look in looks if look.chain.links] or looks
        best = max(reversed(told), key=lambda look: look.progress)
        blank = replace(evidence.blank(run, link), attempts=absence.attempts)
        return replace(evidence.told(best, blank), verdict="declined")

    def _attempts_of(self, side: int, run: int) -> dict[int, Attempt]:
        """The attempts of a pass run by their numbers."""
        if (side, run) not in self._attempts:
            self._attempts[side, run] = {each.id: each for each in self._traces[side].attempts(run)}
        return self._attempts[side, run]

    def _has_tests(self, run: RunPair, pair: RewritePair, why: Why | None) -> bool:
        """Whether the version that made a rewrite holds the tests that kept the other one from it."""
        lacking = self._lacking(pair)
        numbers = run.left, run.right
        if why is None or not why.chain or numbers[0] is None or numbers[1] is None:
            return False
        files = [trace.runs[n].file for trace, n in zip(self._traces, numbers, strict=True) if n is not None]
        for guard in why.chain:
            file = files[1 - lacking] if guard.file == files[lacking] else guard.file
            mine, theirs = self._code(lacking, guard.file), self._code(1 - lacking, file)
            if not mine[guard.line - 1 : guard.line] or mine[guard.line - 1] not in theirs:
                return False
        return True

    def _code(self, side: int, file: str) -> list[str]:
        """The lines of a source file, without what stands around them; none if it was not kept."""
        if (side, file) not in self._sources:
            source = self._traces[side].source(file)
            lines = [] if source is None else source.text.splitlines()
            self._sources[side, file] = [line.strip() for line in lines]
        return self._sources[side, file]

    def _explainers(self, side: int) -> tuple[Evidence, Explainer]:
        if side not in self._evidence:
            trace: Trace = self._traces[side]
            self._evidence[side] = Evidence(trace), Explainer(trace)
        return self._evidence[side]

    def _absence_text(self, pair: RewritePair, absence: Absence, why: Why | None) -> str:
        side = self.sides[self._lacking(pair)]
        match absence.reason:
            case "no_pass":
                return f"the pass did not run in {side}"
            case "no_node":
                return f"{side} has no such node there"
            case "vetoed":
                return f"{side} was kept from it"
            case "declined":
                return f"{side} declined{_guard_text(why)}"
            case "did_other":
                return f"{side} did something else to the node"
            case "raised":
                return f"{side} raised on the node"
        return f"{side} never looked at the node" if absence.node is not None else f"{side} did not do it"


def _guard_text(why: Why | None) -> str:
    """The test of the pass itself, which a reader of the change looks for; `why` goes down into helpers."""
    if why is None or not why.chain:
        return ""
    guard = why.chain[0]
    reason = f": {guard.reason}" if guard.reason else ""
    return f", {test_text(guard)} at {guard.place}{reason}"
