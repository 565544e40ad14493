"""`qdqviz nodes`: every node of a program at a step, by name."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_step, add_trace
from qdqviz.cli.output import Output
from qdqviz.cli.table import columns
from qdqviz.cli.traces import open_trace
from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.ir.graph import Body, GraphState
    from qdqviz.ir.node import NodeState
    from qdqviz.trace.reader import Trace


class Nodes(Command):
    """List the nodes of a program at a step.

    In execution order. STEP is the graph after that step, 0 the one before all passes; without it the
    last one is listed.
    With --pass it is the graph as that pass found it: where `why --pass PASS --node NAME` looks for
    names. Commands take whole names; `why` takes the short ones of pictures and sentences as well.

      qdqviz nodes t.qdqtrace 14
      qdqviz nodes t.qdqtrace --pass SinkOpsCloserToUsePass
      qdqviz nodes encoder -p cadence-reorder 0 --json
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TRACE, STEP, `--pass` and `--json`."""
        add_trace(parser)
        add_step(parser, optional=True, first=0)
        parser.add_argument(
            "--pass",
            dest="pass_",
            metavar="PASS",
            help="in place of STEP: the graph right before this pass, PASS#2 for its second run",
        )
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Print the list."""
        if options.step is not None and options.pass_ is not None:
            raise UsageError("say either STEP or --pass")
        with open_trace(options, output) as trace:
            graphs = list(_graphs(trace, options.step, options.pass_))
            if options.json:
                output.json([row for graph in graphs for row in to_json(graph, trace)])
            else:
                print_nodes(graphs, trace, output)
        return 0


@dataclass(frozen=True)
class NamedGraph:
    """One graph of one program at one instant."""

    subject: str
    """The program's name."""
    path: str
    """Path of the sub-graph; empty for the outermost one."""
    body: Body
    """Its nodes."""


def _graphs(trace: Trace, step: int | None, pass_: str | None) -> Iterator[NamedGraph]:
    """The graphs to list: those of every program, or of the one that the step or the pass is about."""
    for subject, state in _states(trace, step, pass_):
        for path in state.paths():
            yield NamedGraph(trace.subjects[subject].name, path, state.body(path))


def _states(trace: Trace, step: int | None, pass_: str | None) -> Iterator[tuple[int, GraphState]]:
    from qdqviz.explain.ask import find_runs, single_run

    if pass_ is not None:
        run = single_run(trace, find_runs(trace, pass_))
        yield run.subject, trace.cursor(run.subject).at(run.first_step)
    elif step:
        trace.check_step(step)
        yield trace.headers[step - 1].subject, trace.after(step)
    else:
        for subject in trace.subjects:
            yield subject.id, trace.final(subject.id) if step is None else trace.first(subject.id)


def print_nodes(graphs: list[NamedGraph], trace: Trace, output: Output) -> None:
    """One line for each node, under a line for each graph where there are several."""
    for index, graph in enumerate(graphs):
        if len(graphs) > 1:
            if index:
                output.line()
            output.line(f"{graph.subject}/{graph.path}" if graph.path else graph.subject)
        titles = ("", "name", "short", "makes", "what it does")
        for line in columns([titles, *map(_cells, _rows(graph.body, trace, short=True))], right={0}):
            output.line(line)


@dataclass(frozen=True)
class Row:
    """What is listed of a node."""

    position: int
    """Place in the execution order, from 1 on."""
    node: NodeState
    """The node."""
    short: str
    """Its short name; the whole one where two would read alike."""
    makes: str
    """dtype and shape of what it makes."""
    label: str
    """What it does."""


def _rows(body: Body, trace: Trace, *, short: bool) -> Iterator[Row]:
    """The rows of a graph; with `short` nodes that others name go by short names."""
    from qdqviz.ir.computed import ComputedSpecs
    from qdqviz.ir.labels import op_label, short_names
    from qdqviz.ir.text import spec_text

    names = short_names(node.name for node in body)
    specs = ComputedSpecs(body)

    def name_of(ref: int) -> str:
        found = body.get(ref)
        return "?" if found is None else names[found.name] if short else found.name

    for position, node in enumerate(body, start=1):
        made = spec_text(specs.spec(node.id))
        yield Row(position, node, names[node.name], made, op_label(node, trace.ops, name_of))


def _cells(row: Row) -> tuple[str, ...]:
    name = row.node.name
    return (str(row.position), name, "" if row.short == name else row.short, row.makes, row.label)


def to_json(graph: NamedGraph, trace: Trace) -> Iterator[dict[str, Any]]:
    """What `nodes --json` writes of one graph (schemas/nodes.schema.json)."""
    from qdqviz.ir.roles import role

    body = graph.body
    for row in _rows(body, trace, short=False):
        node = row.node
        yield {
            "program": graph.subject,
            "path": graph.path,
            "position": row.position,
            "id": node.id,
            "name": node.name,
            "short": row.short,
            "op": node.op,
            "target": node.target,
            "label": row.label,
            "role": str(role(node)),
            "makes": row.makes,
            "inputs": [body[each].name for each in body.inputs(node.id)],
            "users": [body[each].name for each in body.users(node.id)],
        }
