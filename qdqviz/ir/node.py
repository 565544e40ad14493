"""One node of a graph at one instant."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from qdqviz.ir.values import DEEPEST, Ref, Value, refs

DTYPE_BITS = {
    "bool": 8,
    "uint8": 8,
    "int8": 8,
    "int16": 16,
    "uint16": 16,
    "int32": 32,
    "uint32": 32,
    "int64": 64,
    "uint64": 64,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
    "complex64": 64,
    "complex128": 128,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "qint8": 8,
    "quint8": 8,
    "qint32": 32,
}
"""Bits that one element of a dtype takes in memory (torch's storage, before any packing)."""


class SymDim(Struct, frozen=True, gc=False, tag_field="t", tag="y"):
    """A size that is only known as an expression."""

    expr: str
    """The expression, such as `s0` or `2*s0`."""
    hint: int | None
    """The size that tracing saw, or None for an unbacked size. Never compared with another size."""


Dim: TypeAlias = int | SymDim


class TensorSpec(Struct, frozen=True, gc=False, tag_field="t", tag="T", rename={"dtype": "d", "shape": "s"}):
    """What a tensor value is: its dtype and shape."""

    dtype: str
    """Element type without the `torch.` prefix, such as `int8`."""
    shape: tuple[Dim, ...]
    """Sizes, outermost first."""

    @property
    def numel(self) -> int | None:
        """Number of elements (a symbolic size counts with its hint), or None if a size is unknown."""
        sizes = [dim.hint if isinstance(dim, SymDim) else dim for dim in self.shape]
        known = [size for size in sizes if size is not None]
        return prod(known) if len(known) == len(sizes) else None

    @property
    def nbytes(self) -> int | None:
        """Bytes that the values take, or None if a size or the dtype's width is unknown."""
        numel, bits = self.numel, DTYPE_BITS.get(self.dtype)
        return None if numel is None or bits is None else (numel * bits + 7) // 8


class ScalarSpec(Struct, frozen=True, gc=False, tag_field="t", tag="S"):
    """What a value that is no tensor is: a symbolic size, a number, a string."""

    type: str
    """Class name: SymInt, SymFloat, SymBool, int, float, bool, str, or another."""
    text: str
    """The value's text."""


if TYPE_CHECKING:
    Spec: TypeAlias = "TensorSpec | ScalarSpec | tuple[Spec | None, ...] | None"
else:
    # As deep as a multi-output op may nest its outputs, see `qdqviz.ir.values`.
    Spec = TensorSpec | ScalarSpec | None
    for _ in range(DEEPEST):
        Spec = TensorSpec | ScalarSpec | tuple[Spec, ...] | None
"""A multi-output op has a tuple; None means that the graph says nothing about the value."""


Number: TypeAlias = bool | int | float
"""A value of a tensor, of its own kind."""


class Constant(Struct, frozen=True, gc=False, tag_field="t", tag="C", omit_defaults=True):
    """The constant that a get_attr node or a lifted placeholder stands for."""

    kind: str
    """parameter, buffer, tensor, graph (a sub-graph), delegate, module, object, or user_input."""
    target: str
    """The name under which the program holds it; for a sub-graph or delegate, its path."""
    fingerprint: str | None
    """Content hash of a tensor (dtype, shape and bytes); None for what is no tensor."""
    spec: TensorSpec | None = None
    """The tensor's dtype and shape; None for what is no tensor."""
    extent: tuple[Number, Number] | None = None
    """Smallest and largest value of a small tensor, such as the scales of channels; None if not measured."""


_ATOMIC = frozenset({type(None), bool, int, float, str})


_SHORT = {
    "id": "i",
    "order": "o",
    "name": "n",
    "op": "p",
    "target": "g",
    "args": "a",
    "kwargs": "k",
    "spec": "s",
    "meta": "m",
    "shares_meta": "h",
    "constant": "c",
}
"""Fields of a node as a trace file names them."""


class NodeState(Struct, frozen=True, gc=False, rename=_SHORT, omit_defaults=True):
    """One node at one instant."""

    id: int
    """Identity through the whole trace; survives renames, moves and retraces."""
    order: bytes
    """Sort key among the nodes of its graph (see `qdqviz.ir.order`)."""
    name: str
    """The name at this instant; unique within its graph."""
    op: str
    """placeholder, get_attr, call_function, call_method, call_module or output."""
    target: str
    """What is called: `aten.view.default`, `edge.aten.view_copy.default`, an attribute's name."""
    args: tuple[Value, ...] = ()
    """Positional arguments."""
    kwargs: tuple[tuple[str, Value], ...] = ()
    """Keyword arguments in their order."""
    spec: Spec = None
    """What `meta['val']` says about the value."""
    meta: tuple[tuple[str, Value], ...] = ()
    """The rest of the metadata in short form, sorted by key."""
    shares_meta: int | None = None
    """The other node whose metadata dictionary is the very same object; a fault that passes make."""
    constant: Constant | None = None
    """Set on get_attr nodes, and on placeholders that stand for parameters, buffers or constants."""

    def input_ids(self) -> tuple[int, ...]:
        """Identities of the nodes whose values this node uses, each once, in order of first use."""
        seen: dict[int, None] = {}
        for arg in self.args:
            if type(arg) is Ref:  # the most common case, without a call
                seen[arg.node] = None
            elif type(arg) not in _ATOMIC:
                for ref in refs(arg):
                    seen[ref] = None
        for _, value in self.kwargs:
            for ref in refs(value):
                seen[ref] = None
        return tuple(seen)

    def meta_value(self, key: str) -> Value:
        """The short form of `meta[key]`, or None where the node has no such key."""
        return next((value for name, value in self.meta if name == key), None)


class OpInfo(Struct, frozen=True, gc=False):
    """What is known about a call target apart from any node: its parameters and its dialect."""

    target: str
    """The target's text, as in `NodeState.target`."""
    params: tuple[str, ...]
    """Names of the parameters, positional first; empty where there is no schema."""
    defaults: tuple[tuple[str, Value], ...] = ()
    """Default values of the parameters that have one."""
    mutates: bool = False
    """True where the schema writes to an argument."""

    def argument(self, node: NodeState, name: str) -> Value:
        """The value that `node` passes for parameter `name`, else its default, else None."""
        for key, value in node.kwargs:
            if key == name:
                return value
        if name in self.params:
            index = self.params.index(name)
            if index < len(node.args):
                return node.args[index]
        return next((value for key, value in self.defaults if key == name), None)
