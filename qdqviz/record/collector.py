"""Keeps Python's garbage collector from walking torch's whole heap because a recording allocates."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_FULL_COLLECTIONS = 1000
"""Collections of the middle generation before a full one. Walking the heap that torch and executorch
fill takes a third of a second each time. Young collections stay as they are: a retrace leaves much garbage
in cycles, which costs four times as much to free once it has left the processor's cache."""


@contextmanager
def fewer_full_collections() -> Iterator[None]:
    """Make full collections rare until the block ends.

    Only the time of collections changes. Thresholds that somebody sets meanwhile are left alone.
    """
    before = gc.get_threshold()
    ours = (before[0], before[1], max(before[2], _FULL_COLLECTIONS))
    gc.set_threshold(*ours)
    try:
        yield
    finally:
        if gc.get_threshold() == ours:
            gc.set_threshold(*before)
