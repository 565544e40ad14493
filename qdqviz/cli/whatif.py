"""`qdqviz whatif`: what passes do when a rewrite is vetoed or a guard is forced."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdqviz.cli.check import print_report
from qdqviz.cli.check import to_json as check_json
from qdqviz.cli.checking import add_inputs, add_interventions, checked_session, interventions_of
from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_passes, add_target
from qdqviz.cli.output import Output
from qdqviz.cli.table import columns
from qdqviz.cli.traces import new_trace_path
from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.live.interventions import Intervention
    from qdqviz.live.session import Session
    from qdqviz.trace.reader import Trace


class Whatif(Command):
    """Veto rewrites or force past guards, and check what comes out.

    A guard that can be forced with equal values is about profit (or too strict); one that cannot is
    needed. LINE counts from 1 and COL from 0, as `qdqviz why` shows them. A list of interventions
    is kept with --save and replays with --with, here and in check, bisect and export.

      qdqviz whatif encoder -p cadence-reorder --veto SinkOpsCloserToUsePass:q_7
      qdqviz whatif slices -p mypass.py:Fuse --force Fuse:relu@41:11 --save i.toml
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TARGET, `-p`, interventions, `--save`, `-o`, inputs and `--json`."""
        add_target(parser)
        add_passes(parser, required=True)
        add_interventions(parser)
        parser.add_argument("--save", metavar="FILE", help="keep the interventions in a .toml file")
        parser.add_argument("-o", "--output", metavar="TRACE", help="keep the trace of the run with them")
        add_inputs(parser)
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Run without and with the interventions, and compare."""
        from qdqviz.cli.failure import check_error

        interventions = interventions_of(options)
        if not interventions:
            raise UsageError("there is nothing to try: give --veto, --force or --with")
        path = new_trace_path(options.output) if options.output else None
        with checked_session(options, output) as plain:
            before = _rewrites(plain.trace)
        with checked_session(options, output, interventions, path) as session:
            from qdqviz.check.checker import check

            if options.save:
                _save(Path(options.save), session.interventions)
            report = check(session, options.inputs, options.sets, seed=options.seed)
            told = to_json(session, before, check_json(report, session))
            if options.json:
                output.json(told)
            else:
                _print(told, output)
                output.line()
                print_report(report, output)
            check_error(session, kept=options.output is not None)
        return 0


def _save(path: Path, interventions: tuple[Intervention, ...]) -> None:
    from qdqviz.live.intervention_file import write_interventions

    write_interventions(path, interventions)


def _rewrites(trace: Trace) -> dict[str, int]:
    """Rewrites by the label of the pass run."""
    return {run.label: run.rewrites for run in trace.runs if run.kind == "pass"}


def to_json(session: Session, before: dict[str, int], check: dict[str, Any]) -> dict[str, Any]:
    """What `whatif --json` writes (schemas/whatif.schema.json)."""
    after = _rewrites(session.trace)
    labels = dict.fromkeys([*before, *after])
    passes = [{"label": each, "before": before.get(each), "after": after.get(each)} for each in labels]
    return {
        "interventions": [_intervention_json(each) for each in session.interventions],
        "passes": passes,
        "check": check,
    }


def _intervention_json(each: Intervention) -> dict[str, Any]:
    from qdqviz.live.interventions import Force

    about = {"run": each.run, "node": each.node, "path": each.path}
    if not isinstance(each, Force):
        return {"kind": "veto", **about}
    place = {"file": each.file, "line": each.line, "column": each.column, "outcome": each.outcome}
    return {"kind": "force", **about, **place}


def _print(told: dict[str, Any], output: Output) -> None:
    for each in told["interventions"]:
        node = f"{each['path']}/{each['node']}" if each["path"] else each["node"]
        what = f"{each['kind']} {each['run']} at {node}"
        if each["kind"] == "force":
            outcome = "the opposite" if each["outcome"] is None else str(each["outcome"])
            what += f": {each['line']}:{each['column']} comes out as {outcome}"
        output.line(what)
    output.line()
    rows = [("pass", "rewrites without", "with")]
    rows += [
        (each["label"], *("" if n is None else str(n) for n in (each["before"], each["after"])))
        for each in told["passes"]
    ]
    for line in columns(rows, right={1, 2}):
        output.line(line)
