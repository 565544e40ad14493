"""Argument values of a trace as torch values again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from qdqviz.errors import NotCheckableError
from qdqviz.ir.values import Atom, DictArg, ListArg, Ref, SliceArg, Value

LookUp = Callable[[int], Any]
"""What a use of a node stands for: a torch.fx.Node when building, the node's value when running."""


class Decoder:
    """Turns argument values into what torch takes."""

    def __init__(self, targets: Mapping[str, Any], symbols: Callable[[str], Any] | None = None) -> None:
        """Take what the texts of atoms name.

        Args:
            targets: Call target by text.
            symbols: Gives a symbolic size for its expression; None where there are no symbols.
        """
        self._targets = targets
        self._symbols = symbols

    def knows(self, text: str) -> bool:
        """Whether the call target of this text is held."""
        return text in self._targets

    def target(self, text: str) -> Any:
        """The call target of this text."""
        return self._targets[text]

    def value(self, value: Value, look_up: LookUp, held: Any = None) -> Any:
        """The torch value that `value` stands for.

        Args:
            value: The value.
            look_up: Called for every use of a node.
            held: What the session remembers in this place, if anything: it stands in where text alone
                cannot say what the value was.

        Raises:
            NotCheckableError: An object was kept by its class name only, and none is remembered.
        """
        if isinstance(value, Ref):
            return look_up(value.node)
        if isinstance(value, ListArg):
            return self._items(value.items, look_up, held)
        if isinstance(value, tuple):
            return tuple(self._items(value, look_up, held))
        if isinstance(value, DictArg):
            return {
                self.value(key, look_up): self.value(item, look_up, _entry(held, index))
                for index, (key, item) in enumerate(value.items)
            }
        if isinstance(value, SliceArg):
            return slice(*(self.value(part, look_up) for part in (value.start, value.stop, value.step)))
        if isinstance(value, Atom):
            return self._atom(value, held)
        return value

    def _items(self, items: tuple[Value, ...], look_up: LookUp, held: Any) -> list[Any]:
        beside = held if isinstance(held, list | tuple) and len(held) == len(items) else [None] * len(items)
        return [self.value(item, look_up, other) for item, other in zip(items, beside, strict=True)]

    def _atom(self, atom: Atom, held: Any) -> Any:
        match atom.kind:
            case "dtype" | "layout" | "memory_format":
                return getattr(torch, atom.text)
            case "complex":
                return complex(atom.text)
            case "int":
                return int(atom.text)
            case "device":
                return torch.device(atom.text)
            case "function" if atom.text in self._targets:
                return self._targets[atom.text]
            case "sym" if self._symbols is not None:
                return self._symbols(atom.text)
        if held is not None and type(held).__name__ in (atom.text, "FakeTensor", "Tensor", "Parameter"):
            return held
        raise NotCheckableError(f"an argument of type {atom.text or atom.kind} is not kept in the trace")


def _entry(held: Any, index: int) -> Any:
    if not isinstance(held, dict) or index >= len(held):
        return None
    return list(held.values())[index]
