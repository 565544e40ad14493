"""Fetches the object behind `package.module:Name`, `package.module.Name` or `file.py:Name`."""

from __future__ import annotations

import ast
import contextlib
import difflib
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qdqviz.errors import PassError, UsageError
from qdqviz.passes.importing import import_module, pass_import


def load_path(path: str) -> Any:
    """Returns what `package.module:Name` names; `Name` may be dotted.

    Raises:
        PassError: The module cannot be imported, or has no such name.
    """
    module, _, attribute = path.partition(":")
    return _attribute(import_module(module), attribute, module)


def load_dotted(path: str) -> tuple[Any, str]:
    """Returns what `package.module.Name` names, and the same as `package.module:Name`.

    Raises:
        UsageError: No module of that name is installed, or it has no such name.
        PassError: The module cannot be imported.
    """
    parts = path.split(".")
    for size in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:size])
        if _can_be_found(module):
            colon_path = f"{module}:{'.'.join(parts[size:])}"
            return load_path(colon_path), colon_path
    raise UsageError(f"no module is named {'.'.join(parts[:-1])} (looking for the pass {path})")


def load_from_file(file: str, attribute: str) -> Any:
    """Runs a Python file and returns one of its names; the file's folder is importable while it runs.

    Loading an unchanged file again gives the same module, so that its classes stay the same.

    Raises:
        UsageError: There is no such file, or no such name in it.
        PassError: The file cannot be run.
    """
    path = Path(file)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    name = f"{path.stem}_{hashlib.sha256(bytes(path.resolve()) + source).hexdigest()[:12]}"
    module = sys.modules.get(name)
    return _attribute(module if module is not None else _run(path, name), attribute, file)


def names_in(file: str) -> str:
    """` (Fuse, Sink)`: the classes and functions that a Python file defines, read without running it."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ""
    kinds = (ast.ClassDef, ast.FunctionDef)
    names = [each.name for each in tree.body if isinstance(each, kinds) and each.name[0] != "_"]
    return f" ({', '.join(names)})" if names else ""


def _run(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise PassError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with pass_import(str(path)), _folder_on_path(path.resolve().parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextlib.contextmanager
def _folder_on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(folder))


def _can_be_found(module: str) -> bool:
    """Finding a dotted module imports the packages above it, so that may raise anything too."""
    parent = module.rpartition(".")[0]
    try:
        if parent:
            import_module(parent)
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False
    except PassError as error:
        if isinstance(error.__cause__, ModuleNotFoundError) and module.startswith(
            error.__cause__.name or " "
        ):
            return False
        raise


def _attribute(module: Any, attribute: str, where: str) -> Any:
    found = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            close = difflib.get_close_matches(part, [name for name in dir(found) if name[0] != "_"], n=3)
            hint = f": did you mean {' or '.join(close)}?" if close else ""
            raise UsageError(f"{where} has no pass named {attribute}{hint}") from error
    return found
