"""Hooks on what executes a graph into a new one."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.fx import Interpreter, Transformer

from qdqviz.record.follow import RetraceFollower
from qdqviz.record.watch import Patches


@contextmanager
def watching_retraces(retraces: RetraceFollower) -> Iterator[None]:
    """Follow `ExportPass.call_submodule` and `fx.Transformer.transform` until the block ends."""
    patches = Patches()

    def run_node(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Interpreter, node: Any) -> Any:
            return retraces.run_node(original, self, node)

        return wrapper

    def transform(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Transformer) -> Any:
            retrace = retraces.begin(self.module, self)
            module = None
            try:
                module = original(self)
                return module
            finally:
                retraces.end(retrace, module)

        return wrapper

    def call_submodule(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Any, graph_module: Any, inputs: Any) -> Any:
            retrace = retraces.begin(graph_module)
            module = None
            try:
                result = original(self, graph_module, inputs)
                module = result.graph_module
                return result
            finally:
                retraces.end(retrace, module)

        return wrapper

    try:
        patches.wrap(Interpreter, "run_node", run_node)
        patches.wrap(Transformer, "transform", transform)
        base = _export_pass_base()
        if base is not None:
            patches.wrap(base, "call_submodule", call_submodule)
        yield
    finally:
        patches.undo()


def _export_pass_base() -> Any:
    try:
        from executorch.exir.pass_base import _ExportPassBase
    except ImportError:
        return None
    return _ExportPassBase
