"""A time-travel debugger for PyTorch FX and ExecuTorch graph passes.

    with qdqviz.record("run.qdqtrace"):          # records every pass that runs inside
        edge = edge.transform([MyPass()])
    qdqviz.view("run.qdqtrace")                  # walks through what they did

What is named here is imported when it is first used; only `record` and `load` need torch.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from qdqviz.explain.why import why as why
    from qdqviz.load.target import load as load
    from qdqviz.record.api import record as record
    from qdqviz.record.api import record_pass as record_pass
    from qdqviz.trace.reader import Trace as Trace
    from qdqviz.tui.app import run_app as view

_NAMES = {
    "Trace": "qdqviz.trace.reader:Trace",
    "load": "qdqviz.load.target:load",
    "record": "qdqviz.record.api:record",
    "record_pass": "qdqviz.record.api:record_pass",
    "view": "qdqviz.tui.app:run_app",
    "why": "qdqviz.explain.why:why",
}
"""Name here -> `module:name` where it is defined."""

__all__ = ["Trace", "load", "record", "record_pass", "view", "why"]


class _CallableModule(ModuleType):
    """A subpackage that goes by the name of its main function: calling it calls that."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function that the package exports under this name."""
        return _find(self.__name__.rpartition(".")[2])(*args, **kwargs)


class _Package(ModuleType):
    """This package: `qdqviz.record` is a subpackage and a function, whichever is imported first."""

    def __getattr__(self, name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return _find(name)

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system binds a subpackage here once it is imported.
        if name in _NAMES and type(value) is ModuleType:
            value.__class__ = _CallableModule
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_NAMES})


def _find(name: str) -> Any:
    module, _, attribute = _NAMES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


sys.modules[__name__].__class__ = _Package
