"""Keeps Python's garbage collector from walking torch's whole heap because a recording allocates."""

from __future__ import annotations

from contextlib import AbstractContextManager

from qdqviz.trace.garbage import rarer_collections

_MIDDLE, _FULL = 1000, 1000
"""Collections of the young before one of the middle generation, and of these before a full one.

Walking the heap that torch and executorch fill takes a third of a second each time, and what a recording
keeps is walked for nothing by each middle one: at one in a hundred they cost the passes 1 % of their time.
What is garbage waits for one, some ten thousand objects a second. Young collections stay as they are: a
retrace leaves much garbage in cycles, which takes four times as long to free once it has left the
processor's cache.
"""


def fewer_full_collections() -> AbstractContextManager[None]:
    """Make middle and full collections rare until the block ends. Only the time of collections changes."""
    return rarer_collections(middle=_MIDDLE, full=_FULL)
