"""The session: passes run on a copy of a loaded program while everything is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from qdqviz.trace.reader import Trace

if TYPE_CHECKING:
    from qdqviz.live.interventions import Intervention, Steering
    from qdqviz.live.store import Store
    from qdqviz.load.loaded import Loaded
    from qdqviz.passes.entry import ResolvedPass

# Torch is imported by what is imported inside functions here: the terminal and the command line
# import this module when they start.


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    done: int
    """Passes that have ended."""
    total: int
    """Passes to run."""
    name: str
    """The pass that runs now; empty when all have ended."""
    trace: Path
    """The trace being written; it may be read along."""


Report: TypeAlias = Callable[[Progress], None]
"""Is told before every pass and once at the end."""


@dataclass(frozen=True)
class Session:
    """A trace and the program behind it."""

    loaded: Loaded
    """What was loaded; its program is as the user's code made it."""
    passes: tuple[ResolvedPass, ...]
    """The passes that were to run, in order."""
    trace: Trace
    """What was recorded, up to the error if there was one."""
    program: Any
    """The copy that the passes worked on, as it is now."""
    error: BaseException | None = None
    """What ended the run early: what a pass raised, or KeyboardInterrupt."""
    store: Store | None = None
    """The objects that the trace only names; what rebuilds a step or checks one needs them."""
    interventions: tuple[Intervention, ...] = ()
    """What was to be vetoed and forced while the passes ran."""
    unused: tuple[tuple[Intervention, str | None], ...] = ()
    """Those of them that met nothing (no such pass run, node or decision), each with the reason if known."""

    @property
    def subjects(self) -> tuple[int, ...]:
        """The subjects of the trace that are the session's program: more than one where a pass copied it."""
        named = tuple(each.id for each in self.trace.subjects if each.name == self.loaded.method)
        return named or tuple(each.id for each in self.trace.subjects[:1])

    @property
    def subject(self) -> int:
        """The subject that the session's program is at last."""
        return self.subjects[-1] if self.subjects else 0


@dataclass(frozen=True)
class Plan:
    """A session that has not begun: what to load, and what to run on it."""

    target: str
    """What names the program on the command line."""
    passes: tuple[str, ...] = ()
    """Specifications of passes, as after `-p`."""
    imports: tuple[str, ...] = ()
    """Modules to import before loading, for their op libraries."""
    method: str | None = None
    """The method, where the program has several."""
    path: Path | None = None
    """Where to write the trace; None for a temporary file."""
    command: tuple[str, ...] = ()
    """The command line, kept in the trace."""

    def prepare(self) -> tuple[Loaded, tuple[ResolvedPass, ...]]:
        """Find the passes, then load the program.

        Raises:
            QdqvizError: A pass or the target is unknown, or cannot be imported or loaded.
        """
        from qdqviz.load.quiet import import_toolchain, quiet
        from qdqviz.load.target import load, refuse_foreign
        from qdqviz.passes.resolve import resolve

        refuse_foreign(self.target)
        import_toolchain()
        with quiet():
            passes = tuple(resolve(self.passes)) if self.passes else ()
        return load(self.target, imports=self.imports, method=self.method), passes

    def start(self, progress: Report | None = None) -> Session:
        """Load the program and run the passes on a copy of it.

        Raises:
            QdqvizError: Like `prepare`. What a pass raises ends up in the session instead.
        """
        loaded, passes = self.prepare()
        return run(loaded, passes, self.path, title=self.target, command=self.command, progress=progress)


def run(
    loaded: Loaded,
    passes: Sequence[ResolvedPass],
    path: Path | None = None,
    *,
    title: str | None = None,
    command: Sequence[str] = (),
    progress: Report | None = None,
    interventions: Sequence[Intervention] = (),
) -> Session:
    """Run passes one by one on a copy of the loaded program, and record them.

    Args:
        loaded: The program; it is left as it is.
        passes: What to run, in order. When one raises, the rest is not run.
        path: Where to write the trace; None for a temporary file, which is the caller's to delete.
        title: What the trace is called; the program's name by default.
        command: The command line, kept in the trace.
        progress: Is told before every pass and once at the end.
        interventions: What to veto and to force.

    Returns:
        The session. What a pass raised, KeyboardInterrupt included, is its `error`; all that was
        recorded until then is in its trace.

    Raises:
        QdqvizError: A pass cannot be built for this program.
    """
    from qdqviz.live.store import Collector
    from qdqviz.load.apply import apply_passes
    from qdqviz.load.copying import copy_program
    from qdqviz.load.loaded import exported_of, graph_module_of
    from qdqviz.load.quiet import quiet
    from qdqviz.record.api import record

    tell = progress or (lambda _: None)
    with quiet():
        program = copy_program(loaded.program)
    error: BaseException | None = None
    steering = _steering(interventions)
    with record(
        path, title=title or loaded.name, command=tuple(command), keep_constants=True, steering=steering
    ) as recording:
        collector = Collector(recording)
        for done, each in enumerate(passes):
            tell(Progress(done, len(passes), each.name, recording.path))
            exported = exported_of(program, loaded.method)
            recording.know(exported or program, loaded.method)
            collector.look(graph_module_of(program, loaded.method), exported)
            made = each.make(exported)
            if exported is None:
                made = _as_recorded(recording, made)
            try:
                program = apply_passes(program, [made], method=loaded.method)
            except (Exception, KeyboardInterrupt, SystemExit) as raised:  # noqa: BLE001  a pass may raise all
                error = raised
                break
        else:
            tell(Progress(len(passes), len(passes), "", recording.path))
        collector.look(graph_module_of(program, loaded.method), exported_of(program, loaded.method))
        store = collector.store()
    unused = () if steering is None else tuple((each, steering.reason(each)) for each in steering.unused())
    trace = recording.trace()
    return Session(loaded, tuple(passes), trace, program, error, store, tuple(interventions), unused)


def _as_recorded(recording: Any, made: Any) -> Any:
    """A pass that is called directly: what is no pass class is seen only if the recording wraps it.

    Pass managers wrap the functions that they call, and the recording knows about that.
    """
    from torch.fx.passes.infra.pass_base import PassBase

    return made if isinstance(made, PassBase) else recording.record_pass(made)


def _steering(interventions: Sequence[Intervention]) -> Steering | None:
    """What makes the recorder veto and force; None where there is nothing to."""
    if not interventions:
        return None
    from qdqviz.live.interventions import Steering

    return Steering(interventions)


def dialect_warnings(loaded: Loaded, passes: Sequence[ResolvedPass]) -> list[str]:
    """One line for each pass that asks for the ops of another dialect than the program's, so finds none."""
    from qdqviz.load.dialect import warn_dialect

    found = (warn_dialect(each.name, each.dialect, loaded.dialect) for each in passes)
    return list(dict.fromkeys(line for line in found if line is not None))
