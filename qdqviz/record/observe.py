"""What decisions saw, put on a tape: in bulk, and each object described once, because there are many."""

from __future__ import annotations

import json
from itertools import chain
from operator import itemgetter
from typing import Any

import torch
from torch.fx import Node

from qdqviz.ir.values import Atom, NodeSeen
from qdqviz.record.encode import CONTAINERS, MAPPINGS, Encoder
from qdqviz.record.instrument.values import Snapshot
from qdqviz.trace.codec import value_to_json
from qdqviz.trace.garbage import no_collections
from qdqviz.trace.tape import EventTape

_SCALARS = frozenset({type(None), bool, int, str})
_LASTING = frozenset(
    {Node, type(None), bool, torch.dtype, torch._ops.OpOverload, torch._ops.OpOverloadPacket, type}
)
"""Types of objects that look the same each time; nodes until they are renamed."""
_HELD = frozenset({str, frozenset, torch.Size})
"""Types whose first object of each value is known again, which often is the only one."""
_EDGE = frozenset({"EdgeOpOverload", "EdgeOpOverloadPacket"})
_MOST_HELD = 50_000
"""How many objects are held at the most, so that they are known again."""
_MOST_PENDING = 2_000
"""How many events wait to be put on the tape: few enough to be in the processor's cache still."""

_WORDS = frozenset({int, str})
"""Types whose values are equal only where they read the same, if the types are equal."""
_head_of, _values_of = itemgetter(slice(None, 3)), itemgetter(slice(3, None))
_VALUES_BY_LENGTH = (0, 0, 0, *range(16))
"""Number of values of a raw event by its length."""


class Observer:
    """Takes the events of one pass run.

    Events wait as they came, holding what they saw, until there are many, or until a node is about to
    read differently. While they wait, an object is known by its identity.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.tape = EventTape()
        """The events that do not wait."""
        self._encoder = encoder
        self._pending: list[tuple[Any, ...]] = []
        self._places: dict[int, int] = {}
        self._held: list[Any] = []
        self._nodes: dict[int, Node] = {}
        self._passing: list[int] = []
        self._known: dict[Any, int] = {}
        self._opaque: dict[type, int] = {}

    def take(self, events: list[tuple[Any, ...]]) -> None:
        """Take the raw events of an attempt that is over."""
        self._pending += events
        if len(self._pending) >= _MOST_PENDING:
            self.settle()

    def about_to_rename(self, node: Node) -> None:
        """A node is about to get another name."""
        if self._pending or id(node) in self._nodes:
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
        events, self._pending = self._pending, []
        if not events:
            return
        find, add = self._places.get, self._add
        with no_collections():
            seen = [
                place if (place := find(id(value))) is not None else add(value)
                for value in chain.from_iterable(map(_values_of, events))
            ]
            sizes = map(_VALUES_BY_LENGTH.__getitem__, map(len, events))
            self.tape.add(map(_head_of, events), sizes, seen)
        for passing in self._passing:
            del self._places[passing]
        self._passing.clear()

    # -- one value that is not known by its identity -----------------------------------------------

    def _add(self, item: Any) -> int:
        """Place of a value, described if no equal one was."""
        kind = type(item)
        if kind is Node:
            seen = self._encoder.see(item)
            place = self._places[id(item)] = self._append(value_to_json(seen))
            if type(seen) is NodeSeen:
                self._nodes[id(item)] = item
            else:  # of a graph that is no subject's (yet)
                self._passing.append(id(item))
            return place
        known = len(self.tape.values)
        place = self._place(item, kind)
        self._places[id(item)] = place
        lasts = kind in _LASTING or kind.__name__ in _EDGE or (kind in _HELD and place >= known)
        if lasts and len(self._held) < _MOST_HELD:
            self._held.append(item)
        else:
            self._passing.append(id(item))
        return place

    def _place(self, item: Any, kind: type) -> int:
        if kind in _SCALARS:
            return self._intern((kind, item), item)
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
        encoded = value_to_json(seen)
        place = self._intern(json.dumps(encoded), encoded, described=True)
        if type(seen) is Atom and seen.kind == "opaque":
            self._opaque[kind] = place
        return place

    def _intern_parts(self, what: tuple[Any, ...], parts: Any, item: Any) -> int:
        """Place of a container, known again by its parts as far as these are known by something cheap."""
        if _WORDS.issuperset(map(type, parts)):
            return self._intern((what, *parts, *map(type, parts)), item)
        find = self._places.get
        key: list[Any] = [what]
        for part in parts:
            place = find(id(part))
            if place is None:
                if type(part) in CONTAINERS:
                    encoded = value_to_json(self._encoder.see(item))
                    return self._intern(json.dumps(encoded), encoded, described=True)
                place = self._add(part)
            key.append(place)
        return self._intern(tuple(key), item)

    def _intern(self, key: Any, item: Any, described: bool = False) -> int:
        place = self._known.get(key)
        if place is None:
            encoded = item if described else value_to_json(self._encoder.see(item))
            place = self._known[key] = self._append(encoded)
        return place

    def _append(self, encoded: Any) -> int:
        values = self.tape.values
        values.append(encoded)
        return len(values) - 1
