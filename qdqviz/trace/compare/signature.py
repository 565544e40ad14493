"""What a node does, taken apart so that it can be compared with a node of another trace."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TypeAlias

from qdqviz.ir.node import Constant, NodeState
from qdqviz.ir.values import DictArg, ListArg, NodeSeen, Ref, SliceArg, TextRef, Value
from qdqviz.trace.compare.model import Place

Leaf: TypeAlias = "Ref | tuple[str, Hashable]"
"""An innermost part of an argument: a use of a node, or a type's name with something that tells values of
that type apart (so that 1, 1.0 and True differ, and NaN equals NaN)."""

Leaves: TypeAlias = "dict[Place, Leaf]"
"""All innermost parts of a node's arguments, by where they stand; lists count with their length."""

TextOf: TypeAlias = Callable[[int], str]
"""Gives a long text of a trace from its number."""

OF_THE_TRACER = frozenset({"from_node", "seq_nr", "stack_trace", "torch_fn", "custom"})
"""Metadata that says how tracing came to a node: names, counters, lines of source. What it says is different
each time; whether it is there is compared."""


def leaves_of(node: NodeState) -> Leaves:
    """The innermost parts of a node's arguments."""
    found: Leaves = {}
    for index, value in enumerate(node.args):
        _flatten(value, ("args", index), found)
    for name, value in sorted(node.kwargs):
        _flatten(value, ("kwargs", name), found)
    return found


def _flatten(value: Value, place: Place, found: Leaves) -> None:
    kind = type(value)
    if kind is Ref:
        found[place] = value  # type: ignore[assignment]
    elif isinstance(value, tuple | ListArg):
        items = value.items if isinstance(value, ListArg) else value
        found[place] = (kind.__name__, len(items))
        for index, item in enumerate(items):
            _flatten(item, (*place, index), found)
    elif isinstance(value, DictArg):
        found[place] = ("dict", len(value.items))
        for index, (key, item) in enumerate(value.items):
            _flatten(key, (*place, "key", index), found)
            _flatten(item, (*place, index), found)
    elif isinstance(value, SliceArg):
        found[place] = ("slice", 3)
        for index, item in enumerate((value.start, value.stop, value.step)):
            _flatten(item, (*place, index), found)
    else:
        found[place] = (kind.__name__, repr(value) if isinstance(value, float) else value)


def inputs_of(leaves: Leaves) -> tuple[int, ...]:
    """The nodes that are used, in order, with repetitions."""
    return tuple([leaf.node for leaf in leaves.values() if type(leaf) is Ref])


def signature(node: NodeState, leaves: Leaves) -> Hashable:
    """Equal for nodes that do the same to whatever they read; names and identities do not count.

    A placeholder or constant is what kind of value it stands for, not what it is called.
    """
    if node.op in ("placeholder", "get_attr"):
        constant = node.constant
        return node.op, None if constant is None else constant.kind, node.spec
    parts = tuple([(place, None if type(leaf) is Ref else leaf) for place, leaf in leaves.items()])
    return node.op, node.target, parts


def calls(node: NodeState) -> Hashable:
    """What a node calls, or what kind of constant it is: less than what it does."""
    if node.op in ("placeholder", "get_attr"):
        return node.op, None if node.constant is None else node.constant.kind
    return node.op, node.target


def content(constant: Constant | None) -> Hashable:
    """Equal for constants of equal content; what has no content goes by its name in the program."""
    if constant is None:
        return None
    if constant.fingerprint is not None:
        return constant.kind, constant.fingerprint
    return constant.kind, None if constant.kind == "user_input" else constant.target


def metadata(node: NodeState, text_of: TextOf) -> Iterator[tuple[str, Hashable, Value]]:
    """The metadata of a node: key, what is compared, what is shown."""
    for key, value in node.meta:
        if key in OF_THE_TRACER:
            yield key, True, value
        elif isinstance(value, TextRef):
            text = text_of(value.id)
            yield key, ("text", text), text
        else:
            yield key, _comparable(value), value


def _comparable(value: Value) -> Hashable:
    """A metadata value without the identities and names of the nodes in it."""
    if isinstance(value, NodeSeen | Ref):
        return "node"
    if isinstance(value, tuple | ListArg):
        items = value.items if isinstance(value, ListArg) else value
        return type(value).__name__, tuple(map(_comparable, items))
    if isinstance(value, DictArg):
        return "dict", tuple((_comparable(key), _comparable(item)) for key, item in value.items)
    return type(value).__name__, repr(value)
