"""Nested tracing is none of a pass's doing: while it runs, nothing is recorded."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from qdqviz.record.decisions import Decisions
from qdqviz.record.recorder import Recorder
from qdqviz.record.watch import Patches

_TRACERS = (
    ("torch.fx._symbolic_trace", "Tracer", "trace"),
    ("torch.fx.experimental.proxy_tensor", "_MakefxTracer", "trace"),
    ("torch.export._trace", None, "_export"),
    ("torch.export._trace", None, "_export_for_training"),
    ("torch._dynamo.eval_frame", None, "export"),
)
"""(module, class or None, name) of the functions that trace nested code."""


@contextmanager
def suspending_traces(recorder: Recorder, decisions: Decisions) -> Iterator[None]:
    """Suspend the recording inside `torch.export`, `Tracer.trace`, `make_fx` and dynamo."""
    patches = Patches()

    def suspended(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not recorder.listening:
                return original(*args, **kwargs)
            with recorder.suspended(), decisions.suspended():
                return original(*args, **kwargs)

        return wrapper

    try:
        for module_name, class_name, name in _TRACERS:
            module = importlib.import_module(module_name)
            owner = module if class_name is None else getattr(module, class_name, None)
            if owner is not None and hasattr(owner, name):
                patches.wrap(owner, name, suspended)
        yield
    finally:
        patches.undo()
