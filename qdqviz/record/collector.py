"""Keeps Python's garbage collector from walking torch's whole heap because a recording allocates."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MIDDLE, _FULL = 1000, 1000
"""Collections of the young before one of the middle generation, and of these before a full one.

Walking the heap that torch and executorch fill takes a third of a second each time, and what a recording
keeps is walked for nothing by each middle one: at one in a hundred they cost the passes 1 % of their time.
What is garbage waits for one, some ten thousand objects a second. Young collections stay as they are: a
retrace leaves much garbage in cycles, which takes four times as long to free once it has left the
processor's cache.
"""


@contextmanager
def fewer_full_collections() -> Iterator[None]:
    """Make middle and full collections rare until the block ends.

    Only the time of collections changes. Thresholds that somebody sets meanwhile are left alone.
    """
    before = gc.get_threshold()
    ours = (before[0], max(before[1], _MIDDLE), max(before[2], _FULL))
    gc.set_threshold(*ours)
    try:
        yield
    finally:
        if gc.get_threshold() == ours:
            gc.set_threshold(*before)
