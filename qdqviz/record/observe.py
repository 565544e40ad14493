"""Values seen by decisions, straight to the form that a trace keeps; quick, because there are many."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from qdqviz.ir.values import Atom
from qdqviz.record.encode import Encoder
from qdqviz.record.identity import Identities
from qdqviz.record.instrument.values import Snapshot
from qdqviz.trace.codec import value_to_json

_PLAIN = frozenset({type(None), bool, int, float})
_LASTING = frozenset({Node, torch.dtype, torch._ops.OpOverload, torch._ops.OpOverloadPacket, type})
"""Types of objects that look the same each time; nodes until they are renamed."""
_EDGE = frozenset({"EdgeOpOverload", "EdgeOpOverloadPacket"})
_SHORT = 40
"""Length below which a text is worth remembering: names of ops and of node kinds."""
_MOST = 50_000
"""How many values are remembered at the most."""


class Observer:
    """Encodes what decisions saw."""

    def __init__(self, ids: Identities, encoder: Encoder) -> None:
        self._ids = ids.of
        self._encoder = encoder
        self._known: dict[int, tuple[Any, Any]] = {}
        self._opaque: dict[type, Any] = {}

    def encode(self, values: list[Any]) -> list[Any]:
        """Values, each as `value_to_json` gives what `Encoder.see` makes of it."""
        known = self._known.get
        return [
            value
            if type(value) in _PLAIN
            else (
                found[1]
                if (found := known(id(value))) is not None and found[0] is value
                else self._encode(value)
            )
            for value in values
        ]

    def forget(self, node: Node) -> None:
        """A node is about to get another name or identity."""
        self._known.pop(id(node), None)

    def forget_nodes(self) -> None:
        """Nodes may go by other identities from now on."""
        self._known = {key: entry for key, entry in self._known.items() if type(entry[0]) is not Node}

    def _encode(self, item: Any) -> Any:
        kind = type(item)
        if kind is Node:
            found = self._ids.get(item)
            result = ["a", "node", item.name] if found is None else ["n", found, item.name]
        elif kind is Snapshot and item.length > len(item.items):
            return ["a", "size", f"{item.kind} of {item.length}"]
        elif kind in self._opaque:
            return self._opaque[kind]
        else:
            seen = self._encoder.see(item)
            result = value_to_json(seen)
            if type(seen) is Atom and seen.kind == "opaque":
                self._opaque[kind] = result
        lasts = kind in _LASTING or kind.__name__ in _EDGE or (kind is str and len(item) < _SHORT)
        if lasts and len(self._known) < _MOST:
            self._known[id(item)] = (item, result)
        return result
