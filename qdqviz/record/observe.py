"""What decisions saw, put on a tape: in bulk, and each object described once, because there are many."""

from __future__ import annotations

from itertools import chain
from typing import Any

import torch
from torch.fx import Node
from torch.fx.immutable_collections import immutable_dict, immutable_list

from qdqviz.ir.values import Atom, NodeSeen, Value
from qdqviz.record.encode import CONTAINERS, MAPPINGS, Encoder
from qdqviz.record.instrument.raw import SHAPES, SHAPES_AT_MOST
from qdqviz.record.instrument.values import Snapshot
from qdqviz.trace.garbage import no_collections
from qdqviz.trace.states import encoded
from qdqviz.trace.tape import EventTape, Head

_SCALARS = frozenset({type(None), bool, int, str})
_LASTING = frozenset(
    {Node, type(None), bool, torch.dtype, torch._ops.OpOverload, torch._ops.OpOverloadPacket, type}
)
"""Types of objects that look the same each time; nodes until they are renamed."""
_HELD = frozenset({str, int, frozenset, torch.Size})
"""Types whose first objects of each value are known again: often there are no others."""
_MOST_TIMES = 8
"""How many objects of the same value are known again."""
_SIZED = frozenset({list, tuple, dict, set, frozenset, immutable_list, immutable_dict})
"""Types of containers that are told by their size where another container holds them."""
_EDGE = frozenset({"EdgeOpOverload", "EdgeOpOverloadPacket"})
_MOST_HELD = 50_000
"""How many objects are held at the most, so that they are known again."""
_MOST_PENDING = 2_000
"""How many events wait to be put on the tape: few enough to be in the processor's cache still."""

_WORDS = frozenset({int, str})
"""Types whose values are equal only where they read the same, if the types are equal."""


class _Heads(dict[int, int]):
    """Numbers of raw events to the places of their heads on a tape."""

    def __init__(self, tape: EventTape) -> None:
        super().__init__()
        self._tape = tape

    def __missing__(self, code: int) -> int:
        site, place = divmod(code, SHAPES_AT_MOST)
        shape = SHAPES[place]
        found = self[code] = self._tape.heads[Head(shape.kind, site, shape.outcome, shape.told, shape.seen)]
        return found


class Observer:
    """Takes the events of one pass run.

    Events wait as they came, holding what they saw, until there are many, or until a node is about to
    read differently. While they wait, an object is known by its identity.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.tape = EventTape()
        """The events that do not wait."""
        self._encoder = encoder
        self._codes: list[int] = []
        self._seen: list[Any] = []
        self._heads = _Heads(self.tape)
        self._places: dict[int, int] = {}
        self._held: list[Any] = []
        self._nodes: dict[int, Node] = {}
        self._passing: list[int] = []
        self._known: dict[Any, int] = {}
        self._opaque: dict[type, int] = {}
        self._times: dict[int, int] = {}

    def take(self, codes: list[int], seen: list[Any]) -> None:
        """Take the raw events of an attempt that is over: their numbers, and what they saw."""
        self._codes += codes
        self._seen += seen
        if len(self._codes) >= _MOST_PENDING:
            self.settle()

    def about_to_rename(self, node: Node) -> None:
        """A node is about to get another name."""
        if self._codes or id(node) in self._nodes:
            self.settle()
            if self._nodes.pop(id(node), None) is not None:
                del self._places[id(node)]

    def forget_nodes(self) -> None:
        """Nodes may go by other identities from now on."""
        self.settle()
        for place in self._nodes:
            del self._places[place]
        self._nodes.clear()

    def settle(self) -> None:
        """Put the events that wait on the tape."""
        codes, self._codes, seen, self._seen = self._codes, [], self._seen, []
        if not codes:
            return
        with no_collections():
            places: list[Any] = list(map(self._places.get, map(id, seen)))
            self._find_others(places, seen)
            self.tape.add(list(map(self._heads.__getitem__, codes)), places)
        for passing in self._passing:
            del self._places[passing]
        self._passing.clear()

    def _find_others(self, places: list[Any], seen: list[Any]) -> None:
        """Fill in the places of what was not known by its identity."""
        at, end = 0, len(places)
        known, add = self._places, self._add
        while True:
            try:
                at = places.index(None, at, end)
            except ValueError:
                return
            item = seen[at]
            place = known.get(id(item))
            places[at] = add(item) if place is None else place

    # -- one value that is not known by its identity -----------------------------------------------

    def _add(self, item: Any) -> int:
        """Place of a value, described if no equal one was."""
        kind = type(item)
        if kind is Node:
            return self._add_node(item)
        place = self._place(item, kind)
        self._places[id(item)] = place
        if kind in _HELD:
            times = self._times[place] = self._times.get(place, 0) + 1
            lasts = times <= _MOST_TIMES
        else:
            lasts = kind in _LASTING or kind.__name__ in _EDGE
        if lasts and len(self._held) < _MOST_HELD:
            self._held.append(item)
        else:
            self._passing.append(id(item))
        return place

    def _add_node(self, node: Node) -> int:
        seen = self._encoder.see(node)
        place = self._places[id(node)] = self._append(seen)
        if type(seen) is NodeSeen:
            self._nodes[id(node)] = node
        else:  # of a graph that is no subject's (yet)
            self._passing.append(id(node))
        return place

    def _place(self, item: Any, kind: type) -> int:
        if kind in _SCALARS:
            return self._intern((kind, item), item)
        if kind is float:
            return self._intern((kind, item.hex()), item)
        if kind is Snapshot:
            parts: Any = () if item.length > len(item.items) else item.items
            if item.kind in MAPPINGS:
                parts = tuple(chain.from_iterable(parts))
            return self._intern_parts((item.kind, item.length), parts, item)
        if kind is tuple or kind is torch.Size:
            return self._intern_parts((kind, len(item)), item, item)
        known = self._opaque.get(kind)
        if known is not None:
            return known
        seen = self._encoder.see(item)
        place = self._exactly(seen)
        if type(seen) is Atom and seen.kind == "opaque":
            self._opaque[kind] = place
        return place

    def _intern_parts(self, what: tuple[Any, ...], parts: Any, item: Any) -> int:
        """Place of a container, known again by its parts as far as these are known by something cheap."""
        find = self._places.get
        key: list[Any] = [what]
        for part in parts:
            place = find(id(part))
            if place is not None:
                key.append(place)
            elif (kind := type(part)) in _WORDS:
                key.append((kind, part))
            elif kind is float:
                key.append((kind, part.hex()))  # not the number: 0.0 equals -0.0
            elif kind is Snapshot and part.items:
                key.append(self._place(part, kind))
            elif kind is Snapshot:  # as below: told by its size
                key.append((part.kind, part.length))
            elif kind in _SIZED:
                key.append((kind, len(part)))
            elif kind in CONTAINERS:
                return self._exactly(self._encoder.see(item))
            else:
                key.append(self._add(part))
        return self._intern(tuple(key), item)

    def _intern(self, key: Any, item: Any) -> int:
        place = self._known.get(key)
        if place is None:
            place = self._known[key] = self._append(self._encoder.see(item))
        return place

    def _exactly(self, seen: Value) -> int:
        """Place of a value that is told in full."""
        key = encoded(seen)
        place = self._known.get(key)
        if place is None:
            place = self._known[key] = self._append(seen)
        return place

    def _append(self, seen: Value) -> int:
        values = self.tape.values
        values.append(seen)
        return len(values) - 1
