"""Longest increasing subsequences: which nodes keep their sort keys when a graph comes in another order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import lt


def longest_increasing(keys: Sequence[bytes | None]) -> set[int]:
    """Indices of a longest strictly increasing subsequence; None never belongs to it."""
    known = [key for key in keys if key is not None]
    if all(map(lt, known, known[1:])):
        return {index for index, key in enumerate(keys) if key is not None}
    tails: list[bytes] = []
    tail_index: list[int] = []
    parent: dict[int, int] = {}
    for index, key in enumerate(keys):
        if key is None:
            continue
        at = bisect_left(tails, key)
        if at:
            parent[index] = tail_index[at - 1]
        if at == len(tails):
            tails.append(key)
            tail_index.append(index)
        else:
            tails[at] = key
            tail_index[at] = index
    found: set[int] = set()
    index = tail_index[-1] if tail_index else -1
    while index >= 0:
        found.add(index)
        index = parent.get(index, -1)
    return found
