"""`qdqviz bisect`: the first rewrite that breaks the program."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdqviz.cli.check import judgement_json, says
from qdqviz.cli.checking import (
    add_inputs,
    add_interventions,
    add_tolerate,
    checked_session,
    interventions_of,
)
from qdqviz.cli.command import Command
from qdqviz.cli.options import add_json, add_passes, add_target
from qdqviz.cli.output import Output
from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.check.bisect import Bisection, IsGood, Trial
    from qdqviz.live.session import Session


class Bisect(Command):
    """Find the first rewrite that breaks the program.

    That takes about log2(n) runs for n rewrites. Broken is, by default, a program whose outputs
    differ from those before the passes. With --run a command of yours decides: {module} in it
    becomes a .pt2 of the program at some step, and its exit code says good (0), cannot tell (125),
    or bad (any other).

      qdqviz bisect encoder -p cadence-reorder
      qdqviz bisect encoder -p cadence-reorder --run 'python my_eval.py {module}'
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add TARGET, `-p`, `--run`, inputs, interventions and `--json`."""
        add_target(parser)
        add_passes(parser, required=True)
        parser.add_argument("--run", metavar="COMMAND", help="a command that tells good from bad")
        add_inputs(parser)
        add_tolerate(parser)
        add_interventions(parser)
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Bisect, and say where."""
        from qdqviz.cli.failure import describe

        if options.run and (options.inputs or options.tolerate):
            raise UsageError("--run decides by itself: leave out --inputs and --tolerate")
        with checked_session(options, output, interventions_of(options)) as session:
            from qdqviz.check.bisect import bisect

            if session.error is not None:
                output.warn(f"{describe(session.trace, session.error)}; looking at the rewrites until then")
            found = bisect(session, _judge(session, options), _teller(output))
            if options.json:
                output.json(to_json(found, session))
            else:
                print_found(found, output)
                if found.step is not None and not interventions_of(options):
                    output.note(f"see it: {show_command(options, found.step)}")
        return 0


def _judge(session: Session, options: Namespace) -> IsGood:
    from qdqviz.check.bisect import by_command, by_outputs

    if options.run:
        return by_command(session, options.run, lambda program, file: write_pt2(program, file, session))
    return by_outputs(
        session, options.inputs, options.sets, seed=options.seed, tolerated=tuple(options.tolerate)
    )


def write_pt2(program: Any, file: Path, session: Session) -> None:
    """Write a program for a user's command, without the checks of an export: it may be broken."""
    import torch

    from qdqviz.export.prepare import exported_copies
    from qdqviz.load.dialect import dialect_of

    ((_, exported),) = exported_copies(program, None, session.loaded.inputs).items()
    if dialect_of(exported.graph_module) == "aten":
        torch.export.save(exported, file)
    else:
        from executorch import exir

        exir.save(exported, str(file))


def _teller(output: Output) -> Any:
    from qdqviz.ir.labels import shortened

    def tell(trial: Trial) -> None:
        (said,) = shortened([says(trial.judgement)])
        output.note(f"step {trial.step}: {trial.judgement.verdict} {said}".rstrip())

    return tell


def print_found(found: Bisection, output: Output) -> None:
    """The step, its pass and focus, and what is wrong there; names are short."""
    from qdqviz.ir.labels import shortened

    runs = f"{len(found.trials)} run{'' if len(found.trials) == 1 else 's'}"
    if found.step is None:
        output.line(f"no rewrite breaks the program ({runs})")
        return
    place = f"{found.path}/{found.focus}" if found.path else found.focus or ""
    focus, said = shortened([place, says(found.judgement)])
    output.line(f"step {found.step}: {found.name} at {focus} ({runs})")
    output.line(f"{found.judgement.verdict} {found.judgement.kind or ''}".rstrip())
    output.line(said)
    if found.unsure:
        output.line(f"or earlier, at {', '.join(map(str, found.unsure))}, of which nothing could be told")


def show_command(options: Namespace, step: int) -> str:
    """The command that shows a step of the same session."""
    words = ["qdqviz", "show", options.target, str(step)]
    for each in options.passes:
        words += ["-p", each]
    if options.method:
        words += ["--method", options.method]
    for each in options.imports or ():
        words += ["--import", each]
    return shlex.join(words)


def to_json(found: Bisection, session: Session) -> dict[str, Any]:
    """What `bisect --json` writes (schemas/bisect.schema.json)."""
    run = None if found.run is None else session.trace.runs[found.run]
    return {
        "target": session.loaded.name,
        "step": found.step,
        "pass": None if run is None else run.name,
        "label": None if run is None else run.label,
        "run": found.run,
        "focus": found.focus,
        "path": found.path,
        **judgement_json(found.judgement),
        "unsure": list(found.unsure),
        "trials": [{"step": each.step, **judgement_json(each.judgement)} for each in found.trials],
    }
