"""A progress bar over the passes of a run, where somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from qdqviz.cli.output import Output

if TYPE_CHECKING:
    from qdqviz.live.session import Plan, Progress, Report, Session


def start(plan: Plan, output: Output) -> Session:
    """Load and run what a plan says, with progress and warnings on standard error.

    Raises:
        QdqvizError: If the target or a pass is unknown, or cannot be loaded.
    """
    from qdqviz.live.session import dialect_warnings, run

    # What a model or a pass prints is beside the result.
    with pass_progress(output, f"loading {plan.target}") as tell, redirect_stdout(sys.stderr):
        loaded, passes = plan.prepare()
        for warning in dialect_warnings(loaded, passes):
            output.warn(warning)
        return run(loaded, passes, plan.path, title=plan.target, command=plan.command, progress=tell)


@contextmanager
def pass_progress(output: Output, first: str) -> Iterator[Report | None]:
    """A bar on standard error that follows a run; None where nobody is looking.

    Args:
        output: Says whether somebody is.
        first: What the bar says until the first pass begins.
    """
    if not output.shows_progress:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=None)

        def tell(progress: Progress) -> None:
            bar.update(task, description=progress.name, completed=progress.done, total=progress.total)

        yield tell
