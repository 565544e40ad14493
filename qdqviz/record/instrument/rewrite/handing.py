"""Find calls that hand the items of an iterable to a function: `filter(fits, graph.nodes)`."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from qdqviz.record.instrument.handing import HANDING, KEYED, MODULES

_BUILT_IN = frozenset(dir(builtins))

_READING = frozenset({"attrgetter", "itemgetter", "methodcaller"})
"""Functions of `operator` that make functions which decide nothing."""


@dataclass(frozen=True, slots=True)
class Handing:
    """A call that seems to hand items to a function; whether it does is known when it runs."""

    name: str
    """What has to be what it is called: `filter`, `functools`."""
    called: ast.Name
    """The expression that gives it; reading a name once more runs nothing."""
    place: int
    """Which of the arguments is the iterable."""


def handing(call: ast.Call) -> Handing | None:
    """What a call hands to a function; None for any other call, and where no function of a pass is called."""
    match call.func:
        case ast.Name(id=function) as called:
            pass
        case ast.Attribute(value=ast.Name(id=module) as called, attr=function) if module in MODULES:
            pass
        case _:
            return None
    if function not in HANDING or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    if function in KEYED:
        keyed = [keyword.arg for keyword in call.keywords]
        return Handing(called.id, called, 0) if len(call.args) == 1 and "key" in keyed else None
    most = 3 if function == "reduce" else 2
    if call.keywords or not 2 <= len(call.args) <= most or _asks_nothing(call.args[0]):
        return None
    return Handing(called.id, called, 1)


def _asks_nothing(function: ast.expr) -> bool:
    """Whether what is called on each item is a built-in, only reads something off it, or is nothing."""
    match function:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in _BUILT_IN
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _READING
    return False
