"""How long a comparison of two traces takes, and how that grows to 20,000 nodes.

    OMP_NUM_THREADS=1 python benchmarks/bench_compare.py [--rounds 5] [--copies 1 4 12 36]

Records the Cadence pipeline on a transformer of about 550 nodes twice: as it is, and with every eighth
rewrite of one pass vetoed, from which others follow. Larger traces are made of these: copies of the model in
a row, each reading the last one's output, on all of which every pass ran. Timed is CPU, with both files
freshly opened: `same` compares the plain recording with itself, `changed` the two recordings.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as replaced

sys.path.insert(0, str(Path(__file__).parent.parent))

from qdqviz.ir.change import Change, Insert, Update
from qdqviz.ir.graph import GraphState
from qdqviz.ir.node import NodeState
from qdqviz.ir.values import ListArg, Ref, Value, map_refs
from qdqviz.trace.attempts import attempts_table
from qdqviz.trace.compare.traces import compare
from qdqviz.trace.model import Attempt, Rewrite
from qdqviz.trace.reader import Trace
from qdqviz.trace.writer import TraceWriter

VETOED = "SinkOpsCloserToUsePass"
"""The pass whose rewrites are vetoed on the right."""

EVERY = 8
"""Of how many rewrites one is vetoed."""


def record(folder: Path) -> tuple[Path, Path]:
    """Record the pipeline on the transformer: as it is, and with vetoes."""
    from benchmarks.models import transformer
    from qdqviz.live.interventions import Veto
    from qdqviz.live.session import run
    from qdqviz.load.programs import describe
    from qdqviz.load.quiet import import_toolchain, quiet
    from qdqviz.passes.resolve import resolve

    import_toolchain()
    with quiet():
        loaded = describe("transformer", transformer(), None)
        plain = run(loaded, resolve("cadence"), folder / "plain.qdqtrace").trace
        names = [each.name for each in plain.headers if plain.runs[each.run].name == VETOED]
        vetoes = [Veto(VETOED, name) for name in names[::EVERY]]
        changed = run(loaded, resolve("cadence"), folder / "changed.qdqtrace", interventions=vetoes).trace
    for trace in (plain, changed):
        trace.close()
    return plain.path, changed.path


@dataclass(frozen=True)
class Copy:
    """One of several copies of a model in a row: gives everything in it its own identity and place."""

    number: int
    """Which one, from 0."""
    last: bool
    """Whether nothing follows it."""
    input: int
    """Identity of the model's input, which the output of the copy before stands for."""
    output: int
    """Identity of the model's output node, which a clone of the value stands for until the last copy."""
    stride: int
    """Identities that a copy takes."""

    def state(self, state: GraphState) -> Iterator[Change]:
        """What brings the copy into an empty graph."""
        for path in state.paths():
            yield from self.changes(Insert(path, node) for node in state.body(path).in_order())

    def changes(self, changes: Iterable[Change]) -> Iterator[Change]:
        """The copy's share of what happened to the model."""
        for change in changes:
            if self.number and change.node_id == self.input:
                continue
            if isinstance(change, Update):
                yield self._update(change)
            else:
                yield type(change)(change.path, self._node(change.node))

    def attempt(self, attempt: Attempt) -> Attempt:
        """The copy's share of what was looked at."""
        focus = None if attempt.focus is None else self.id(attempt.focus)
        return replace(attempt, focus=focus, name=self._name(attempt.name))

    def id(self, node: int) -> int:
        """Identity of a node in this copy."""
        if self.number and node == self.input:
            return self.output + (self.number - 1) * self.stride
        return node + self.number * self.stride

    def _update(self, change: Update) -> Update:
        old, new = (self._value(change, value) for value in (change.old, change.new))
        return Update(change.path, self.id(change.node), change.field, old, new)

    def _value(self, change: Update, value: Any) -> Any:
        match change.field:
            case "args" | "kwargs":
                return self._args(change.node, value)
            case "order":
                return self._order(value)
            case "name":
                return self._name(value)
            case "shares_meta":
                return None if value is None else self.id(value)
        return value

    def _node(self, node: NodeState) -> NodeState:
        made = replaced(
            node,
            id=self.id(node.id),
            order=self._order(node.order),
            name=self._name(node.name),
            args=self._args(node.id, node.args),
            kwargs=self._args(node.id, node.kwargs),
            shares_meta=None if node.shares_meta is None else self.id(node.shares_meta),
        )
        if self.last or node.id != self.output:
            return made
        return replaced(made, op="call_function", target="edge.aten.clone.default")

    def _args(self, node: int, value: Any) -> Any:
        if node == self.output and not self.last and value:
            value = _only_output(value)
        return map_refs(value, lambda ref: Ref(self.id(ref)))

    def _order(self, order: bytes) -> bytes:
        return self.number.to_bytes(2, "big") + order

    def _name(self, name: str) -> str:
        return f"{name}_{self.number}" if self.number else name


def _only_output(args: Value) -> Value:
    assert isinstance(args, tuple)
    outputs = args[0]
    return (outputs.items[0],) if isinstance(outputs, ListArg) else (outputs[0],)


def in_a_row(source: Path, count: int, path: Path) -> Path:
    """A trace of `count` copies of a model in a row, on which all passes ran that ran on the model."""
    trace = Trace(source)
    writer = TraceWriter(path, trace.info)
    writer.begin()
    writer.add_ops(trace.ops.values())
    writer.add_sites(trace.sites.values())
    for file in sorted({run.file for run in trace.runs}):
        found = trace.source(file)
        if found is not None:
            writer.add_source(found)
    copies = _copies(trace, count)
    first = GraphState()
    for each in copies:
        first = first.apply_all(each.state(trace.first()))
    writer.add_subject(trace.subjects[0], first)
    _write_runs(trace, writer, copies)
    writer.close()
    trace.close()
    return path


def _copies(trace: Trace, count: int) -> list[Copy]:
    nodes = trace.first().root.in_order()
    (given,) = [n.id for n in nodes if n.constant is not None and n.constant.kind == "user_input"]
    (output,) = [n.id for n in nodes if n.op == "output"]
    made = [c.node_id for step in range(1, trace.steps + 1) for c in trace.rewrite(step).changes]
    stride = max([*made, *(n.id for n in nodes)]) + 1
    return [Copy(i, i == count - 1, given, output, stride) for i in range(count)]


def _write_runs(trace: Trace, writer: TraceWriter, copies: Sequence[Copy]) -> None:
    """Write what each pass run did, one copy after the other."""
    steps: dict[int, list[int]] = {}
    for header in trace.headers:
        steps.setdefault(header.run, []).append(header.step)
    settling = trace.cursor(0).settling_after
    for each in copies:
        writer.add_settling(0, 0, list(each.changes(settling(0))))
    for run in trace.runs:
        begun = writer.steps
        for each in copies:
            for step in steps.get(run.id, ()):
                _write(writer, each, trace.rewrite(step))
                writer.add_settling(0, run.id, list(each.changes(settling(step))))
        looks = [each.attempt(found) for each in copies for found in trace.attempts(run.id)]
        table = attempts_table([replace(found, id=i) for i, found in enumerate(looks)])
        writer.put_run(replace(run, first_step=begun, last_step=writer.steps, attempts=len(looks)), table)


def _write(writer: TraceWriter, copy: Copy, rewrite: Rewrite) -> None:
    focus = None if rewrite.focus is None else copy.id(rewrite.focus)
    changes = list(copy.changes(rewrite.changes))
    if changes:
        writer.add_rewrite(0, rewrite.run, changes, path=rewrite.path, focus=focus, name=rewrite.name)


def seconds(left: Path, right: Path, rounds: int) -> tuple[float, str]:
    """Median CPU seconds of opening and comparing two traces, and what is found."""
    taken = []
    for _ in range(rounds):
        gc.collect()
        began = time.process_time()
        traces = Trace(left), Trace(right)
        found = compare(*traces)
        taken.append(time.process_time() - began)
        counts = [found.count(each) for each in ("equal", "different", "only_left", "only_right")]
        told = "{:,} same, {:,} differ, {:,} + {:,} on one side only".format(*counts)
        for trace in traces:
            trace.close()
    return statistics.median(taken), told


def report(title: str, pairs: Sequence[tuple[int, int, Path, Path]], rounds: int) -> None:
    """Measure and print one kind of comparison at all sizes."""
    print(f"\n{title}")
    print(f"{'nodes':>7} {'rewrites':>9} {'seconds':>8} {'us/rewrite':>11}  found")
    each = []
    for nodes, steps, left, right in pairs:
        took, told = seconds(left, right, rounds)
        each.append(took / steps)
        print(f"{nodes:7,} {steps:9,} {took:8.2f} {1e6 * each[-1]:11.0f}  {told}", flush=True)
    more = pairs[-1][1] / pairs[0][1]
    print(f"time per rewrite grows by {each[-1] / each[0]:.2f} over {more:.0f} x the rewrites")


def main() -> None:
    """Record, make larger traces, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="comparisons of which the median is told")
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 4, 12, 36], help="sizes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, changed = record(folder)
        same, differ = [], []
        for count in given.copies:
            left = in_a_row(plain, count, folder / f"plain{count}.qdqtrace")
            right = in_a_row(changed, count, folder / f"changed{count}.qdqtrace")
            trace = Trace(left)
            size = (len(trace.first().root), trace.steps)
            trace.close()
            same.append((*size, left, left))
            differ.append((*size, left, right))
        report("same", same, given.rounds)
        report("changed", differ, given.rounds)


if __name__ == "__main__":
    main()
