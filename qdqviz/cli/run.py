"""`qdqviz run`: passes on a target, recorded, without a terminal."""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_passes, add_target
from qdqviz.cli.output import STDOUT, Output
from qdqviz.cli.table import columns
from qdqviz.cli.traces import SUFFIX, new_trace_path, plan_of

if TYPE_CHECKING:
    from qdqviz.live.session import Session
    from qdqviz.trace.model import PassRun
    from qdqviz.trace.reader import Trace


class Run(Command):
    """Run passes on a target and record every rewrite.

    The target's own program is left as it is; the passes work on a copy. A pass that raises ends
    the run: what was recorded until then is kept, and the exit code is 1.

      qdqviz run encoder -p cadence-reorder -o t.qdqtrace
      qdqviz run model.py:build -p mypasses.py:Fuse,FuseMMWithAdd
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TARGET, `-p`, `-o` and `--json`."""
        add_target(parser)
        add_passes(parser, required=True)
        parser.add_argument(
            "-o",
            "--output",
            metavar="TRACE",
            help=f"where the trace goes; - is standard output (default: NAME{SUFFIX} in this folder)",
        )
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Record, say what each pass did, and fail if one raised."""
        from qdqviz.load.target import refuse_foreign

        refuse_foreign(options.target)  # before what its name makes of the trace's
        if options.output == STDOUT:
            return self._to_stdout(options, output)
        self._record(options, output, new_trace_path(options.output or default_trace(options.target)))
        return 0

    def _to_stdout(self, options: Namespace, output: Output) -> int:
        if options.json:
            from qdqviz.errors import UsageError

            raise UsageError("the trace and --json cannot both go to standard output: name a file with -o")
        with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
            path = Path(folder) / f"recorded{SUFFIX}"
            try:
                self._record(options, output, path, summary=False)
            finally:
                if path.exists():
                    output.binary(path.read_bytes())
        return 0

    def _record(self, options: Namespace, output: Output, path: Path, *, summary: bool = True) -> None:
        from qdqviz.cli.failure import check_error
        from qdqviz.cli.progress import start
        from qdqviz.explain.naming import counted

        session = start(plan_of(options, path), output)
        with closing(session.trace):
            if options.json:
                output.json(to_json(session))
            elif summary:
                print_runs(session.trace, output)
            check_error(session, kept=summary)
            if summary:
                output.note(f"recorded {counted(session.trace.steps, 'rewrite')} in {path}")


def default_trace(target: str) -> str:
    """The trace's file name for a target: `encoder.qdqtrace` for encoder, models/a.pt2 or a.py:encoder."""
    where, colon, attribute = target.rpartition(":")
    name = attribute if colon and where else Path(target).stem
    return f"{name or 'recorded'}{SUFFIX}"


def print_runs(trace: Trace, output: Output) -> None:
    """One line for each pass run: rewrites, declined attempts, seconds.

    A pass manager that called one pass only is left out: qdqviz itself gives each pass one.
    """
    depth: dict[int | None, int] = {None: -1}
    rows = [("pass", "rewrites", "declined", "seconds", "")]
    for run in trace.runs:
        if run.kind == "manager" and len(trace.children(run.id)) == 1:
            depth[run.id] = depth.get(run.parent, -1)
            continue
        depth[run.id] = depth.get(run.parent, -1) + 1
        name = "  " * depth[run.id] + run.label
        rows.append((name, str(run.rewrites), str(run.declined), f"{run.seconds:.2f}", _remark(run)))
    for line in columns(rows, right={1, 2, 3}):
        output.line(line)


def to_json(session: Session) -> dict[str, Any]:
    """What `run --json` writes (schemas/run.schema.json)."""
    from qdqviz.cli.failure import describe

    trace = session.trace
    return {
        "trace": str(trace.path),
        "target": session.loaded.name,
        "dialect": session.loaded.dialect,
        "steps": trace.steps,
        "passes": [run_json(run, trace) for run in trace.runs],
        "error": None if session.error is None else describe(trace, session.error),
    }


def run_json(run: PassRun, trace: Trace) -> dict[str, Any]:
    """One pass run."""
    return {
        "id": run.id,
        "pass": run.name,
        "label": run.label,
        "source": run.source,
        "kind": run.kind,
        "parent": run.parent,
        "subject": trace.subjects[run.subject].name,
        "first_step": run.first_step,
        "last_step": run.last_step,
        "rewrites": run.rewrites,
        "attempts": run.attempts,
        "declined": run.declined,
        "seconds": run.seconds,
        "modified": run.modified,
        "error": None if run.error is None else f"{run.error.type}: {run.error.message}",
    }


def _remark(run: PassRun) -> str:
    from qdqviz.explain.claims import claim_text

    if run.error is not None:
        return f"raised {run.error.type}"
    return claim_text(run) if run.done else "cut off"
