"""Keeps Python's garbage collector from walking torch's whole heap because a recording allocates."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_FULL_COLLECTIONS = 1000
"""Collections of the middle generation before a full one. Walking the heap that torch and executorch
fill takes a third of a second each time."""


_YOUNG = 20_000
"""New objects before the young are collected; a recording keeps most of what it makes until a pass ends."""


@contextmanager
def fewer_full_collections() -> Iterator[None]:
    """Make full collections rare, and young ones rarer, until the block ends.

    Only the time of collections changes. Thresholds that somebody sets meanwhile are left alone.
    """
    before = gc.get_threshold()
    ours = (max(before[0], _YOUNG), before[1], max(before[2], _FULL_COLLECTIONS))
    gc.set_threshold(*ours)
    try:
        yield
    finally:
        if gc.get_threshold() == ours:
            gc.set_threshold(*before)
