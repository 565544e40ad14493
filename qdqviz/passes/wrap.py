"""Makes `ResolvedPass` objects of whatever a name stands for: a class, a function, an instance, a list."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qdqviz.errors import PassError
from qdqviz.passes.build import Constructor, constructor_of, required_count, wants_of
from qdqviz.passes.dialect import dialect_of
from qdqviz.passes.entry import ResolvedPass, Wants


def wrap(found: Any, path: str) -> list[ResolvedPass]:
    """Returns the passes that an object stands for.

    A list or tuple stands for its items, a class that only holds a list `passes` for those. A function that
    can be called without arguments makes a pass (or a list of them); one that needs an argument is itself
    the pass.

    Raises:
        PassError: The object is no pass.
    """
    if isinstance(found, list | tuple):
        return [each for item in found for each in wrap(item, path_of(item, path))]
    if inspect.isclass(found):
        return _from_class(found, path)
    if inspect.isroutine(found):
        return _from_function(found, path)
    if callable(found):
        return [_resolved(path, type(found), lambda _program: found, False, _wants(type(found)))]
    raise PassError(f"{path} is no pass: it cannot be called")


def path_of(item: Any, otherwise: str) -> str:
    """Returns a path for one item of a list that stands at `otherwise`."""
    name = getattr(item, "__qualname__", None)
    if not name:
        return otherwise
    file = otherwise.rpartition(":")[0]
    source = getattr(sys.modules.get(item.__module__), "__file__", None)
    in_that_file = file.endswith(".py") and source == str(Path(file).resolve())
    return f"{file if in_that_file else item.__module__}:{name}"


def _from_class(cls: type, path: str) -> list[ResolvedPass]:
    if not _instances_are_callable(cls):
        listed = getattr(cls, "passes", None)
        if isinstance(listed, list | tuple):
            return wrap(list(listed), path)
        raise PassError(f"{path} is no pass: its instances cannot be called")
    constructor = constructor_of(cls, cls.__name__)
    return [_resolved(path, cls, constructor, _needs_program(constructor), _wants(cls))]


def _from_function(function: Callable[..., Any], path: str) -> list[ResolvedPass]:
    if required_count(function) > 0:
        return [_resolved(path, function, lambda _program: function, False, wants_of(function))]
    constructor = constructor_of(function, path)
    made = constructor(None)
    if isinstance(made, list | tuple):
        return wrap(made, path)
    if not callable(made):
        raise PassError(f"{path} makes no pass: what it returns cannot be called")
    return [_resolved(path, type(made), constructor, False, _wants(type(made)))]


def _resolved(
    path: str, subject: Any, build: Callable[[Any], Any], needs_program: bool, wants: Wants
) -> ResolvedPass:
    name = getattr(subject, "__name__", path)
    return ResolvedPass(name, path, wants, dialect_of(subject), needs_program, build)


def _needs_program(constructor: Constructor) -> bool:
    return constructor.program_parameter is not None and not constructor.program_is_optional


def _wants(cls: type) -> Wants:
    if any(base.__name__ == "ExportedProgramPassBase" for base in inspect.getmro(cls)):
        return "exported_program"
    call = getattr(cls, "call", None) or cls.__call__
    return wants_of(call, bound=False)


def _instances_are_callable(cls: type) -> bool:
    return any("__call__" in base.__dict__ for base in inspect.getmro(cls))
