"""From what was typed after `-p` to passes: built-in, upstream, pipelines, dotted paths, files, factories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qdqviz.errors import UsageError
from qdqviz.passes.catalogue import OWN_FAMILY, Catalogue
from qdqviz.passes.entry import PassEntry, ResolvedPass
from qdqviz.passes.families import CADENCE_PASS_FILTER, DEFAULT_OPT_LEVEL, PIPELINES
from qdqviz.passes.importing import EXTRA_HINT, pass_import
from qdqviz.passes.locate import load_dotted, load_from_file, load_path, names_in
from qdqviz.passes.names import BUILTIN_MODULES, BUILTIN_PIPELINES, builtin_path
from qdqviz.passes.wrap import wrap


def resolve(spec: str | Iterable[str], catalogue: Catalogue | None = None) -> list[ResolvedPass]:
    """Turns a specification into passes, in the order given.

    Names are separated by commas; several specifications are read one after the other. A name is, and is
    looked for in this order: a file (`file.py:Name`), a built-in pipeline or pass, an upstream pipeline,
    `family:Name` or `package.module:Name`, an upstream class name, `package.module.Name`. A built-in pass
    keeps the name of the upstream pass that it stands for; `cadence:Name` gives upstream's.

    Raises:
        UsageError: A name is unknown (with the closest ones) or ambiguous (with the choices).
        PassError: What it names cannot be imported, or is no pass.
    """
    known = catalogue if catalogue is not None else Catalogue()
    specs = [spec] if isinstance(spec, str) else list(spec)
    names = [name.strip() for text in specs for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("no pass was named; `qdqviz passes` lists them")
    return [found for name in names for found in _resolve_one(name, known)]


def _resolve_one(name: str, catalogue: Catalogue) -> list[ResolvedPass]:
    file, colon, attribute = name.rpartition(":")
    if name.endswith(".py") or (not colon and "/" in name):
        raise UsageError(f"{name} names no pass: write {name}:NAME{names_in(name)}")
    if colon and file.endswith(".py"):
        return wrap(load_from_file(file, attribute), name)
    plain = attribute if colon and file == OWN_FAMILY else name
    if plain in BUILTIN_PIPELINES:
        return [found for each in BUILTIN_PIPELINES[plain] for found in _builtin(each)]
    if plain in BUILTIN_MODULES:
        return _builtin(plain)
    if name.partition("@")[0] in PIPELINES:
        return _upstream_pipeline(name)
    if colon and "." not in file and file in catalogue.families:
        return _upstream(attribute, file, catalogue)
    if colon:
        return wrap(load_path(name), name)
    if "." in name:
        return wrap(*load_dotted(name))
    return _upstream(name, None, catalogue)


def _builtin(name: str) -> list[ResolvedPass]:
    path = builtin_path(name)
    return wrap(load_path(path), path)


def _upstream(name: str, family: str | None, catalogue: Catalogue) -> list[ResolvedPass]:
    found = catalogue.named(name, family)
    if not found:
        raise UsageError(_unknown(name, family, catalogue))
    if len(found) > 1:
        raise UsageError(f"several passes are named {name}: {_choices(found)}")
    return wrap(load_path(found[0].path), found[0].path)


def _choices(found: list[PassEntry]) -> str:
    return ", ".join(entry.path for entry in found)


def _unknown(name: str, family: str | None, catalogue: Catalogue) -> str:
    if not catalogue.has_executorch:
        return f"no built-in pass is named {name}, and executorch is not installed ({EXTRA_HINT})"
    where = f" in {family}" if family else ""
    close = catalogue.suggestions(name)
    hint = f"did you mean {', '.join(close)}?" if close else "`qdqviz passes` lists the names"
    return f"no pass is named {name}{where}; {hint}"


def _upstream_pipeline(name: str) -> list[ResolvedPass]:
    base, at, level = name.partition("@")
    path = PIPELINES[base][0]
    if base != "cadence":
        if at:
            raise UsageError(f"{base} has no opt levels; only cadence@LEVEL does")
        return wrap(load_path(path), path)
    if at and not level.isdigit():
        raise UsageError(f"{name}: an opt level is a number, as in cadence@2")
    return _cadence(path, int(level) if at else DEFAULT_OPT_LEVEL)


def _cadence(path: str, opt_level: int) -> list[ResolvedPass]:
    """Asks upstream itself which passes run at an opt level, as `apply_exir_ops_passes` does."""
    ordered, make_filter = load_path(path), load_path(CADENCE_PASS_FILTER)
    with pass_import(path):
        classes: list[Any] = list(filter(make_filter(opt_level), ordered()))
    return [found for each in classes for found in wrap(each, f"{each.__module__}:{each.__qualname__}")]
