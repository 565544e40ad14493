"""Keep what a decision saw, without running anybody's code.

Whatever cannot change, frozen sets among it, is kept by reference and formatted later. Other containers can
change before that, so their contents are copied, one level and if they are few; only exact built-in types are
opened, because a subclass may have its own `__iter__` or `__len__`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

MOST_ITEMS = 8
"""Containers that hold more are told by their size."""


class Snapshot:
    """A container as it was at one instant."""

    __slots__ = ("items", "kind", "length")

    def __init__(self, kind: str, length: int, items: tuple[Any, ...]) -> None:
        self.kind = kind
        """Name of its type: list, tuple, dict, set, dict_keys, ..."""
        self.length = length
        """How many items it held."""
        self.items = items
        """The items, pairs for a dict; containers among them are snapshots without items. None of many."""

    def __repr__(self) -> str:
        return f"Snapshot({self.kind!r}, {self.length}, {self.items!r})"


_SEQUENCES: tuple[type, ...] = (list, tuple, set, deque, type({}.keys()), type({}.values()))
_MAPPINGS: tuple[type, ...] = (dict, defaultdict, OrderedDict)
_PAIRS: tuple[type, ...] = (type({}.items()),)

CONTAINERS = frozenset(id(kind) for kind in (*_SEQUENCES, *_MAPPINGS, *_PAIRS))
"""Identities of the types that are snapshotted; by identity, because hashing a type may run its metaclass."""

_MAPPING_IDS = frozenset(id(kind) for kind in _MAPPINGS)


def keep(value: Any) -> Any:
    """The value itself, or a snapshot if it is a built-in container."""
    return value if id(type(value)) not in CONTAINERS else snapshot(value)


def snapshot(value: Any) -> Any:
    """Copy the items of a built-in container if they are few; a tuple without containers is kept as it is."""
    kind = type(value)
    size = len(value)
    if size > MOST_ITEMS:
        return Snapshot(kind.__name__, size, ())
    if kind is tuple and _is_flat(value):
        return value
    if kind is list:
        items = tuple(value)
    elif id(kind) in _MAPPING_IDS:
        # The plain dict's own view: a subclass cannot stand in for it here, the type is exact.
        pairs = _copied(dict.items(value))
        return Snapshot(kind.__name__, size, tuple([(_outline(key), _outline(item)) for key, item in pairs]))
    else:
        items = _copied(value)
    for item in items:
        if id(type(item)) in CONTAINERS:
            items = tuple(map(_outline, items))
            break
    return Snapshot(kind.__name__, size, items)


def _copied(items: Iterable[Any]) -> tuple[Any, ...]:
    try:
        return tuple(items)
    except RuntimeError:  # another thread changed it meanwhile
        return ()


def _is_flat(value: tuple[Any, ...]) -> bool:
    if len(value) > MOST_ITEMS:
        return False
    for item in value:  # noqa: SIM110  (a generator expression would take three times as long)
        if id(type(item)) in CONTAINERS:
            return False
    return True


def _outline(item: Any) -> Any:
    if id(type(item)) not in CONTAINERS or (type(item) is tuple and _is_flat(item)):
        return item
    return Snapshot(type(item).__name__, len(item), ())


_name_of_type = type.__dict__["__name__"].__get__
_args_of_error = BaseException.__dict__["args"].__get__
_traceback_of_error = BaseException.__dict__["__traceback__"].__get__


def type_name(kind: type) -> str:
    """A type's name, past whatever its metaclass makes of `__name__`."""
    name: str = _name_of_type(kind)
    return name


def error_message(error: BaseException) -> str | None:
    """The exception's first argument if it is exactly a string; `str(error)` could run anything."""
    args = _args_of_error(error)
    return args[0] if type(args) is tuple and args and type(args[0]) is str else None


def error_place(error: BaseException) -> str | None:
    """`file:line` where the exception was raised."""
    traceback = _traceback_of_error(error)
    if traceback is None:
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return f"{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
