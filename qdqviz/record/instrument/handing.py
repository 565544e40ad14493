"""Functions of Python that call a function on the items of an iterable, one after the other.

`filter(fits, graph.nodes)` looks at one node after the other, as a loop does. `sorted` is none of these: it
takes all items before it asks about the first.
"""

from __future__ import annotations

import functools
import itertools
from types import MappingProxyType

HANDING = MappingProxyType(
    {
        "map": map,
        "filter": filter,
        "min": min,
        "max": max,
        "reduce": functools.reduce,
        "filterfalse": itertools.filterfalse,
        "takewhile": itertools.takewhile,
        "dropwhile": itertools.dropwhile,
    }
)
"""The functions by the names that sources call them by."""

MODULES = MappingProxyType({"functools": functools, "itertools": itertools})
"""The modules that hold those that are no built-ins, by the names that sources call them by."""

KEYED = frozenset({"min", "max"})
"""Those that take the items first and the function as `key`."""
