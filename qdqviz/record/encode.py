"""Torch argument values, specs and metadata as trace values. Never runs user code: exact types only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node
from torch.fx.immutable_collections import immutable_dict, immutable_list

from qdqviz.ir.node import Dim, ScalarSpec, Spec, SymDim, TensorSpec
from qdqviz.ir.values import Atom, DictArg, ListArg, NodeSeen, Ref, SliceArg, Value
from qdqviz.record.groups import GROUPS, nodes_of_group
from qdqviz.record.identity import Identities
from qdqviz.record.instrument.values import Snapshot
from qdqviz.record.metadata import MetadataEncoder
from qdqviz.record.targets import Targets

_PLAIN = frozenset({type(None), bool, int, float, str})
_DTYPE = torch.dtype
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
MAPPINGS = frozenset({"dict", "defaultdict", "OrderedDict", "dict_items"})
"""Kinds of snapshots whose items are pairs."""

CONTAINERS = frozenset(
    {list, tuple, set, frozenset, dict, immutable_list, immutable_dict, torch.Size, Snapshot}
)
"""Types of values that are told by what they hold."""

_INTEGER = frozenset({int})

_LONG = 120
"""Characters up to which a value's text is told."""


class Encoder:
    """Encodes what graphs hold; one per recording."""

    def __init__(self, identities: Identities, text_id: Callable[[str], int]) -> None:
        self._ids = identities.of
        self.targets = Targets(self.value)
        self.meta = MetadataEncoder(self.see, self.function, text_id).short
        """Tells metadata in short form."""
        self._dtypes: dict[Any, str] = {}
        self._refs: dict[int, Ref] = {}
        self._specs: dict[Any, TensorSpec] = {}
        self._atoms: dict[Any, Atom] = {}
        self._dtype_atoms: dict[torch.dtype, Atom] = {}
        self._tellers: dict[type, Atom | Callable[[Any], Atom]] = {}

    # -- arguments ---------------------------------------------------------------------------------

    def value(self, item: Any) -> Value:
        """An argument value, lossless; foreign objects become opaque atoms."""
        kind = type(item)
        if kind is Node:
            found = self._ids.get(item)
            return Atom("node", item.name) if found is None else self._refs.get(found) or self.ref(found)
        if kind in _PLAIN:
            return item
        if kind is _DTYPE:
            return self._dtype_atoms.get(item) or self.atom(item)
        if kind is immutable_list or kind is list:
            return ListArg(tuple([part if type(part) in _PLAIN else self.value(part) for part in item]))
        if kind is tuple or kind is torch.Size:
            return tuple([self.value(part) for part in item])
        if kind is immutable_dict or kind is dict:
            return DictArg(tuple((self.value(key), self.value(part)) for key, part in item.items()))
        if kind is slice:
            return SliceArg(self.value(item.start), self.value(item.stop), self.value(item.step))
        return self.atom(item)

    def ref(self, nid: int) -> Ref:
        """The use of a node: one object a node, which is compared by identity first."""
        found = self._refs.get(nid)
        if found is None:
            found = self._refs[nid] = Ref(nid)
        return found

    def args(self, node: Node) -> tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]]:
        """Positional and keyword arguments of a node."""
        value = self.value
        args = tuple([item if type(item) in _PLAIN else value(item) for item in node._args])
        kwargs = node._kwargs
        return args, tuple([(key, value(item)) for key, item in kwargs.items()]) if kwargs else ()

    # -- what has no literal -----------------------------------------------------------------------

    def atom(self, item: Any) -> Atom:
        """What has no literal, by kind and text."""
        kind = type(item)
        tell = self._tellers.get(kind)
        if tell is None:
            tell = self._tellers[kind] = self._teller(kind)
        return tell if type(tell) is Atom else tell(item)  # type: ignore[operator]

    def _teller(self, kind: type) -> Atom | Callable[[Any], Atom]:
        """What tells objects of a type; an atom where they are all told alike."""
        name = kind.__name__
        if kind is _DTYPE:
            return self._dtype_atom
        if kind is complex:
            return lambda item: Atom("complex", repr(item))
        if kind in (torch.device, torch.layout, torch.memory_format):
            return lambda item: Atom(name, str(item).removeprefix("torch."))
        if kind in _SYMBOLIC:
            return lambda item: Atom("sym", str(item.node.expr))
        if issubclass(kind, _OPS) or name in _EDGE_OPS or name in ("function", "builtin_function_or_method"):
            return self.function
        if issubclass(kind, torch.Tensor):
            return lambda item: Atom("tensor", f"{self.dtype(item.dtype)}{list(item.shape)}")
        if issubclass(kind, torch.nn.Module):
            return Atom("module", name)
        if issubclass(kind, type):
            return lambda item: Atom("type", item.__name__)
        return Atom("opaque", name)

    def _dtype_atom(self, dtype: torch.dtype) -> Atom:
        found = self._dtype_atoms[dtype] = self._atom("dtype", self.dtype(dtype))
        return found

    def function(self, item: Any) -> Atom:
        """What can be called, by its text as a target."""
        return self._atom("function", self.targets.text(item))

    def _atom(self, kind: str, text: str) -> Atom:
        """One object for what is told often."""
        found = self._atoms.get((kind, text))
        if found is None:
            found = self._atoms[kind, text] = Atom(kind, text)
        return found

    def dtype(self, dtype: torch.dtype) -> str:
        """A dtype without its `torch.` prefix."""
        found = self._dtypes.get(dtype)
        if found is None:
            found = self._dtypes[dtype] = str(dtype).removeprefix("torch.")
        return found

    # -- what a node's value is --------------------------------------------------------------------

    def spec(self, val: Any) -> Spec:
        """What `meta['val']` says: dtype and shape; no symbolic size is ever compared or resolved."""
        if val is None:
            return None
        if isinstance(val, torch.Tensor):
            dtype, shape = val.dtype, val.shape
            if not _INTEGER.issuperset(map(type, shape)):
                return TensorSpec(self.dtype(dtype), tuple([self._dim(size) for size in shape]))
            known = self._specs.get((dtype, shape))
            if known is None:
                known = self._specs[dtype, shape] = TensorSpec(self.dtype(dtype), tuple(shape))
            return known
        kind = type(val)
        if kind is tuple or kind is list:
            return tuple(self.spec(item) for item in val)
        if kind in _SYMBOLIC:
            return ScalarSpec(kind.__name__, str(val.node.expr))
        if kind in _PLAIN:
            return ScalarSpec(kind.__name__, str(val)[:_LONG])
        return ScalarSpec(kind.__name__, "")

    def _dim(self, size: Any) -> Dim:
        if type(size) is int:
            return size
        node = size.node
        return SymDim(str(node.expr), node.hint if node.has_hint() else None)

    # -- values seen by decisions ------------------------------------------------------------------

    def see(self, item: Any, deep: bool = True) -> Value:
        """A value as a decision saw it, cut short; nodes keep the name that they have now."""
        kind = type(item)
        if kind is str:
            return item if len(item) <= 200 else item[:199] + "…"
        if kind in _PLAIN:
            return item
        if kind is Node:
            found = self._ids.get(item)
            return Atom("node", item.name) if found is None else NodeSeen(found, item.name)
        if kind is torch.Size:
            return tuple(size if type(size) is int else self.atom(size) for size in item)
        if kind is Snapshot:
            return self._see_snapshot(item)
        if kind in CONTAINERS:
            return self._see_container(kind, item, deep)
        if kind.__name__ in GROUPS:
            return self._see_group(item)
        return self.atom(item)

    def _see_group(self, item: Any) -> Value:
        """A match or a partition, by the nodes that it holds: a dictionary from its class to them."""
        nodes = nodes_of_group(item)
        if not nodes:
            return self.atom(item)
        return DictArg(((Atom("type", type(item).__name__), ListArg(tuple(map(self.see, nodes)))),))

    def _see_container(self, kind: type, item: Any, deep: bool) -> Value:
        size = len(item)
        if size > 8 or not deep:
            return self._atom("size", f"{kind.__name__} of {size}")
        if kind is dict or kind is immutable_dict:
            return DictArg(tuple((self.see(k, False), self.see(v, False)) for k, v in item.items()))
        parts = tuple([self.see(part, False) for part in item])
        return parts if kind is tuple else ListArg(parts)

    def _see_snapshot(self, item: Snapshot) -> Value:
        """A container that was copied when the decision was taken."""
        if item.length > len(item.items):
            return Atom("size", f"{item.kind} of {item.length}")
        if item.kind in MAPPINGS:
            return DictArg(tuple((self.see(key, False), self.see(value, False)) for key, value in item.items))
        parts = tuple([self.see(part, False) for part in item.items])
        return parts if item.kind == "tuple" else ListArg(parts)


_OPS = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
_EDGE_OPS = frozenset({"EdgeOpOverload", "EdgeOpOverloadPacket", "EdgeDialectFunctionSchema"})
