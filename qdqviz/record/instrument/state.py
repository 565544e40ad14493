"""What is being recorded at this moment: the one place of the hooks' mutable state.

Hooks are called from anywhere in instrumented code and must find the recording at once, so this is a
module of plain variables. `runtime` alone assigns them. `log` is None whenever nothing is to be recorded,
also while a recording is suspended, so that a hook's first look settles most calls.
"""

from __future__ import annotations

from typing import Any

from qdqviz.record.instrument.protocol import DecisionLog

log: DecisionLog | None = None
"""Where events go; None when nothing is recorded or the recording is suspended."""

owner: int = 0
"""Identity of the thread that records; the hooks ignore every other thread."""

frames: list[Any] = []
"""Calls of instrumented functions that are running, innermost last."""

chains: list[list[Any]] = []
"""Chained comparisons that are being evaluated: first site, then the operands so far."""
