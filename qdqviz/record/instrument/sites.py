"""All decision sites of this process, numbered in one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from qdqviz.trace.events import Site


class SiteTable(Sequence[Site]):
    """Sites by id. Ids are dense in the process: code keeps its ids from one recording to the next."""

    def __init__(self) -> None:
        self._sites: list[Site] = []

    def __len__(self) -> int:
        return len(self._sites)

    @overload
    def __getitem__(self, index: int) -> Site: ...

    @overload
    def __getitem__(self, index: slice) -> list[Site]: ...

    def __getitem__(self, index: int | slice) -> Site | list[Site]:
        return self._sites[index]

    def __iter__(self) -> Iterator[Site]:
        return iter(self._sites)

    def extend(self, sites: Sequence[Site]) -> None:
        """Add the sites of a file; their ids continue the row."""
        self._sites.extend(sites)
