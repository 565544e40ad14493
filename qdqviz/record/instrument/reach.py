"""Find the functions that a pass consists of: its methods, and what they call, transitively.

Calls are resolved from the names in a function's code: through its globals and closure, modules, classes,
partials and wrappers. That finds more than what will be called, which costs nothing, and it runs none of the
pass's code.
"""

from __future__ import annotations

import functools
import opcode
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from qdqviz.record.instrument.scope import Scope, module_of

MOST_ITEMS = 256
"""How many items of a container are looked at."""

MOST_NESTED = 3
"""How many containers and instances deep functions are looked for."""

_IMPORT = opcode.opmap["IMPORT_NAME"]
_CONTAINERS = (list, tuple, set, frozenset, deque)
_own_dict = type.__dict__["__dict__"].__get__
_bases = type.__dict__["__mro__"].__get__
_LRU_WRAPPER = type(functools.lru_cache(lambda: None))


def reach(*roots: object, scope: Scope | None = None) -> list[FunctionType]:
    """The functions of pass code that these passes (objects, classes, callables) reach, each once."""
    if scope is None:
        scope = Scope(frozenset(name for root in roots if (name := _package(root))))
    search = _Search(scope)
    for root in roots:
        search.add_root(root)
    return search.run()


@dataclass(slots=True)
class _Task:
    value: Any
    """What to look into."""
    depth: int
    """Containers and instances around it."""


class _Search:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._found: dict[FunctionType, None] = {}
        self._pending: deque[_Task] = deque()
        self._seen: dict[int, Any] = {}  # holds what it has seen, so that identities stay unique

    def add_root(self, root: object) -> None:
        """Look into a pass, whatever it is."""
        self._add(root, 0)

    def run(self) -> list[FunctionType]:
        """Search until nothing new turns up."""
        while self._pending:
            task = self._pending.popleft()
            self._look_into(task.value, task.depth)
        return list(self._found)

    def _add(self, value: Any, depth: int) -> None:
        if depth <= MOST_NESTED and id(value) not in self._seen:
            self._seen[id(value)] = value
            self._pending.append(_Task(value, depth))

    def _look_into(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind is FunctionType:
            self._function(value)
        elif kind is MethodType:
            self._add(value.__func__, 0)
            self._add(value.__self__, depth + 1)
        elif kind in (staticmethod, classmethod):
            self._add(value.__func__, 0)
        elif kind is property:
            self._add_all((value.fget, value.fset, value.fdel), 0)
        elif kind is functools.partial:
            self._add_all((value.func, *value.args, *value.keywords.values()), depth)
        elif kind in (functools.cached_property, functools.partialmethod):
            self._add(value.func, 0)
        elif kind is _LRU_WRAPPER:
            self._add(value.__wrapped__, 0)
        elif kind in _CONTAINERS:
            self._add_all(value, depth + 1)
        elif kind is dict:
            self._add_all(value.values(), depth + 1)
        elif isinstance(kind, type) and issubclass(kind, type):
            self._class(value)
        elif kind is not ModuleType:
            self._instance(value, kind, depth)

    def _add_all(self, values: Iterable[Any], depth: int) -> None:
        for _, value in zip(range(MOST_ITEMS), list(values), strict=False):
            self._add(value, depth)

    def _class(self, kind: type) -> None:
        for base in _bases(kind):
            if self._scope.admits_class(base):
                for member in list(_own_dict(base).values()):
                    self._add(member, 1)

    def _instance(self, value: Any, kind: type, depth: int) -> None:
        if not any(self._scope.admits_class(base) for base in _bases(kind)):
            return
        self._add(kind, 0)
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        if type(attributes) is dict:
            self._add_all(attributes.values(), depth + 1)

    def _function(self, function: FunctionType) -> None:
        wrapped = function.__dict__.get("__wrapped__")
        if wrapped is not None:
            self._add(wrapped, 0)
        captured = [_content(cell) for cell in function.__closure__ or ()]
        self._add_all(captured, 1)
        if not self._scope.admits_function(function) or _is_generated(function):
            return  # a decorator of some library: what it wraps may be ours, what it calls is not
        self._found[function] = None
        self._add_all((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()), 1)
        codes = list(nested_codes(function.__code__))
        names = {name for code in codes for name in code.co_names}
        modules = [value for value in captured if _is_module(value)]
        modules.extend(module for code in codes for module in _imported(code, function.__globals__))
        for name in names:
            value = function.__globals__.get(name)
            if _is_module(value):
                modules.append(value)
            else:
                self._add(value, 1)
        self._modules(modules, names)

    def _modules(self, modules: list[ModuleType], names: set[str]) -> None:
        """Whatever the named modules hold under names that the function mentions."""
        seen: set[int] = set()
        while modules:
            module = modules.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            members = object.__getattribute__(module, "__dict__")
            for name in names & members.keys():
                value = members[name]
                if _is_module(value):
                    modules.append(value)
                else:
                    self._add(value, 1)


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of all functions inside it."""
    pending = [code]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(constant for constant in current.co_consts if type(constant) is CodeType)


def _imported(code: CodeType, module_globals: dict[str, Any]) -> Iterator[ModuleType]:
    """Modules that a function imports itself, as far as they are loaded."""
    if _IMPORT not in code.co_code[::2]:
        return
    package = module_globals.get("__package__") or ""
    for name in code.co_names:
        # `from .x import y` names x alone: an unrelated top-level x must not hide it.
        for found in (sys.modules.get(name), _relative(name, package) if package else None):
            if found is not None and _is_module(found):
                yield found


def _relative(name: str, package: str) -> ModuleType | None:
    while package:
        found = sys.modules.get(f"{package}.{name}" if name else package)
        if found is not None:
            return found
        package = package.rpartition(".")[0]
    return None


def _is_generated(function: FunctionType) -> bool:
    """Whether a library wrote the function: the methods of dataclasses and named tuples."""
    return function.__code__.co_filename.startswith("<") and function.__name__.startswith("__")


def _is_module(value: Any) -> bool:
    return issubclass(type(value), ModuleType)  # `isinstance` might ask the value


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _package(root: object) -> str:
    """The top-level package that a pass comes from."""
    if isinstance(root, functools.partial):
        root = root.func
    if type(root) is MethodType:
        root = root.__func__
    if type(root) is FunctionType:
        return module_of(root).partition(".")[0]
    kind = root if isinstance(root, type) else type(root)
    module = _own_dict(kind).get("__module__")
    return module.partition(".")[0] if type(module) is str else ""
