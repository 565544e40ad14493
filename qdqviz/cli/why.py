"""`qdqviz why`: why a pass did, or did not do, something to a node."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_trace
from qdqviz.cli.output import Output
from qdqviz.cli.traces import SUFFIX, names_trace, open_trace, plan_of

if TYPE_CHECKING:
    from qdqviz.explain.answer import Guard, NearMiss, NodeLink, Seen, Why
    from qdqviz.live.session import Session
    from qdqviz.trace.model import PassRun
    from qdqviz.trace.reader import Trace


class WhyCommand(Command):
    """Say why a pass left a node alone, or what it did to it.

    The answer is the test that turned the node down, with the values it saw, and the chain of helpers
    that leads to it. Without --node: who came nearest to being rewritten, grouped by that test.

      qdqviz why t.qdqtrace --pass FuseMMWithAdd --node aten_mm_default
      qdqviz why encoder -p cadence-fuse --pass FuseMMWithAdd
      qdqviz why t.qdqtrace --pass FuseMMWithAdd#2 --node aten_mm_default@14 --json
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TRACE, `--pass`, `--node` and `--json`."""
        add_trace(parser)
        parser.add_argument(
            "--pass",
            dest="pass_",
            metavar="PASS",
            help="the pass asked about, PASS#2 for its second run; may be left out where only one ran",
        )
        parser.add_argument(
            "--node",
            metavar="NODE",
            help="its name before that pass (`qdqviz nodes TRACE --pass PASS` lists them), NAME@STEP after a"
            " step, PATH/NAME in a sub-graph",
        )
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Answer; exit with 1 where a pass raised while it was recorded."""
        with _trace(options, output) as (trace, session):
            from qdqviz.explain.why import why

            answer = why(trace, _pass_name(trace, options.pass_), options.node)
            if options.json:
                output.json(to_json(answer))
            else:
                from qdqviz.explain.brief import brief_lines

                for line in brief_lines(trace, answer):
                    output.line(line)
            if session is not None:
                from qdqviz.cli.failure import check_error

                check_error(session, kept=False)
        return 0


@contextmanager
def _trace(options: Namespace, output: Output) -> Iterator[tuple[Trace, Session | None]]:
    """The trace, and where it was recorded just now the session: a pass that raised is a question, too."""
    if names_trace(options.target) or not options.passes:
        with open_trace(options, output) as trace:
            yield trace, None
        return
    import tempfile
    from pathlib import Path

    from qdqviz.cli.progress import start

    with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
        session = start(plan_of(options, Path(folder) / f"recorded{SUFFIX}"), output)
        try:
            yield session.trace, session
        finally:
            session.trace.close()


def _pass_name(trace: Trace, name: str | None) -> str | int:
    """The pass asked about; the only one that ran where none was named."""
    if name is not None:
        return name
    from qdqviz.errors import UsageError

    runs = [run for run in trace.runs if run.kind == "pass"]
    outer = [run for run in runs if not _is_inside_a_pass(trace, run)]
    if len(outer) == 1:
        return outer[0].id
    names = ", ".join(dict.fromkeys(run.label for run in outer[:12]))
    raise UsageError(f"say which pass with --pass: {names}" if names else "no pass ran in this trace")


def _is_inside_a_pass(trace: Trace, run: PassRun) -> bool:
    """Whether another pass ran it, be it through a pass manager of its own."""
    parent = run.parent
    while parent is not None and trace.runs[parent].kind != "pass":
        parent = trace.runs[parent].parent
    return parent is not None


def to_json(answer: Why) -> dict[str, Any]:
    """What `why --json` writes (schemas/why.schema.json)."""
    return {
        "verdict": answer.verdict,
        "reason": answer.reason,
        "pass": answer.pass_,
        "run": answer.run,
        "inside": answer.inside,
        "graph": answer.graph,
        "node": _link_json(answer.node),
        "through": _link_json(answer.through),
        "guard": None if answer.guard is None else guard_json(answer.guard),
        "values": [_seen_json(seen) for seen in answer.values],
        "chain": [guard_json(guard) for guard in answer.chain],
        "passed": [guard_json(guard) for guard in answer.passed],
        "idle": answer.idle,
        "rewrites": list(answer.rewrites),
        "attempt": answer.attempt,
        "attempts": list(answer.attempts),
        "step": answer.step,
        "looked_for": [
            {"call": each.call, "op": each.op, "target": each.target, "found": each.found, "path": each.path}
            for each in answer.looked_for
        ],
        "wanted": list(answer.wanted),
        "nearest": [_link_json(node) for node in answer.nearest],
        "kinship": answer.kinship,
        "remarks": list(answer.remarks),
        "further": None if answer.further is None else _further_json(answer.further),
        "near_misses": [_miss_json(miss) for miss in answer.near_misses],
        "error": None if answer.error is None else _error_json(answer),
        "note": answer.note,
        "sentences": list(answer.sentences),
    }


def guard_json(guard: Guard) -> dict[str, Any]:
    """One guard; its siblings as well."""
    return {
        "file": guard.file,
        "line": guard.line,
        "column": guard.column,
        "function": guard.function,
        "text": guard.text,
        "reason": guard.reason,
        "kind": guard.kind,
        "outcome": guard.outcome,
        "case": guard.case,
        "bound": guard.bound,
        "about": [_link_json(node) for node in guard.about],
        "values": [_seen_json(seen) for seen in guard.values],
        "siblings": [guard_json(sibling) for sibling in guard.siblings],
    }


def _seen_json(seen: Seen) -> dict[str, Any]:
    return {"text": seen.text, "value": seen.value, "nodes": [_link_json(node) for node in seen.nodes]}


def _link_json(link: NodeLink | None) -> dict[str, Any] | None:
    return None if link is None else {"id": link.id, "name": link.name, "path": link.path}


def _miss_json(miss: NearMiss) -> dict[str, Any]:
    return {
        "guard": guard_json(miss.guard),
        "reason": miss.reason,
        "count": miss.count,
        "passed": miss.passed,
        "filtered": miss.filtered,
        "nodes": [_link_json(node) for node in miss.nodes],
        "ops": [{"op": op, "count": count} for op, count in miss.ops],
    }


def _further_json(further: Why) -> dict[str, Any]:
    guard = further.guard
    return {
        "through": _link_json(further.through),
        "attempt": further.attempt,
        "guard": None if guard is None else guard_json(guard),
    }


def _error_json(answer: Why) -> dict[str, Any]:
    error = answer.error
    assert error is not None
    return {
        "type": error.type,
        "message": error.message,
        "file": error.file,
        "line": error.line,
        "text": error.text,
    }
