"""Argument values as a trace holds them: lossless, hashable, and free of torch.

Torch's own argument values map to these one to one: a node becomes a `Ref`, a list a `ListArg`
(tuples stay tuples), a slice a `SliceArg`, a dict a `DictArg`, and what has no Python literal
(dtypes, devices, memory formats, symbolic sizes, foreign objects) an `Atom`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Ref:
    """A use of another node's value."""

    node: int
    """Identity of the node in its trace (never its name, which passes re-use)."""


@dataclass(frozen=True, slots=True)
class ListArg:
    """A list argument; a tuple argument stays a Python tuple."""

    items: tuple[Value, ...]
    """The list's items in order."""


@dataclass(frozen=True, slots=True)
class DictArg:
    """A dictionary argument."""

    items: tuple[tuple[Value, Value], ...]
    """Key and value pairs in insertion order."""


@dataclass(frozen=True, slots=True)
class SliceArg:
    """A slice argument."""

    start: Value
    """Start, or None."""
    stop: Value
    """Stop, or None."""
    step: Value
    """Step, or None."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A value without a Python literal, by kind and exact text."""

    kind: str
    """dtype, device, layout, memory_format, sym, function, module, type, node, size, or opaque."""
    text: str
    """Its exact text: `int8` for a dtype, the expression of a symbol, a class name when opaque."""


@dataclass(frozen=True, slots=True)
class TextRef:
    """A long text kept once in the trace's text table (stack traces, module stacks)."""

    id: int
    """Key in the text table."""


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node among the values of a decision, with the name it had at that instant."""

    node: int
    """Identity of the node."""
    name: str
    """Its name then."""


Value: TypeAlias = (
    "bool | int | float | complex | str | Ref | ListArg | DictArg | SliceArg | Atom | TextRef"
    " | NodeSeen | tuple[Value, ...] | None"
)


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
