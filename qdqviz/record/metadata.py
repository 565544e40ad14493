"""A node's metadata in short form. Never runs user code: exact types only."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from torch._ops import OpOverload
from torch.fx.immutable_collections import immutable_dict, immutable_list

from qdqviz.ir.values import Atom, TextRef, Value

SPEC_KEYS = frozenset({"val", "tensor_meta", "example_value"})
"""Metadata keys that say what the value is; they are told by the spec and not again."""

_INLINE = frozenset({type(None), bool, int, float})
"""Types of metadata that is kept as it is, whatever its value."""

_STRING = frozenset({str})
_CONTAINERS = frozenset({list, tuple, dict, immutable_list, immutable_dict})
_first = itemgetter(0)

_LONG = 120
"""Characters from which a metadata text is kept in the text table."""

_MOST_PARTS = 8
"""Parts up to which a container is told by what it holds."""

_Plan = tuple[tuple[str, Any, Callable[[Any], Value]], ...]
"""How metadata with certain keys is told: text of the key, the key, what tells its value; sorted."""


class MetadataEncoder:
    """Tells metadata in short form; one per recording. What many nodes have alike is told once."""

    def __init__(
        self, see: Callable[[Any], Value], function: Callable[[Any], Atom], text_id: Callable[[str], int]
    ) -> None:
        """Take what tells other values, what tells functions, and what keeps long texts."""
        self._see = see
        self._function = function
        self._text_id = text_id
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._operators: dict[str, Atom] = {}
        self._texts: dict[str, TextRef] = {}
        self._stacks: dict[tuple[int, ...], tuple[Any, TextRef]] = {}

    def short(self, meta: dict[str, Any]) -> tuple[tuple[str, Value], ...]:
        """Metadata sorted by key; values and tensor metadata are in the spec."""
        keys = tuple(meta)
        plan = self._plans.get(keys)
        if plan is None:
            plan = self._plan(keys)
        return tuple(
            [(name, item if type(item := meta[key]) in _INLINE else tell(item)) for name, key, tell in plan]
        )

    def _plan(self, keys: tuple[Any, ...]) -> _Plan:
        tellers = {"nn_module_stack": self._module_stack, "from_node": self._origins}
        told = [key for key in keys if key not in SPEC_KEYS]
        named = [(key if type(key) is str else str(key), key, tellers.get(key, self._value)) for key in told]
        plan = tuple(sorted(named, key=_first))
        if _STRING.issuperset(map(type, keys)):
            self._plans[keys] = plan
        return plan

    def _value(self, item: Any) -> Value:
        kind = type(item)
        if kind is str:
            return item if len(item) <= _LONG else self._text(item)
        if kind is OpOverload:
            return self._operators.get(item.name()) or self._operator(item)
        if kind in _CONTAINERS:
            size = len(item)
            if size > _MOST_PARTS:
                return Atom("opaque", f"{kind.__name__} of {size}")
            if kind is tuple:
                for part in item:
                    if type(part) is not str or len(part) > _LONG:
                        break
                else:
                    return item
        return self._see(item)

    def _operator(self, item: OpOverload) -> Atom:
        told = self._operators[item.name()] = self._function(item)
        return told

    def _text(self, text: str) -> TextRef:
        found = self._texts.get(text)
        if found is None:
            found = self._texts[text] = TextRef(self._text_id(text))
        return found

    def _module_stack(self, stack: Any) -> Value:
        if type(stack) is not dict:
            return self._value(stack)
        entries = tuple(stack.values())
        ids = tuple(map(id, entries))
        known = self._stacks.get(ids)
        if known is None:
            lines = []
            for entry in entries:
                path, owner = entry if type(entry) is tuple and len(entry) == 2 else (entry, "")
                owner = owner if type(owner) is str else getattr(owner, "__qualname__", "")
                lines.append(f"{path} ({owner})")
            known = self._stacks[ids] = (entries, self._text("\n".join(lines)))
        return known[1]

    def _origins(self, item: Any) -> Value:
        if type(item) is not list:
            return self._value(item) if type(item) is str else Atom("opaque", "from_node ")
        if len(item) == 1:  # as the export leaves it
            return Atom("opaque", f"from_node {getattr(item[0], 'name', '?')!s}")
        names = [str(getattr(source, "name", "?")) for source in item[:3]]
        return Atom("opaque", f"from_node {', '.join(names)}")
