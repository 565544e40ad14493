"""Sorts the writes of a pass run into rewrites.

A rewrite is all the writes of one owner; the state after the first k owners holds, for each field, the
latest write among theirs. So owners may interleave (dead code erased at the end belongs to the rewrite that
made it dead) and the last state is still exactly the graph that the pass left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from qdqviz.ir.change import Change, Erase, Insert, changed_fields, updates_of
from qdqviz.ir.node import NodeState
from qdqviz.record.body import LiveBody
from qdqviz.record.owner import Owner


@dataclass(frozen=True, slots=True)
class Group:
    """The changes of one owner to one subject."""

    owner: Owner
    """Whose they are."""
    subject: int
    """Subject that they change."""
    first_seq: int
    """Time of the owner's first write."""
    changes: tuple[Change, ...]
    """The edits; inserts first, then updates, then erasures."""


class _Write(Struct, frozen=True, gc=False):
    seq: int
    owner: Owner
    nid: int
    before: NodeState | None
    """The node before the write; None where it was created."""
    state: NodeState | None
    """The node after the write; None where it was erased."""
    fields: tuple[str, ...]
    """Fields that the write changed; empty for a creation or an erasure."""


class Sorter:
    """Turns versions of nodes into one change list an owner; owners that need each other are joined."""

    def __init__(
        self,
        versions: dict[int, list[tuple[int, Owner, NodeState | None]]],
        base: dict[int, NodeState | None],
        body: dict[int, LiveBody],
    ) -> None:
        self._base = base
        self._body = body
        self._joined: dict[Owner, Owner] = {}
        self._compared: dict[tuple[int, int], tuple[NodeState, NodeState, tuple[str, ...]]] = {}
        self._writes: list[_Write] = sorted(self._all_writes(versions), key=_seq)
        self._created_by = {w.nid: w.owner for w in self._writes if w.state is not None and not w.fields}
        gone = {write.nid for write in self._writes if write.state is None}
        self._passing = gone | {nid for nid, state in base.items() if state is None}
        self._inputs: dict[tuple[int, int], tuple[int, ...]] = {}
        self._mentions = self._find_mentions()

    def _all_writes(self, versions: dict[int, list[tuple[int, Owner, NodeState | None]]]) -> Iterable[_Write]:
        for nid, entries in versions.items():
            before = self._base[nid]
            for seq, owner, state in entries:
                if before is None or state is None:
                    if before is not state:
                        yield _Write(seq, owner, nid, before, state, ())
                else:
                    fields = self._changed(before, state)
                    if fields:
                        yield _Write(seq, owner, nid, before, state, fields)
                before = state

    def _changed(self, before: NodeState, after: NodeState) -> tuple[str, ...]:
        """The fields in which two states differ; the states are kept, so that an id stays theirs."""
        found = self._compared.get((id(before), id(after)))
        if found is None:
            found = self._compared[id(before), id(after)] = (before, after, changed_fields(before, after))
        return found[2]

    def _find_mentions(self) -> dict[int, set[int]]:
        """For each node that is not there all the time: the written nodes that use it in some version."""
        found: dict[int, set[int]] = {}
        for nid, state in [*self._base.items(), *((w.nid, w.state) for w in self._writes)]:
            for ref in self._passing_inputs(state) if state is not None else ():
                found.setdefault(ref, set()).add(nid)
        return found

    def _passing_inputs(self, state: NodeState) -> tuple[int, ...]:
        """The inputs that are not there all the time: few; versions share their arguments, which are kept."""
        key = (id(state.args), id(state.kwargs))
        found = self._inputs.get(key)
        if found is None:
            passing = self._passing
            found = self._inputs[key] = tuple([ref for ref in state.input_ids() if ref in passing])
        return found

    def groups(self) -> list[Group]:
        """The rewrites, in order of their first writes; owners whose changes need each other are one."""
        for _ in range(64):
            result, clashes = self._simulate()
            if not clashes:
                return result
            for left, right in clashes:
                self._join(left, right)
        owners = [write.owner for write in self._writes]
        for owner in owners:
            self._join(owners[0], owner)
        return self._simulate()[0]

    def _root(self, owner: Owner) -> Owner:
        while owner in self._joined:
            owner = self._joined[owner]
        return owner

    def _join(self, left: Owner, right: Owner) -> None:
        left, right = self._root(left), self._root(right)
        if left is right:
            return
        if left.settles and not right.settles:
            left, right = right, left
        self._joined[right] = left
        left.asked = left.asked or right.asked

    def _simulate(self) -> tuple[list[Group], list[tuple[Owner, Owner]]]:
        order: dict[Owner, list[_Write]] = {}
        for write in self._writes:
            order.setdefault(self._root(write.owner), []).append(write)
        now = dict(self._base)
        latest: dict[tuple[int, str], int] = {}
        groups: list[Group] = []
        clashes: list[tuple[Owner, Owner]] = []
        for owner, writes in order.items():
            before = {write.nid: now[write.nid] for write in writes}
            for write in writes:
                self._apply(write, now, latest, owner, clashes)
            self._check(owner, before, now, clashes)
            groups.extend(self._group(owner, writes[0].seq, before, now))
        return groups, clashes

    def _apply(
        self,
        write: _Write,
        now: dict[int, NodeState | None],
        latest: dict[tuple[int, str], int],
        owner: Owner,
        clashes: list[tuple[Owner, Owner]],
    ) -> None:
        nid = write.nid
        if not write.fields:
            if write.seq > latest.get((nid, "exists"), -1):
                latest[nid, "exists"] = write.seq
                now[nid] = write.state
            return
        current = now[nid]
        if current is None:
            if latest.get((nid, "exists"), -1) < write.seq and nid in self._created_by:
                clashes.append((owner, self._created_by[nid]))
            return
        fresh = [field for field in write.fields if write.seq > latest.get((nid, field), -1)]
        for field in fresh:
            latest[nid, field] = write.seq
        if current is write.before and len(fresh) == len(write.fields):
            now[nid] = write.state
        elif fresh and write.state is not None:
            now[nid] = replace(current, **{field: getattr(write.state, field) for field in fresh})

    def _check(
        self,
        owner: Owner,
        before: dict[int, NodeState | None],
        now: dict[int, NodeState | None],
        clashes: list[tuple[Owner, Owner]],
    ) -> None:
        """Find uses of nodes that do not exist after this owner's changes."""
        for nid, old in before.items():
            state = now[nid]
            if state is not None:
                for ref in self._passing_inputs(state):
                    if now[ref] is None:
                        other = self._created_by.get(ref) or self._last_writer(nid, owner)
                        self._clash(owner, other, clashes)
            elif old is not None:
                for user in self._mentions.get(nid, ()):
                    used_by = now.get(user)
                    if used_by is not None and nid in used_by.input_ids():
                        self._clash(owner, self._last_writer(user, owner), clashes)

    def _clash(self, owner: Owner, other: Owner | None, clashes: list[tuple[Owner, Owner]]) -> None:
        if other is not None and self._root(other) is not owner:
            clashes.append((owner, other))

    def _last_writer(self, nid: int, besides: Owner) -> Owner | None:
        for write in reversed(self._writes):
            if write.nid == nid and self._root(write.owner) is not besides:
                return write.owner
        return None

    def _group(
        self, owner: Owner, seq: int, before: dict[int, NodeState | None], now: dict[int, NodeState | None]
    ) -> Iterable[Group]:
        by_subject: dict[int, tuple[list[Change], list[Change], list[Change]]] = {}
        for nid, old in before.items():
            new, body = now[nid], self._body[nid]
            inserts, updates, erasures = by_subject.setdefault(body.subject, ([], [], []))
            if old is None and new is not None:
                inserts.append(Insert(body.path, new))
            elif old is not None and new is None:
                erasures.append(Erase(body.path, old))
            elif old is not None and new is not None:
                updates.extend(updates_of(body.path, old, new, self._changed(old, new)))
        for subject, (inserts, updates, erasures) in by_subject.items():
            changes = (*sorted(inserts, key=_order), *updates, *sorted(erasures, key=_order, reverse=True))
            if changes:
                yield Group(owner, subject, seq, changes)


_seq: Callable[[Any], int] = attrgetter("seq")
_order: Callable[[Any], bytes] = lambda change: change.node.order  # noqa: E731
