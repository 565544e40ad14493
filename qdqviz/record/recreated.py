"""A node erased and made again, equal, is the same node: at most it has moved.

Passes move a node by creating its twin elsewhere, rewiring the users and erasing the original. Told
as it happened, that reads as three edits and hides whether anything moved at all; so the twin takes
the original's identity before the edits are sorted into rewrites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from qdqviz.ir.change import same
from qdqviz.ir.node import NodeState
from qdqviz.ir.order import between
from qdqviz.ir.values import Ref, Value, map_refs
from qdqviz.record.owner import Owner

Versions = dict[int, list[tuple[int, Owner, "NodeState | None"]]]
"""Per node: its states in time order, with the owner of each; None where it is gone."""


def find_twins(base: Mapping[int, NodeState | None], versions: Versions) -> dict[int, int]:
    """Nodes made again: identity of the twin -> identity of the original.

    A twin is made and its original erased by one owner; both have the same op, target and
    arguments, and the twin lives on.
    """
    made: dict[tuple[int, str, str], list[int]] = {}
    for nid, entries in versions.items():
        final = entries[-1][2]
        if base[nid] is None and final is not None and final.op != "placeholder":
            made.setdefault((id(entries[0][1]), final.op, final.target), []).append(nid)
    twins: dict[int, int] = {}
    for nid, entries in versions.items():
        old = entries[-2][2] if len(entries) > 1 else base[nid]
        if entries[-1][2] is not None or old is None or base[nid] is None:
            continue
        candidates = made.get((id(entries[-1][1]), old.op, old.target), ())
        for twin in candidates:
            state = versions[twin][-1][2]
            if twin not in twins and state is not None and _equal(old, state, twins):
                twins[twin] = nid
                break
    return twins


def _equal(old: NodeState, new: NodeState, twins: Mapping[int, int]) -> bool:
    def known(nid: int) -> Value:
        return Ref(twins.get(nid, nid))

    return same(old.args, map_refs(new.args, known)) and same(old.kwargs, _kwargs(new, known))


def _kwargs(state: NodeState, swap: Any) -> tuple[tuple[str, Value], ...]:
    return tuple((key, map_refs(value, swap)) for key, value in state.kwargs)


def renamed(state: NodeState, twins: Mapping[int, int]) -> NodeState:
    """A state with twins spoken of by their originals' identities."""

    def known(nid: int) -> Value:
        return Ref(twins.get(nid, nid))

    shares = (
        state.shares_meta if state.shares_meta is None else twins.get(state.shares_meta, state.shares_meta)
    )
    nid = twins.get(state.id, state.id)
    uses = not twins.keys().isdisjoint(state.input_ids())
    if uses or nid != state.id or shares != state.shares_meta:
        args: Any = map_refs(state.args, known)
        shares = None if shares == nid else shares
        return replace(state, id=nid, args=args, kwargs=_kwargs(state, known), shares_meta=shares)
    return state


def unite(
    base: dict[int, NodeState | None],
    versions: Versions,
    twins: Mapping[int, int],
    orders: Mapping[int, bytes],
) -> Versions:
    """The same history, told with the originals' identities.

    Args:
        base: State of each node when the history begins; twins are taken out.
        versions: The history.
        twins: What `find_twins` found.
        orders: Sort key that each twin ends with, see `places`.
    """
    united: Versions = {}
    originals = set(twins.values())
    for nid, entries in versions.items():
        if nid in twins or nid in originals:
            continue
        united[nid] = [(seq, owner, None if s is None else renamed(s, twins)) for seq, owner, s in entries]
    for twin, nid in twins.items():
        before = [(seq, owner, renamed(s, twins)) for seq, owner, s in versions[nid] if s is not None]
        later = [
            (seq, owner, replace(renamed(state, twins), order=orders[twin]))
            for seq, owner, state in versions[twin]
            if state is not None
        ]
        united[nid] = [*before, *later]
        base.pop(twin)
    return united


def last_orders(
    base: Mapping[int, NodeState | None], versions: Versions, twins: Mapping[int, int]
) -> dict[int, bytes]:
    """Sort key that each twin's original had before it was erased."""
    found: dict[int, bytes] = {}
    for twin, nid in twins.items():
        known = [state for _, _, state in versions[nid] if state is not None]
        old = known[-1] if known else base[nid]
        assert old is not None
        found[twin] = old.order
    return found


def places(sequence: Sequence[tuple[int, bytes]], wanted: Mapping[int, bytes]) -> dict[int, bytes]:
    """Sort keys for twins that keep a graph's order, and the original's key wherever that fits.

    Args:
        sequence: Identity and sort key of all nodes of a graph, in order.
        wanted: The original's sort key, by twin.
    """
    ceiling: list[bytes | None] = [None] * (len(sequence) + 1)
    for index in range(len(sequence) - 1, -1, -1):
        nid, key = sequence[index]
        ceiling[index] = ceiling[index + 1] if nid in wanted else key
    found: dict[int, bytes] = {}
    low: bytes | None = None
    for index, (nid, key) in enumerate(sequence):
        if nid in wanted:
            high = ceiling[index]
            fits = [k for k in (wanted[nid], key) if (low is None or low < k) and (high is None or k < high)]
            found[nid] = key = fits[0] if fits else between(low, high)
        low = key
    return found
