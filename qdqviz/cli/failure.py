"""What to say about a run that ended early: which pass raised what, where, and what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qdqviz.errors import PassError

if TYPE_CHECKING:
    from qdqviz.live.session import Session
    from qdqviz.trace.model import PassError as RaisedInPass
    from qdqviz.trace.model import PassRun
    from qdqviz.trace.reader import Trace


def check_error(session: Session, *, kept: bool = True) -> None:
    """Raise what ended a session early, in one line.

    Args:
        session: A session that has run.
        kept: Whether its trace outlives the command, so that it is worth naming.

    Raises:
        PassError: If a pass raised.
        KeyboardInterrupt: If the user did.
    """
    error = session.error
    if error is None:
        return
    rest = f"; {what_is_kept(session.trace)}" if kept else ""
    if isinstance(error, KeyboardInterrupt):
        raise KeyboardInterrupt(f"interrupted{rest}") from error
    raise PassError(f"{describe(session.trace, error)}{rest}") from error


def describe(trace: Trace, error: BaseException) -> str:
    """Which pass raised what, and at which line."""
    run = raising_run(trace)
    if run is None or run.error is None:
        return f"{type(error).__name__}: {_first_line(str(error))}"
    return f"{_who(trace, run)} raised {_what(run.error)}"


def _who(trace: Trace, run: PassRun) -> str:
    """The pass; for a manager that raised by itself, as its checks do, also the pass that it ran last."""
    ran = [each.label for each in trace.runs if each.parent == run.id and each.kind == "pass"]
    return f"{run.label}, after {ran[-1]}," if run.kind == "manager" and ran else run.label


def raising_run(trace: Trace) -> PassRun | None:
    """The innermost pass run that an exception ended, or None."""
    failed = [run for run in trace.runs if run.error is not None]
    return failed[-1] if failed else None


def raised(trace: Trace) -> list[str]:
    """One line for each pass that an exception ended: what it raised, where, and what tells more."""
    lines = []
    for run in trace.runs:
        if run.error is not None and not any(each.error and each.parent == run.id for each in trace.runs):
            ask = f"; `qdqviz why {trace.path} --pass {run.label}` tells more" if run.kind == "pass" else ""
            lines.append(f"{_who(trace, run)} raised {_what(run.error)}{ask}")
    return lines


def what_is_kept(trace: Trace) -> str:
    """How much a trace holds and where it is."""
    from qdqviz.explain.naming import counted

    verb = "is" if trace.steps == 1 else "are"
    return f"the {counted(trace.steps, 'rewrite')} until then {verb} in {trace.path}"


def _what(error: RaisedInPass) -> str:
    message = f": {_first_line(error.message)}" if error.message else ""
    where = f" at {_short_path(error.file)}:{error.line}" if error.file else ""
    return f"{error.type}{message}{where}"


def _short_path(file: str) -> str:
    """A path relative to the current folder where it lies below it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
