"""Which classes of the installed executorch are passes, read from source: nothing is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from qdqviz.passes.source_files import module_name

ROOT_CLASSES = frozenset({"PassBase", "ExportPass", "ExportedProgramPassBase"})
"""Bases that make a class a pass; everything that derives from one, however far, is a pass too."""

SKIPPED_FOLDERS = frozenset({"test", "tests", "examples", "devtools", "share", "codegen", "__pycache__"})
"""Folders that hold no passes for programs: tests define throw-away ones."""

_CLASS = re.compile(rb"^class \w+\(", re.MULTILINE)


@dataclass(frozen=True)
class ClassDefinition:
    """A class at the top level of one source file."""

    module: str
    """Dotted name of its module."""

    name: str
    """The class's name."""

    bases: tuple[str, ...]
    """Last parts of its bases' names, as imported: `from m import A as B` gives A."""

    summary: str
    """First line of its docstring."""

    abstract: bool
    """It declares abstract methods: other passes derive from it, it is none itself."""

    @property
    def path(self) -> str:
        """`package.module:Class`."""
        return f"{self.module}:{self.name}"


def find_pass_classes(root: Path) -> list[ClassDefinition]:
    """Returns all concrete pass classes below a package's folder, in order of path.

    Private classes (leading underscore) and abstract ones are left out. A class is told by the names of its
    bases, across files; two classes of one name are both passes if one is.
    """
    definitions = [found for file in _candidate_files(root) for found in read_classes(root, file)]
    names = derived_names(definitions)
    concrete = [d for d in definitions if d.name in names and not d.abstract and not d.name.startswith("_")]
    return sorted(concrete, key=lambda found: found.path)


def derived_names(definitions: Iterable[ClassDefinition]) -> set[str]:
    """Returns the names of the classes that derive from a root class, directly or through others."""
    children: dict[str, list[str]] = {}
    for definition in definitions:
        for base in definition.bases:
            children.setdefault(base, []).append(definition.name)
    derived: set[str] = set()
    todo = list(ROOT_CLASSES)
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in derived:
                derived.add(child)
                todo.append(child)
    return derived - ROOT_CLASSES


def read_classes(root: Path, file: Path) -> list[ClassDefinition]:
    """Returns the top-level classes of one file; none if the file does not parse."""
    try:
        tree = ast.parse(file.read_bytes(), filename=str(file))
    except (SyntaxError, ValueError, OSError):
        return []
    aliases = _import_aliases(tree)
    module = module_name(root, file)
    return [_definition(module, node, aliases) for node in tree.body if isinstance(node, ast.ClassDef)]


def first_line(docstring: str | None) -> str:
    """Returns the first line of a docstring that has words in it."""
    lines = (line.strip() for line in (docstring or "").splitlines())
    return next((line for line in lines if line), "")


def _candidate_files(root: Path) -> Iterator[Path]:
    folders = [root]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if path.is_dir():
                if path.name not in SKIPPED_FOLDERS:
                    folders.append(path)
            elif path.suffix == ".py":
                source = path.read_bytes()
                if b"Pass" in source and _CLASS.search(source):
                    yield path


def _import_aliases(tree: ast.Module) -> dict[str, str]:
    """Maps each locally renamed import to the name that it has at home."""
    return {
        alias.asname: alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }


def _definition(module: str, node: ast.ClassDef, aliases: dict[str, str]) -> ClassDefinition:
    last_names = [_last_name(base) for base in node.bases]
    bases = tuple(aliases.get(name, name) for name in last_names if name)
    abstract = any(_is_abstract(item) for item in node.body)
    return ClassDefinition(module, node.name, bases, first_line(ast.get_docstring(node)), abstract)


def _last_name(base: ast.expr) -> str:
    if isinstance(base, ast.Subscript):
        return _last_name(base.value)
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else ""


def _is_abstract(item: ast.stmt) -> bool:
    decorators = item.decorator_list if isinstance(item, ast.FunctionDef) else []
    return any(_last_name(decorator) == "abstractmethod" for decorator in decorators)
