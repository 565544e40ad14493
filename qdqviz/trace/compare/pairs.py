"""Which node of one trace is which node of the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Pairs:
    """Identities in the left trace and their counterparts in the right one, one to one; grows as it is read.

    A trace follows each node through renames, moves and retraces by its identity. Nodes of the first states
    are paired by structure; a node that a rewrite makes, with the one that the counterpart of that rewrite
    makes.
    """

    def __init__(self) -> None:
        self._right: dict[int, int] = {}
        self._left: dict[int, int] = {}
        self._unsettled: set[int] = set()

    def right_of(self, left: int) -> int | None:
        """The counterpart of a node of the left trace."""
        return self._right.get(left)

    def left_of(self, right: int) -> int | None:
        """The counterpart of a node of the right trace."""
        return self._left.get(right)

    @property
    def by_left(self) -> Mapping[int, int]:
        """All pairs, by the left identity."""
        return self._right

    def add(self, left: int, right: int) -> None:
        """Pair two nodes, unless one of them has a counterpart already."""
        if left not in self._right and right not in self._left:
            self._right[left] = right
            self._left[right] = left

    def add_all(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Pair several."""
        for left, right in pairs:
            self.add(left, right)

    def unsettle(self, left: Iterable[int] = (), right: Iterable[int] = ()) -> None:
        """Take note that nodes stand, or are there, on one side only: no landmarks for others any more."""
        self._unsettled.update(left)
        self._unsettled.update(node for each in right if (node := self._left.get(each)) is not None)

    def is_landmark(self, *, left: int | None = None, right: int | None = None) -> bool:
        """Whether a node has a counterpart, and both stand in the same place."""
        known = self._left.get(right) if right is not None else left
        return known is not None and known in self._right and known not in self._unsettled

    def replace(self, left: int, right: int) -> None:
        """Pair two nodes, and forget the counterparts that they had: those are gone from their graphs."""
        self._left.pop(self._right.pop(left, -1), None)
        self._right.pop(self._left.pop(right, -1), None)
        self._right[left] = right
        self._left[right] = left
