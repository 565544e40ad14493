"""Values seen by decisions, straight to the form that a trace keeps; quick, because there are many."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from qdqviz.record.encode import Encoder
from qdqviz.record.identity import Identities
from qdqviz.trace.codec import value_to_json

_PLAIN = frozenset({type(None), bool, int, float})
_LASTING = frozenset({torch.dtype, torch._ops.OpOverload, torch._ops.OpOverloadPacket, type})
"""Types of objects that live as long as the process and look the same each time."""


class Observer:
    """Encodes what decisions saw."""

    def __init__(self, ids: Identities, encoder: Encoder) -> None:
        self._ids = ids.of
        self._encoder = encoder
        self._known: dict[int, tuple[Any, Any]] = {}

    def encode_into(self, values: list[Any], event: tuple[Any, ...]) -> None:
        """Append an event's values, each as `value_to_json` gives what `Encoder.see` makes of it."""
        for item in event[3:]:
            kind = type(item)
            if kind in _PLAIN or (kind is str and len(item) < 200):
                values.append(item)
            elif kind is Node:
                found = self._ids.get(item)
                values.append(["a", "node", item.name] if found is None else ["n", found, item.name])
            else:
                known = self._known.get(id(item))
                values.append(
                    known[1] if known is not None and known[0] is item else self._encode(kind, item)
                )

    def _encode(self, kind: type, item: Any) -> Any:
        result = value_to_json(self._encoder.see(item))
        if kind in _LASTING or kind.__name__ in ("EdgeOpOverload", "EdgeOpOverloadPacket"):
            self._known[id(item)] = (item, result)
        return result
