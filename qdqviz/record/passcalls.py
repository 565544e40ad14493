"""Every call of a pass becomes a pass run: hooks on the pass classes, managers and plain callables."""

from __future__ import annotations

import functools
import inspect
import linecache
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra import pass_manager as fx_pass_manager
from torch.fx.passes.infra.pass_base import PassBase

from qdqviz.record.decisions import Decisions
from qdqviz.record.recorder import Recorder
from qdqviz.record.running import Run, first_line
from qdqviz.record.watch import Patches
from qdqviz.trace.model import PassError


class PassCalls:
    """Turns calls of passes into pass runs while it is on."""

    def __init__(self, recorder: Recorder, decisions: Decisions) -> None:
        self._recorder = recorder
        self._decisions = decisions
        self._patches = Patches()
        self._active: list[tuple[Any, Any]] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hook all pass classes, those not yet defined included, until the block ends."""
        try:
            self._hook_tree(PassBase, "pass")
            self._hook_new_classes(PassBase, "pass")
            self._hook_executorch()
            self._hook_managers()
            yield
        finally:
            self._patches.undo()

    # -- what is hooked ----------------------------------------------------------------------------

    def _hook_tree(self, base: type, kind: str) -> None:
        """Hook `__call__` and `call` on a class and on every subclass that defines its own."""
        stack, seen = [base], set()
        while stack:
            owner = stack.pop()
            if owner in seen:
                continue
            seen.add(owner)
            stack.extend(owner.__subclasses__())
            self._hook(owner, kind)

    def _hook(self, owner: type, kind: str) -> None:
        """Hook what a class itself defines; some callers go past `__call__` to `call`."""
        for name in ("__call__", "call"):
            if isinstance(vars(owner).get(name), FunctionType):
                self._patches.wrap(owner, name, lambda original: self._wrapper(original, kind))

    def _hook_new_classes(self, base: type, kind: str) -> None:
        original = base.__init_subclass__
        hook = self._hook

        def init_subclass(cls: type, /, **kwargs: Any) -> None:
            original(**kwargs)
            hook(cls, kind)

        self._patches.set(base, "__init_subclass__", classmethod(init_subclass))

    def _hook_executorch(self) -> None:
        try:
            from executorch.exir.pass_base import ExportedProgramPassBase
        except ImportError:
            return
        self._hook_tree(ExportedProgramPassBase, "pass")
        self._hook_new_classes(ExportedProgramPassBase, "pass")

    def _hook_managers(self) -> None:
        self._hook_tree(fx_pass_manager.PassManager, "manager")
        original = fx_pass_manager.pass_result_wrapper

        @functools.wraps(original)
        def pass_result_wrapper(fn: Any) -> Any:
            return original(self.plain(fn) if inspect.isfunction(fn) else fn)

        self._patches.set(fx_pass_manager, "pass_result_wrapper", pass_result_wrapper)
        try:
            from executorch.exir import pass_manager
        except ImportError:
            return
        self._patches.set(pass_manager, "pass_result_wrapper", pass_result_wrapper)

    def plain(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A plain callable on a graph module, recorded as a pass."""

        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return self._call(fn, "pass", lambda *rest, **more: fn(*rest, **more), args, kwargs)

        return wrapper

    def _wrapper(self, original: Any, kind: str) -> Any:
        @functools.wraps(original)
        def wrapper(self_: Any, *args: Any, **kwargs: Any) -> Any:
            def call(*rest: Any, **more: Any) -> Any:
                return original(self_, *rest, **more)

            if original.__name__ == "call" and self._active and self._active[-1][0] is self_:
                return call(*args, **kwargs)  # from its own __call__, or by super()
            return self._call(self_, kind, call, args, kwargs)

        return wrapper

    # -- one call ----------------------------------------------------------------------------------

    def _call(
        self, owner: Any, kind: str, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        recorder = self._recorder
        given = args[0] if args else next(iter(kwargs.values()), None)
        module = self._graph_module(given)
        delegated = bool(self._active) and self._active[-1] == (owner, given)
        if module is None or delegated or not recorder.listening:
            return call(*args, **kwargs)
        run = self._begin(owner, kind, module)
        missing = self._decisions.prepare(owner) if kind == "pass" else ""
        self._active.append((owner, given))
        error: PassError | None = None
        modified: bool | None = None
        try:
            with self._decisions.logging(run.log if kind == "pass" else None):
                result = call(*args, **kwargs)
            modified = self._take_result(run, result)
            return result
        except BaseException as raised:
            error = describe(raised, run.record.file)
            raise
        finally:
            self._active.pop()
            run.finish(error, modified, missing or "recorded")
            recorder.leave_run()

    def _begin(self, owner: Any, kind: str, module: GraphModule) -> Run:
        recorder = self._recorder
        recorder.close_outside()
        if recorder.runs:
            recorder.flush(recorder.runs[-1])
        subject = recorder.subject_of(module)
        recorder.close_outside()
        cls = owner if inspect.isfunction(owner) or inspect.ismethod(owner) else type(owner)
        name = getattr(cls, "__name__", type(owner).__name__)
        source = f"{getattr(cls, '__module__', '?')}:{getattr(cls, '__qualname__', name)}"
        body = recorder.graphs.body_of(module.graph)
        run = Run(recorder, subject, body, name, source, kind, _file_of(cls))
        if recorder.steering is not None:
            run.log.steering = recorder.steering.of(run.record.label)
            run.log.describe = self._decisions.describe
        recorder.enter_run(run)
        return run

    def _take_result(self, run: Run, result: Any) -> bool | None:
        module = getattr(result, "graph_module", result)
        program = getattr(result, "exported_program", None)
        if program is not None:
            module = program.graph_module
            self._recorder.graphs.know_program(program)
        modified = getattr(result, "modified", None)
        if modified is not False:
            self._recorder.handovers.returned(run, module)
        return modified if isinstance(modified, bool) else None

    def _graph_module(self, given: Any) -> GraphModule | None:
        """The graph that a pass was called on, or None if it was called on something else."""
        if isinstance(given, GraphModule):
            return given
        if isinstance(given, torch.export.ExportedProgram):
            self._recorder.graphs.know_program(given)
            return given.graph_module
        return None


def describe(error: BaseException, file: str) -> PassError:
    """An exception with the innermost place in the pass's own file, or else in any file."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    theirs = [entry for entry in frames if not _ours(entry[0])]
    own = [entry for entry in theirs if entry[0] == file]
    place, line = (own or theirs or [(file, 0)])[-1]
    text = linecache.getline(place, line).strip()
    return PassError(type(error).__name__, first_line(error), place, line, text)


def _ours(file: str) -> bool:
    return "qdqviz/record" in file.replace("\\", "/")


def _file_of(owner: Any) -> str:
    try:
        return inspect.getsourcefile(inspect.unwrap(owner)) or ""
    except TypeError:
        return ""
