"""Collects edits while a pass runs: every write to a node, with its owner and its place in time."""

from __future__ import annotations

from collections.abc import Iterable

from qdqviz.ir.node import NodeState
from qdqviz.record.body import LiveBody
from qdqviz.record.owner import Owner
from qdqviz.record.recreated import find_twins, last_orders, places, unite
from qdqviz.record.sorting import Group, Sorter


class EditLog:
    """Edits since the last flush, on any number of bodies."""

    def __init__(self) -> None:
        self.seq = 0
        """Time: number of writes so far."""
        self.aliases: dict[int, int] = {}
        """Identities given to nodes made again, and the identities that they really have."""
        self._dirty: dict[int, tuple[LiveBody, Owner, int]] = {}
        self._versions: dict[int, list[tuple[int, Owner, NodeState | None]]] = {}
        self._base: dict[int, NodeState | None] = {}
        self._body: dict[int, LiveBody] = {}

    def __bool__(self) -> bool:
        return bool(self._versions or self._dirty)

    # -- writing -----------------------------------------------------------------------------------

    def touch(self, body: LiveBody, nid: int, owner: Owner) -> None:
        """Say that `owner` is about to write to a node; what another owner left there is read first."""
        pending = self._dirty.get(nid)
        if pending is not None and pending[1] is not owner:
            self._settle_one(nid)
        self.note_base(body, nid)
        owner.wrote = True
        self.seq += 1
        self._dirty[nid] = (body, owner, self.seq)

    def put(self, body: LiveBody, nid: int, owner: Owner, state: NodeState | None) -> None:
        """Write a node's new state at once: a creation, an erasure (None), or what a retrace made of it."""
        if nid in self._dirty:
            self._settle_one(nid)
        self.note_base(body, nid)
        owner.wrote = True
        self.seq += 1
        self._versions.setdefault(nid, []).append((self.seq, owner, state))

    def put_erased(self, body: LiveBody, nid: int, owner: Owner) -> None:
        """Write that a node is gone; what was about to be written to it by the same owner is moot."""
        pending = self._dirty.pop(nid, None)
        if pending is not None and pending[1] is not owner:
            self._dirty[nid] = pending
            self._settle_one(nid)
        self.note_base(body, nid)
        owner.wrote = True
        self.seq += 1
        self._versions.setdefault(nid, []).append((self.seq, owner, None))

    def last_writer(self, nids: Iterable[int]) -> Owner | None:
        """Owner of the latest write to any of these nodes since the last flush, bookkeeping aside."""
        found = [
            (seq, owner) for nid in nids for seq, owner, _ in self._versions.get(nid, ()) if not owner.settles
        ]
        found += [(d[2], d[1]) for nid in nids if (d := self._dirty.get(nid)) is not None]
        return max(found, key=lambda pair: pair[0])[1] if found else None

    def settle_node(self, nid: int) -> None:
        """Read one node now, if it was written to."""
        if nid in self._dirty:
            self._settle_one(nid)

    def settle(self) -> None:
        """Read every node that was written to and not yet read."""
        for nid in list(self._dirty):
            self._settle_one(nid)

    def _settle_one(self, nid: int) -> None:
        body, owner, seq = self._dirty.pop(nid)
        if nid in body.mirrors:
            self._versions.setdefault(nid, []).append((seq, owner, body.refresh(nid)))

    def note_base(self, body: LiveBody, nid: int, state: NodeState | None = None) -> None:
        """Remember a node as it is before its first write.

        Args:
            body: The graph that holds it.
            nid: The node.
            state: What it was, where it has been read again already.
        """
        if nid not in self._base:
            mirror = body.mirrors.get(nid)
            self._base[nid] = state or (None if mirror is None else mirror.state)
            self._body[nid] = body

    # -- sorting into rewrites ---------------------------------------------------------------------

    def flush(self) -> list[Group]:
        """The rewrites since the last flush, in order; the log is empty afterwards."""
        self.settle()
        groups: list[Group] = []
        if self._versions:
            self._unite_twins()
            groups = Sorter(self._versions, self._base, self._body).groups()
        self._versions, self._base, self._body = {}, {}, {}
        return groups

    def _unite_twins(self) -> None:
        """Give nodes that were erased and made again their old identities."""
        twins = find_twins(self._base, self._versions)
        if not twins:
            return
        wanted = last_orders(self._base, self._versions, twins)
        orders: dict[int, bytes] = {}
        for body in {id(self._body[twin]): self._body[twin] for twin in twins}.values():
            sequence = sorted(
                ((nid, m.state.order) for nid, m in body.mirrors.items()), key=lambda pair: pair[1]
            )
            orders.update(places(sequence, wanted))
        self._versions = unite(self._base, self._versions, twins, orders)
        for twin, nid in twins.items():
            self._body[nid].take_identity(twin, nid, self._versions[nid][-1][2])
        for nid, entries in self._versions.items():
            mirror = self._body[nid].mirrors.get(nid)
            if mirror is not None and entries[-1][2] is not None:
                mirror.state = entries[-1][2]
        self.aliases.update(twins)
