"""The hook for operands of a call whose answer is tested: `isinstance(x, T)` alone says nothing of `x`."""

from __future__ import annotations

from _thread import get_ident
from typing import Any

from qdqviz.record.instrument import state
from qdqviz.record.instrument.values import CONTAINERS, snapshot
from qdqviz.trace.events import Kind

_OPERAND = Kind.OPERAND


def operand(site: int, value: Any) -> Any:
    """What a method is called on, or what a function is asked about; it goes on as it is."""
    log = state.log
    if log is not None and get_ident() == state.owner:
        seen = value if id(type(value)) not in CONTAINERS else snapshot(value)
        log.events.append((_OPERAND, site, None, seen))
    return value
