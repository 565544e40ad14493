"""Aligns two short sequences, such as the pass runs of two traces."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

Aligned: TypeAlias = "dict[int, int]"
"""Index on the left -> index on the right."""


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> Aligned:
    """Pair equal items that stand in the same order: a longest common run, then what stands around it."""
    found: Aligned = {}
    for start, there, length in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
        found.update((start + offset, there + offset) for offset in range(length))
    return found


def add_moved(found: Aligned, left: Sequence[Hashable], right: Sequence[Hashable]) -> set[int]:
    """Pair equal items that stand in another order, the first with the first.

    Returns:
        The left indices that were paired so.
    """
    taken = set(found.values())
    free: dict[Hashable, list[int]] = {}
    for index, item in enumerate(right):
        if index not in taken:
            free.setdefault(item, []).append(index)
    moved = set()
    for index, item in enumerate(left):
        if index not in found and free.get(item):
            found[index] = free[item].pop(0)
            moved.add(index)
    return moved


def add_between(
    found: Aligned, left: int, right: int, fits: Callable[[int, int], bool] = lambda one, other: True
) -> None:
    """Pair what stands alone between the same neighbours, one by one, where there is as much on both sides.

    Args:
        found: Pairs so far; those in the same order are the neighbours.
        left: Length of the left sequence.
        right: Length of the right sequence.
        fits: Whether two items may be paired at all.
    """
    for ones, others in list(_gaps(found, left, right)):
        if len(ones) == len(others):
            found.update((a, b) for a, b in zip(ones, others, strict=True) if fits(a, b))


def _gaps(found: Aligned, left: int, right: int) -> Iterator[tuple[list[int], list[int]]]:
    taken = set(found.values())
    start, there = 0, 0
    for index in [*sorted(found), left]:
        other = right if index == left else found[index]
        if other < there:
            continue  # paired across: it moved, and bounds nothing
        ones = [each for each in range(start, index) if each not in found]
        others = [each for each in range(there, other) if each not in taken]
        if ones and others:
            yield ones, others
        start, there = index + 1, other + 1
