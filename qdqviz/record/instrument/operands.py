"""The hook for operands of a call whose answer is tested: `isinstance(x, T)` alone says nothing of `x`."""

from __future__ import annotations

from _thread import get_ident
from typing import Any

from qdqviz.record.instrument import state
from qdqviz.record.instrument.raw import OPERAND, SHAPES_AT_MOST
from qdqviz.record.instrument.values import CONTAINERS, snapshot


def operand(site: int, value: Any) -> Any:
    """What a method is called on, or what a function is asked about; it goes on as it is."""
    if state.owner and get_ident() == state.owner:
        state.note(site * SHAPES_AT_MOST + OPERAND)
        state.saw(value if id(type(value)) not in CONTAINERS else snapshot(value))
    return value
