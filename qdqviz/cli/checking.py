"""Options and sessions of the commands that check, bisect, lint and try out."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qdqviz.cli.output import Output
from qdqviz.cli.traces import SUFFIX, plan_of
from qdqviz.errors import UsageError

if TYPE_CHECKING:
    from qdqviz.live.interventions import Intervention
    from qdqviz.live.session import Plan, Report, Session
    from qdqviz.load.loaded import Loaded
    from qdqviz.passes.entry import ResolvedPass

KINDS = ("quantization_step", "saturates", "shape_dtype", "wrong")
"""Kinds of difference, as in `qdqviz.check.report`."""


def add_inputs(parser: ArgumentParser) -> None:
    """Add `--inputs`, `--sets` and `--seed`."""
    parser.add_argument(
        "--inputs",
        metavar="FILE",
        help="what to run on: file.pt or file.py:callable (default: the example inputs, or random ones)",
    )
    parser.add_argument(
        "--sets", metavar="N", type=_count, default=1, help="how many input sets; further ones are random"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of random inputs (default: 0)")


def _count(text: str) -> int:
    """A number of input sets."""
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise ArgumentTypeError(f"{text!r} is no number of input sets: give 1 or more")
    return count


def add_tolerate(parser: ArgumentParser) -> None:
    """Add `--tolerate`."""
    parser.add_argument(
        "--tolerate",
        metavar="KIND",
        action="append",
        choices=KINDS,
        default=[],
        help=f"a kind of difference that is all right ({', '.join(KINDS)}); may repeat",
    )


def add_interventions(parser: ArgumentParser) -> None:
    """Add `--veto`, `--force` and `--with`."""
    parser.add_argument(
        "--veto",
        metavar="PASS:NODE",
        action="append",
        default=[],
        help="let a pass skip a node; may repeat (PASS#2 for its second run; NODE may be a short name)",
    )
    parser.add_argument(
        "--force",
        metavar="PASS:NODE@LINE:COL",
        action="append",
        default=[],
        help="let a decision about a node come out the other way; may repeat",
    )
    parser.add_argument("--with", dest="with_file", metavar="FILE", help="interventions kept in a .toml file")


def interventions_of(options: Namespace) -> tuple[Intervention, ...]:
    """The interventions that the options ask for: those in a file first.

    Raises:
        UsageError: One cannot be read.
    """
    from qdqviz.live.intervention_file import read_interventions
    from qdqviz.live.interventions import parse_force, parse_veto

    kept = read_interventions(Path(options.with_file)) if options.with_file else ()
    return (*kept, *map(parse_veto, options.veto), *map(parse_force, options.force))


@contextmanager
def checked_session(
    options: Namespace, output: Output, interventions: Sequence[Intervention] = (), path: Path | None = None
) -> Iterator[Session]:
    """Load the target and run its passes; a pass that raises leaves its error in the session.

    Args:
        options: Those of a command that took `add_target` and `add_passes`.
        output: Takes progress and warnings.
        interventions: What to veto and to force.
        path: Where the trace goes; None for a file that is gone when the block ends.

    Raises:
        UsageError: An intervention met nothing.
        QdqvizError: The target or a pass cannot be loaded.
    """
    import tempfile

    from qdqviz.cli.progress import pass_progress
    from qdqviz.live.session import dialect_warnings
    from qdqviz.live.settling import met_nothing

    with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
        plan = plan_of(options, path or Path(folder) / f"recorded{SUFFIX}")
        with pass_progress(output, f"loading {plan.target}") as tell:
            loaded, passes = plan.prepare()
            for warning in dialect_warnings(loaded, passes):
                output.warn(warning)
            chosen = _settled(interventions, loaded, passes, Path(folder))
            session = _recorded(plan, loaded, passes, chosen, tell)
        try:
            if session.unused and session.error is None:
                raise UsageError(met_nothing(session.unused, session.trace))
            yield session
        finally:
            session.trace.close()


def _recorded(
    plan: Plan,
    loaded: Loaded,
    passes: Sequence[ResolvedPass],
    interventions: Sequence[Intervention],
    tell: Report | None,
) -> Session:
    """Run the passes; once more where a node went by its short name, now by its whole one."""
    from qdqviz.live.session import run
    from qdqviz.live.settling import with_whole_name

    def attempt(chosen: Sequence[Intervention]) -> Session:
        return run(
            loaded,
            passes,
            plan.path,
            title=plan.target,
            command=plan.command,
            progress=tell,
            interventions=chosen,
        )

    session = attempt(interventions)
    if not session.unused:
        return session
    named = tuple(with_whole_name(each, session.trace) for each in interventions)
    if named == tuple(interventions):
        return session
    session.trace.close()
    return attempt(named)


def _settled(
    interventions: Sequence[Intervention], loaded: Loaded, passes: Sequence[ResolvedPass], folder: Path
) -> tuple[Intervention, ...]:
    """The interventions with every forced decision's outcome, which a run without them tells."""
    from qdqviz.live.interventions import Force
    from qdqviz.live.session import run

    open_forces = [each for each in interventions if isinstance(each, Force) and each.outcome is None]
    if not open_forces:
        return tuple(interventions)
    plain = run(loaded, passes, folder / f"plain{SUFFIX}")
    try:
        return tuple(_settle(each, plain) for each in interventions)
    finally:
        plain.trace.close()


def _settle(each: Intervention, plain: Session) -> Intervention:
    from qdqviz.live.interventions import Force
    from qdqviz.live.settling import settle, with_whole_name

    if not isinstance(each, Force):
        return each
    named = with_whole_name(each, plain.trace)
    assert isinstance(named, Force)
    try:
        return settle(named, plain.trace)
    except UsageError:
        # It may be about a node that is there only once the other interventions are in force.
        return each
