"""What instrumented code and the recorder say to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from qdqviz.errors import QdqvizError
from qdqviz.record.instrument.raw import RawEvents

HOOKS = "_qdqviz_hooks_"
"""Name under which instrumented code finds its hooks, in `builtins`.

It has no leading double underscore, which a class body would mangle, and it lives in `builtins` so that a
function resolves it whatever its globals are.
"""


class DecisionLog(Protocol):
    """Where the hooks write while a recording is on; the recorder's core implements it.

    Neither method may raise: whatever they raise would surface in the pass.
    """

    @property
    def raw(self) -> RawEvents:
        """What happened so far, and where hooks note what happens: always the same object."""

    @property
    def forced(self) -> Callable[[int, bool], bool] | None:
        """How a decision comes out, given its site and how it came out by itself; None leaves them all."""

    @property
    def vetoes(self) -> bool:
        """Whether `skipped` may say yes."""

    def skipped(self, token: object) -> bool:
        """Whether the loop has to pass over the item of `token`."""

    def open(self, site: int, item: object, skippable: bool = True) -> object | None:
        """Take notice that the loop at `site` handed out `item`; it can be passed over if `skippable`.

        Returns:
            A token if the item is a focus, which the hooks hand to `close` exactly once; else None.
        """

    def close(self, token: object) -> None:
        """Take notice that the item of `token` is done: next item, loop over, exception, generator closed."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A function that a pass reaches, and whose decisions cannot be seen."""

    function: str
    """Its qualified name."""
    file: str
    """Source file, as the interpreter names it."""
    line: int
    """Line of its `def`, 1-based."""
    reason: str
    """Why: `no source`, `its source has changed since it was imported`, ..."""


class RecordingBusyError(QdqvizError):
    """Another thread is recording; there is one recording at a time in a process."""
