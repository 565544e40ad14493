"""Argument values as a trace holds them: lossless, hashable, and free of torch.

Torch's own argument values map to these one to one: a node becomes a `Ref`, a list a `ListArg`
(tuples stay tuples), a slice a `SliceArg`, a dict a `DictArg`, and what has no Python literal
(dtypes, devices, memory formats, symbolic sizes, foreign objects) an `Atom`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

DEEPEST = 16
"""How deep tuples in tuples go."""


class Ref(Struct, frozen=True, gc=False, tag_field="t", tag="r", rename={"node": "n"}):
    """A use of another node's value."""

    node: int
    """Identity of the node in its trace (never its name, which passes re-use)."""


class ListArg(Struct, frozen=True, gc=False, tag_field="t", tag="l", rename={"items": "i"}):
    """A list argument; a tuple argument stays a Python tuple."""

    items: tuple[Value, ...]
    """The list's items in order."""


class DictArg(Struct, frozen=True, gc=False, tag_field="t", tag="d", rename={"items": "i"}):
    """A dictionary argument."""

    items: tuple[tuple[Value, Value], ...]
    """Key and value pairs in insertion order."""


class SliceArg(Struct, frozen=True, gc=False, tag_field="t", tag="s"):
    """A slice argument."""

    start: Value
    """Start, or None."""
    stop: Value
    """Stop, or None."""
    step: Value
    """Step, or None."""


class Atom(Struct, frozen=True, gc=False, tag_field="t", tag="a", rename={"kind": "k", "text": "x"}):
    """A value without a Python literal, by kind and exact text."""

    kind: str
    """dtype, device, layout, memory_format, complex, int (of more than 64 bits), sym, function, module, type,
    node, size, or opaque."""
    text: str
    """Its exact text: `int8` for a dtype, the expression of a symbol, a class name when opaque."""


class TextRef(Struct, frozen=True, gc=False, tag_field="t", tag="x", rename={"id": "i"}):
    """A long text kept once in the trace's text table (stack traces, module stacks)."""

    id: int
    """Key in the text table."""


class NodeSeen(Struct, frozen=True, gc=False, tag_field="t", tag="n", rename={"node": "n", "name": "m"}):
    """A node among the values of a decision, with the name it had at that instant."""

    node: int
    """Identity of the node."""
    name: str
    """Its name then."""


Leaf: TypeAlias = (
    bool | int | float | str | Ref | ListArg | DictArg | SliceArg | Atom | TextRef | NodeSeen | None
)
"""An argument value that is no tuple."""

if TYPE_CHECKING:
    Value: TypeAlias = "Leaf | tuple[Value, ...]"
else:
    # What reads a trace needs a type that ends: tuples in tuples, as deep as any argument goes.
    Value = Leaf
    for _ in range(DEEPEST):
        Value = Leaf | tuple[Value, ...]


def refs(value: Value) -> Iterator[int]:
    """Yield the identity of every node that `value` uses, in order, with repetitions."""
    stack: list[Value] = [value]
    while stack:
        top = stack.pop()
        if type(top) is Ref:
            yield top.node
        elif type(top) is tuple:
            stack.extend(reversed(top))
        elif type(top) is ListArg:
            stack.extend(reversed(top.items))
        elif type(top) is DictArg:
            for key, item in reversed(top.items):
                stack.append(item)
                stack.append(key)
        elif type(top) is SliceArg:
            stack.extend((top.step, top.stop, top.start))


def map_refs(value: Value, swap: Callable[[int], Value]) -> Value:
    """Return `value` with every node use replaced by what `swap` gives for the node's identity."""
    if isinstance(value, Ref):
        return swap(value.node)
    if isinstance(value, tuple):
        return tuple([map_refs(item, swap) for item in value])
    if isinstance(value, ListArg):
        return ListArg(tuple([map_refs(item, swap) for item in value.items]))
    if isinstance(value, DictArg):
        return DictArg(tuple([(map_refs(key, swap), map_refs(item, swap)) for key, item in value.items]))
    if isinstance(value, SliceArg):
        return SliceArg(*(map_refs(part, swap) for part in (value.start, value.stop, value.step)))
    return value
