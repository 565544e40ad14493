"""What passes did to a model as a small text that can be kept and compared.

Names are stable: a node goes by the name that it had before all passes, and one that a rewrite made by its
op and the node that the pass looked at (`quantize@view_2`). So a pass that makes one node more changes its
own lines, not the numbers in everybody else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from msgspec.structs import replace as replaced

from qdqviz.explain.effect import effect_of
from qdqviz.explain.naming import counted, op_word
from qdqviz.explain.title import title_of
from qdqviz.ir.change import Change, Insert, Update
from qdqviz.ir.graph import GraphState
from qdqviz.ir.labels import op_label, short_names
from qdqviz.ir.node import NodeState
from qdqviz.ir.text import safe_text, spec_text
from qdqviz.trace.compare.figures import figures
from qdqviz.trace.model import PassRun, Subject
from qdqviz.trace.reader import Trace


def golden_lines(trace: Trace) -> Iterator[str]:
    """The text of a trace, line by line: what each pass did, then each program as it is at last."""
    told = {subject.id: _Subject(trace, subject) for subject in trace.subjects}
    several = len(told) > 1
    own = {header.run for header in trace.headers}
    for run in trace.runs:
        if run.kind != "manager" or run.id in own:
            where = f" on {_safe(trace.subjects[run.subject].name)}" if several else ""
            yield from _run(run, where, told[run.subject].titles.get(run.id, []))
    for subject in told.values():
        yield ""
        yield from subject.structure()


def _run(run: PassRun, where: str, titles: list[str]) -> Iterator[str]:
    count = counted(len(titles), "rewrite") if titles else "no rewrite"
    raised = f", raised {run.error.type}" if run.error is not None else ""
    yield f"{_safe(run.label)}{where}: {count}{raised}"
    yield from (f"  {_safe(title)}" for title in titles)


class _Subject:
    """One program, replayed with stable names."""

    def __init__(self, trace: Trace, subject: Subject) -> None:
        self.titles: dict[int, list[str]] = {}
        """What each pass run did, in a few words a rewrite."""
        self._trace = trace
        self._subject = subject
        self._taken: set[str] = set()
        self._state = self._named(trace.first(subject.id))
        self._replay()

    def structure(self) -> Iterator[str]:
        """The last state: numbers, then a line for each node."""
        found = figures(self._state)
        yield (
            f"{_safe(self._subject.name)}: {counted(found.nodes, 'node')}, {found.quantize} quantize, "
            f"{found.dequantize} dequantize, {found.requantize} requantize, "
            f"{found.moved_bytes:,} bytes moved, live peak {found.peak_bytes:,} bytes"
        )
        for path in self._state.paths():
            if path:
                yield f"  graph {_safe(path)}"
            yield from (f"  {_safe(line)}" for line in self._nodes(path))

    def _nodes(self, path: str) -> Iterator[str]:
        body = self._state.body(path)

        def name_of(ref: int) -> str:
            found = body.get(ref)
            return "?" if found is None else found.name

        for node in body:
            used = f" ({', '.join(map(name_of, node.input_ids()))})" if node.input_ids() else ""
            made = f"  {spec_text(node.spec)}" if node.spec is not None else ""
            yield f"{node.name} = {op_label(node, self._trace.ops, name_of)}{used}{made}"

    def _named(self, state: GraphState) -> GraphState:
        """The first state with short names."""
        changes: list[Change] = []
        for path in state.paths():
            names = short_names(node.name for node in state.body(path))
            self._taken.update(names.values())
            changes += [
                Update(path, node.id, "name", node.name, names[node.name]) for node in state.body(path)
            ]
        return state.apply_all(changes)

    def _replay(self) -> None:
        cursor = self._trace.cursor(self._subject.id)
        done = 0
        for step in cursor.steps:
            self._settle(range(done, step))
            rewrite = self._trace.rewrite(step)
            focus = None if rewrite.focus is None else self._find(rewrite.path, rewrite.focus)
            maker = rewrite.name if focus is None else focus.name
            before = self._state
            if rewrite.path in before.bodies:
                before.body(rewrite.path).user_sets()  # the state after inherits it
            changes = tuple(self._stable(rewrite.changes, maker))
            self._state = before.apply_all(changes)
            effect = effect_of(replace(rewrite, changes=changes), before, self._state)
            self.titles.setdefault(rewrite.run, []).append(title_of(effect, before, self._state))
            done = step
        self._settle(range(done, self._trace.steps + 1))

    def _settle(self, steps: Iterable[int]) -> None:
        cursor = self._trace.cursor(self._subject.id)
        for step in steps:
            self._state = self._state.apply_all(self._stable(cursor.settling_after(step), "copy"))

    def _stable(self, changes: Iterable[Change], maker: str) -> Iterator[Change]:
        """The changes with nodes made under stable names, and without renames."""
        for change in changes:
            if isinstance(change, Insert):
                yield Insert(change.path, replaced(change.node, name=self._fresh(change.node, maker)))
            elif not (isinstance(change, Update) and change.field == "name"):
                yield change

    def _fresh(self, node: NodeState, maker: str) -> str:
        word = op_word(node) if node.op.startswith("call_") else node.op
        wanted = name = f"{word}@{maker.partition('@')[2] or maker}"
        number = 2
        while name in self._taken:
            name, number = f"{wanted}~{number}", number + 1
        self._taken.add(name)
        return name

    def _find(self, path: str, node: int) -> NodeState | None:
        body = self._state.bodies.get(path)
        return None if body is None else body.get(node)


def _safe(text: str) -> str:
    return safe_text(text)
