"""Targets that name Python: `path.py:callable` and `package.module:callable`."""

from __future__ import annotations

import ast
import contextlib
import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from qdqviz.errors import TargetError, users_line
from qdqviz.load.messages import describe_error


def import_file(path: Path) -> ModuleType:
    """Import a Python file anew, with its folder importable meanwhile.

    The module is registered in `sys.modules` under a name of its own (dynamo imports a traced function's
    module by name), and stays there unless importing it fails.

    Raises:
        TargetError: there is no such file, or its code raised.
    """
    if not path.is_file():
        raise TargetError(f"no file {path}")
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"qdqviz_target_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with importable(path.resolve().parent), foreign_code(f"importing {path}"):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def import_name(name: str) -> ModuleType:
    """Import a module by dotted name; the current folder is searched too, as `python -m` does.

    Raises:
        TargetError: there is no such module, or importing it raised.
    """
    with importable(Path.cwd()), foreign_code(f"importing {name}"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and (name == error.name or name.startswith(error.name + ".")):
                raise TargetError(f"no module {error.name}") from error
            raise


def split(target: str) -> tuple[str, str] | None:
    """The part before and after the last colon: None unless the part after it is a (dotted) Python name."""
    where, colon, attribute = target.rpartition(":")
    if colon and where and all(part.isidentifier() for part in attribute.split(".")):
        return where, attribute
    return None


def find_object(module: ModuleType, attribute: str, where: str) -> Any:
    """The object that `attribute`, a dotted name, is in `module`.

    Raises:
        TargetError: there is none; the message suggests close names.
    """
    found: Any = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            close = difflib.get_close_matches(part, [name for name in dir(found) if name[0] != "_"], n=3)
            hint = f": did you mean {' or '.join(close)}?" if close else ""
            raise TargetError(f"{where} has no {attribute!r}{hint}") from None
    return found


def call(factory: Any, where: str) -> Any:
    """Call `factory` without arguments; what it prints goes to standard error.

    Raises:
        TargetError: it wants arguments, or it raised.
    """
    try:
        inspect.signature(factory).bind()
    except TypeError as error:
        raise TargetError(f"{where} is called without arguments, but: {error}") from None
    except ValueError:
        pass  # builtins without a signature: the call itself will tell
    with foreign_code(where):
        return factory()


def public_functions(path: Path) -> list[str]:
    """Functions and classes that a Python file defines, without running it; [] if it does not parse."""
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError):
        return []
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in body if isinstance(node, kinds) and not node.name.startswith("_")]


@contextlib.contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Let modules in `folder` be imported inside the block."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)


@contextlib.contextmanager
def foreign_code(where: str) -> Iterator[None]:
    """Run a user's code: its prints go to standard error, what it raises becomes one TargetError.

    Args:
        where: what is run, for the message: `importing model.py`, `model.py:build`.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except TargetError:
        raise
    except SystemExit as error:
        raise TargetError(f"{where}: the code ended the process (exit status {error.code})") from error
    except Exception as error:
        raise TargetError(
            f"{where} raised {describe_error(error)}{users_line(error.__traceback__)}"
        ) from error
