"""What a module's import would not find, told by following its import statements without running them."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from qdqviz.passes.source_files import PACKAGE, find_source, is_installed, module_exists

_FORGIVING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class ImportNeeds:
    """Follows imports inside one package, remembering what it has read."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._imports: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, bool] = {}
        self._answers: dict[str, str | None] = {}

    def missing_for(self, module: str) -> str | None:
        """Returns the nearest module that importing `module` would fail to find, or None.

        Only statements at module level count. An import in a `try` whose handler forgives ImportError is
        optional, unless the handler raises; `if TYPE_CHECKING:` and other conditional imports are not
        followed. Inside the package the search goes on; of other packages only the top level is looked up.
        """
        if module not in self._answers:
            self._answers[module] = self._search(module)
        return self._answers[module]

    def _search(self, module: str) -> str | None:
        seen = {module}
        queue = deque([module])
        while queue:
            current = queue.popleft()
            if not self._exists(current):
                return current if _is_inside(current) else current.split(".")[0]
            for needed in self._direct(current):
                if needed not in seen:
                    seen.add(needed)
                    queue.append(needed)
        return None

    def _exists(self, module: str) -> bool:
        key = module if _is_inside(module) else module.split(".")[0]
        if key not in self._found:
            self._found[key] = module_exists(self._root, key) if _is_inside(key) else is_installed(key)
        return self._found[key]

    def _direct(self, module: str) -> tuple[str, ...]:
        if not _is_inside(module):
            return ()
        if module not in self._imports:
            file = find_source(self._root, module)
            found = self._read(module, file) if file is not None else ()
            self._imports[module] = (*_packages_above(module), *found)
        return self._imports[module]

    def _read(self, module: str, file: Path) -> tuple[str, ...]:
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, OSError):
            return ()
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        return tuple(name for node in _required_imports(tree.body) for name in self._names(node, package))

    def _names(self, node: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            return
        base = _absolute(node, package)
        yield base
        if _is_inside(base):
            submodules = (f"{base}.{alias.name}" for alias in node.names)
            yield from (name for name in submodules if find_source(self._root, name) is not None)


def _is_inside(module: str) -> bool:
    return module == PACKAGE or module.startswith(PACKAGE + ".")


def _packages_above(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:size]) for size in range(1, len(parts))]


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - (node.level - 1)]
    return ".".join([*base, node.module] if node.module else base)


def _required_imports(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.With):
            yield from _required_imports(node.body)
        elif isinstance(node, ast.Try):
            if not any(_forgives(handler) for handler in node.handlers):
                yield from _required_imports(node.body)
            yield from _required_imports(node.finalbody)


def _forgives(handler: ast.ExceptHandler) -> bool:
    """A handler forgives a failed import if it catches one and does not raise."""
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(handler))
    if handler.type is None:
        return not raises
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in caught}
    return bool(names & _FORGIVING) and not raises
