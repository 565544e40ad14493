"""From a target on the command line to a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from qdqviz.errors import TargetError
from qdqviz.load.loaded import Loaded, kind_of
from qdqviz.load.quiet import import_toolchain, quiet, without_notices
from qdqviz.load.samples import find_sample, sample_module
from qdqviz.load.source import (
    call,
    find_object,
    import_file,
    import_name,
    importable,
    public_functions,
    split,
)

# What needs torch is imported in the functions, after import_toolchain has said in one line if it is missing.


def load(target: str, *, imports: Sequence[str] = (), method: str | None = None) -> Loaded:
    """Load a target.

    Args:
        target: a sample's name, `path.py:callable`, `package.module:callable`, or a `.pt2` file.
        imports: op libraries to import first: modules, Python files or shared libraries.
        method: which method to choose; None for the only one, or `forward`.

    Raises:
        TargetError: the target names nothing that can be loaded; one line says why.
        UsageError: the method is not there, or one has to be chosen.
        MissingDependencyError: torch or executorch is not installed.
    """
    refuse_foreign(target)
    import_toolchain()
    from qdqviz.load.oplibs import import_libraries

    import_libraries(imports)
    if target.endswith(".pt2"):
        return _load_file(Path(target), method)
    named = split(target)
    if named is None:
        return _load_sample(target, method)
    return _load_callable(*named, method)


def refuse_foreign(target: str) -> None:
    """Refuse what is recognizably no program, before torch is imported.

    Raises:
        TargetError: it is a trace, a lowered program, a folder, or a Python file without a callable.
    """
    path = Path(target)
    if target.endswith(".qdqtrace"):
        raise TargetError(f"{target} is a trace, not a program: look at it with qdqviz open {target}")
    if target.endswith((".pte", ".bpte")):
        raise TargetError(
            f"{target} is lowered already: give the .pt2 or the Python code that it was made from"
        )
    if target.endswith(".py"):
        if not path.is_file():
            raise TargetError(f"no file {target}")
        functions = ", ".join(public_functions(path)[:8])
        raise TargetError(
            f"{target} needs a callable, {target}:NAME" + (f" ({functions})" if functions else "")
        )
    if not target.endswith(".pt2") and split(target) is None:
        if "/" in target or path.suffix or path.is_dir():
            raise TargetError(
                f"{target} is no target: give a sample, path.py:callable, module:callable or a .pt2 file"
            )
        find_sample(target)


def _load_sample(name: str, method: str | None) -> Loaded:
    from qdqviz.load.programs import describe

    with quiet():
        module = sample_module(name)
        program = call(module.build, name)
    return describe(name, program, method, fallback=_example_inputs(module, name))


def _load_file(path: Path, method: str | None) -> Loaded:
    from qdqviz.load.programs import choose_method, describe
    from qdqviz.load.pt2 import load_pt2

    programs = load_pt2(path)
    chosen = choose_method(str(path), tuple(sorted(programs)), method)
    return describe(path.name, programs[chosen], "forward")


def _load_callable(where: str, attribute: str, method: str | None) -> Loaded:
    from qdqviz.load.programs import as_program, describe

    is_file = where.endswith(".py")
    name = f"{where}:{attribute}"
    folder = Path(where).resolve().parent if is_file else Path.cwd()
    module = import_file(Path(where)) if is_file else import_name(where)
    found = find_object(module, attribute, where)
    with importable(folder), without_notices():
        returned = found
        if kind_of(found) is None and not isinstance(found, tuple):
            if not callable(found):
                raise TargetError(f"{name} is a {type(found).__name__}: a callable or a program is needed")
            returned = call(found, name)
        program, inputs = as_program(returned, name)
        return describe(name, program, method, inputs, fallback=_example_inputs(module, name))


def _example_inputs(module: ModuleType, name: str) -> Callable[[], Any] | None:
    function = getattr(module, "example_inputs", None)
    return (lambda: call(function, f"example_inputs() of {name}")) if callable(function) else None
