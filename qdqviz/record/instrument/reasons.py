"""Say in the author's words what a decision asks: the docstring of the predicate that it calls."""

from __future__ import annotations

import inspect
import weakref
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from qdqviz.trace.events import Site


class Reasons:
    """Looks predicates up among live functions; nothing is called."""

    def __init__(self) -> None:
        self._functions: dict[tuple[str, str], weakref.ref[FunctionType]] = {}
        self._by_name: dict[str, dict[str, None]] = {}

    def learn(self, function: FunctionType) -> None:
        """Remember a function that reports its decisions."""
        self._functions[function.__code__.co_filename, function.__qualname__] = weakref.ref(function)
        line = first_line(function)
        if line:
            self._by_name.setdefault(function.__name__, {}).setdefault(line)

    def describe(self, site: Site) -> Site:
        """The site with its reason, if one can be found."""
        if site.reason is not None or site.kind == "def":
            return site
        for call in site.calls or site.bound_by:
            line = self._line(site, call)
            if line:
                return replace(site, reason=line)
        return site

    def _line(self, site: Site, call: str) -> str | None:
        asker = self._function_of(site)
        if asker is not None:
            predicate = _resolve(call, asker, site.function)
            if predicate is not None:
                return first_line(predicate)
        # A method of something that has no static type: its name decides if only one is known.
        name = call.rpartition(".")[2]
        lines = list(self._by_name.get(name, ())) if "." in call else []
        return lines[0] if len(lines) == 1 else None

    def _function_of(self, site: Site) -> FunctionType | None:
        """The live function that holds the site, or the one around it."""
        name = site.function
        while name:
            reference = self._functions.get((site.file, name))
            found = reference() if reference else None
            if found is not None:
                return found
            name = name.rpartition(".<locals>.")[0]
        return None


def first_line(function: FunctionType) -> str | None:
    """The first line of a function's docstring."""
    text = function.__doc__
    if type(text) is not str:
        return None
    return text.strip().partition("\n")[0].strip() or None


def _resolve(call: str, asker: FunctionType, qualified_name: str) -> FunctionType | None:
    first, *rest = call.split(".")
    value: Any
    if first in ("self", "cls", "super()"):
        value = _class_of(asker, qualified_name)
        if first == "super()" and isinstance(value, type):
            value = value.__mro__[1]
    else:
        value = _name(first, asker)
    for part in rest:
        value = _member(value, part)
    return _as_function(value)


def _name(name: str, asker: FunctionType) -> Any:
    if asker.__closure__ and name in asker.__code__.co_freevars:
        cell = asker.__closure__[asker.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return None
    return asker.__globals__.get(name)


def _class_of(asker: FunctionType, qualified_name: str) -> Any:
    path = qualified_name.partition(".<locals>")[0].split(".")[:-1]
    if not path:
        return _name("__class__", asker)
    value = asker.__globals__.get(path[0])
    for part in path[1:]:
        value = _member(value, part)
    return value


def _member(value: Any, name: str) -> Any:
    if isinstance(value, ModuleType):
        return object.__getattribute__(value, "__dict__").get(name)
    return inspect.getattr_static(value, name, None) if isinstance(value, type) else None


def _as_function(value: Any) -> FunctionType | None:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    return value if type(value) is FunctionType else None
