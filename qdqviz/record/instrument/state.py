"""What is being recorded at this moment: the one place of the hooks' mutable state.

Hooks are called from anywhere in instrumented code and must find the recording at once, so this is a
module of plain variables. `runtime` alone assigns them. `owner` is nobody whenever nothing is to be recorded,
also while a recording is suspended, so that a hook's first look settles most calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

log: Any = None
"""Where events go, a `DecisionLog`; None when nothing is recorded or the recording is suspended."""

owner: int = 0
"""Identity of the thread that records, whom alone the hooks heed; 0 whenever `log` is None."""


def nowhere(_: object) -> None:
    """Takes what is not recorded."""


note: Callable[[int], None] = nowhere
"""Takes the number of an event, see `raw`; what it saw is to follow."""

saw: Callable[[Any], None] = nowhere
"""Takes what an event saw."""

frames: list[Any] = []
"""Calls of instrumented functions that are running, innermost last, see `frames`."""

chains: list[list[Any]] = []
"""Chained comparisons that are being evaluated: first site, then the operands so far."""
