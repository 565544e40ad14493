"""`qdqviz steps`: every rewrite of a trace, one line each."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from qdqviz.cli.command import Command
from qdqviz.cli.failure import raised
from qdqviz.cli.options import add_json, add_trace
from qdqviz.cli.output import Output
from qdqviz.cli.table import columns
from qdqviz.cli.traces import open_trace

if TYPE_CHECKING:
    from qdqviz.trace.model import Rewrite
    from qdqviz.trace.reader import Trace


class Steps(Command):
    """List the rewrites of a trace, one line each.

    Each is told in a sentence: what the pass did, and what that gained.

      qdqviz steps t.qdqtrace
      qdqviz steps encoder -p cadence-reorder --json
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TRACE and `--json`."""
        add_trace(parser)
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Print the list."""
        with open_trace(options, output) as trace:
            if options.json:
                output.json(to_json(trace))
            else:
                print_steps(trace, output)
        return 0


def print_steps(trace: Trace, output: Output) -> None:
    """One line for each rewrite: step, pass, what it did; and one for each pass that raised."""
    if not trace.complete:
        output.warn(f"{trace.path} is incomplete: its recording was cut off or still runs")
    if not trace.steps:
        output.note(nothing_happened(trace))
    else:
        _print_rows(trace, output)
    for line in raised(trace):
        output.line(line)


def _print_rows(trace: Trace, output: Output) -> None:
    from qdqviz.explain.sentence import sentence

    several = len({(header.subject, header.path) for header in trace.headers}) > 1
    rows = [["step", "pass", *(["graph"] if several else [])]]
    for header in trace.headers:
        where = [graph_name(trace, header)] if several else []
        rows.append([str(header.step), trace.runs[header.run].label, *where])
    # Sentences come last and one by one, so that the first lines of a long list are there at once.
    for step, start in enumerate(columns(rows, right={0}, ragged=False)):
        if output.closed:
            break
        output.line(f"{start}  {sentence(trace, trace.rewrite(step)) if step else 'what it did'}")


def nothing_happened(trace: Trace) -> str:
    """What to say about a trace without a rewrite."""
    from qdqviz.explain.naming import counted

    declined = sum(run.declined for run in trace.runs)
    passes = sum(run.kind == "pass" for run in trace.runs)
    return f"no rewrites: {counted(passes, 'pass')} ran, and {counted(declined, 'attempt')} declined"


def to_json(trace: Trace) -> list[dict[str, Any]]:
    """What `steps --json` writes (schemas/steps.schema.json)."""
    return [step_json(trace, trace.rewrite(step)) for step in range(1, trace.steps + 1)]


def step_json(trace: Trace, rewrite: Rewrite) -> dict[str, Any]:
    """One step."""
    from qdqviz.explain.effect import effect_of, states_around
    from qdqviz.explain.sentence import sentence_of
    from qdqviz.explain.title import title_of

    before, after = states_around(trace, rewrite)
    effect = effect_of(rewrite, before, after)
    run = trace.runs[rewrite.run]
    return {
        "step": rewrite.step,
        "pass": run.name,
        "label": run.label,
        "run": run.id,
        "focus": rewrite.name,
        "graph": graph_name(trace, rewrite),
        "subject": rewrite.subject,
        "path": rewrite.path,
        "title": title_of(effect, before, after),
        "sentence": sentence_of(effect, before, after, trace.ops),
        "kind": str(effect.kind),
        "changes": len(rewrite.changes),
        "unconditional": rewrite.unconditional,
        "note": rewrite.note,
    }


def graph_name(trace: Trace, rewrite: Rewrite) -> str:
    """The graph that a rewrite changed: its subject's name, and below it the path of a sub-graph."""
    subject = trace.subjects[rewrite.subject].name
    return f"{subject}/{rewrite.path}" if rewrite.path else subject
