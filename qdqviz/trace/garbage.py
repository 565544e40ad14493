"""Keeps Python's garbage collector away from work that leaves none, or little."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections() -> Iterator[None]:
    """Collect no garbage until the block ends: for our own work that allocates much and leaves no cycles."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def made_to_last() -> Iterator[None]:
    """Collect no garbage until the block ends, and do not walk what it made right afterwards: it is to last.

    Whatever is young then is old from there on. Where somebody has frozen objects, these could not be told
    from the others, and what was made stays young.
    """
    with no_collections():
        yield
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()


@contextmanager
def rarer_collections(young: int = 0, middle: int = 0, full: int = 0) -> Iterator[None]:
    """Make collections rarer until the block ends; thresholds that somebody sets meanwhile are left alone.

    Args:
        young: New objects before a collection, at the least. Where nothing is collected that stays so.
        middle: Collections of the young before one of the middle generation, at the least.
        full: Collections of the middle generation before a full one, at the least.
    """
    before = gc.get_threshold()
    ours = (max(before[0], young) if before[0] else 0, max(before[1], middle), max(before[2], full))
    gc.set_threshold(*ours)
    try:
        yield
    finally:
        if gc.get_threshold() == ours:
            gc.set_threshold(*before)
