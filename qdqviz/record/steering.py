"""What a person changes about a pass run: nodes that it skips, decisions that come out the other way.

Who steers is handed in by the session; the recorder asks at every pass run, focus and forced decision.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from torch.fx import Interpreter, Transformer

from qdqviz.trace.events import Site


class RunSteering(Protocol):
    """The interventions in one pass run."""

    def skips(self, path: str, node: str) -> bool:
        """Whether the pass must not look at a node."""

    def cannot_skip(self, path: str, node: str) -> None:
        """Take note that a node was handed out in a way that cannot be skipped: popped from a worklist."""

    def forces_on(self, path: str, node: str) -> Sequence[Any]:
        """The decisions to turn while the pass looks at a node."""

    def outcome(self, forced: Sequence[Any], site: Site, outcome: bool) -> bool:
        """How a decision at `site` comes out, given `forces_on` and how it came out by itself."""


class Steering(Protocol):
    """The interventions of a recording."""

    def of(self, run: str) -> RunSteering | None:
        """The interventions in the pass run of this label; None where there are none."""


@contextmanager
def plainly(interpreter: Any) -> Iterator[None]:
    """Let an interpreter that retraces copy the node that it runs, as if its pass overrode nothing."""
    callback = getattr(interpreter, "callback", None)
    subject = interpreter if callback is None else callback
    base = Transformer if isinstance(interpreter, Transformer) else _copying_base(callback)
    shadowed: list[str] = []
    try:
        for name in () if base is None else _overridden(type(subject), base):
            if name not in vars(subject):
                setattr(subject, name, types.MethodType(getattr(base, name), subject))
                shadowed.append(name)
        yield
    finally:
        for name in shadowed:
            delattr(subject, name)


def _copying_base(callback: Any) -> type | None:
    try:
        from executorch.exir.pass_base import ExportPass, _ExportPassBase
    except ImportError:
        return None
    return next((base for base in (ExportPass, _ExportPassBase) if isinstance(callback, base)), None)


def _overridden(cls: type, base: type) -> list[str]:
    """Names of the methods by which nodes are run that a class overrides."""
    kept = ("call", "call_submodule") if not issubclass(base, Interpreter) else ()
    others = ("placeholder", "output", "get_attr")
    names = [name for name in dir(base) if name.startswith("call_") or name in others]
    return [name for name in names if name not in kept and getattr(cls, name) is not getattr(base, name)]
