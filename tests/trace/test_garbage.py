"""What the garbage collector walks after a block that made much that lasts."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from qdqviz.trace.garbage import made_to_last


def _held_by(generation: int, wanted: list[int]) -> bool:
    return any(held is wanted for held in gc.get_objects(generation=generation))


@pytest.fixture
def collecting() -> Iterator[None]:
    """Collections are on, and none of them comes of itself."""
    threshold = gc.get_threshold()
    gc.enable()
    gc.set_threshold(1_000_000)
    yield
    gc.set_threshold(*threshold)
    gc.unfreeze()


@pytest.mark.usefixtures("collecting")
def test_what_was_made_to_last_is_not_walked_by_young_collections() -> None:
    with made_to_last():
        made = [1]
        assert not gc.isenabled()
    assert gc.isenabled()
    assert _held_by(2, made)
    assert gc.get_freeze_count() == 0
    assert not _held_by(2, fresh := [2])
    assert _held_by(0, fresh)


@pytest.mark.usefixtures("collecting")
def test_what_somebody_has_frozen_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with made_to_last():
        made = [1]
    assert 0 < gc.get_freeze_count() <= frozen
    assert _held_by(0, made)
    gc.collect()
    assert _held_by(2, made)
