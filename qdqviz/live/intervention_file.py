"""The text file that interventions are kept in, and that replays them (`--with FILE`)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit

from qdqviz.errors import UsageError
from qdqviz.live.interventions import Force, Intervention, Veto

HEADER = "Interventions of qdqviz: replayed with `--with FILE`. Lines count from 1, columns from 0."

_TYPES: dict[str, tuple[type, ...]] = {
    "pass": (str,),
    "node": (str,),
    "graph": (str,),
    "file": (str,),
    "line": (int,),
    "column": (int,),
    "outcome": (bool,),
}
_REQUIRED = {"veto": {"pass", "node"}, "force": {"pass", "node", "line", "column"}}
_OPTIONAL = {"veto": {"graph"}, "force": {"graph", "file", "outcome"}}


def read_interventions(path: Path) -> tuple[Intervention, ...]:
    """The interventions in a file, in order: vetoes first.

    Raises:
        UsageError: The file is missing or no TOML, or an entry lacks a key or has one that it must not have.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML file: {error}") from error
    unknown = sorted(set(data) - set(_REQUIRED))
    if unknown:
        raise UsageError(f"{path} has [[{unknown[0]}]]: only [[veto]] and [[force]] are known")
    return tuple(
        _entry(path, kind, entry) for kind in _REQUIRED for entry in _list(path, kind, data.get(kind, []))
    )


def write_interventions(path: Path, interventions: Sequence[Intervention]) -> None:
    """Write interventions so that `read_interventions` gives them back.

    Raises:
        UsageError: The file cannot be written.
    """
    document = tomlkit.document()
    document.add(tomlkit.comment(HEADER))
    for kind, wanted in (("veto", Veto), ("force", Force)):
        tables = tomlkit.aot()
        for each in interventions:
            if isinstance(each, wanted):
                tables.append(_table(each))
        if len(tables):
            document.add(kind, tables)
    try:
        path.write_text(tomlkit.dumps(document), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _list(path: Path, kind: str, entries: Any) -> list[Any]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path}: {kind} is no list of tables: write [[{kind}]]")
    return entries


def _entry(path: Path, kind: str, entry: dict[str, Any]) -> Intervention:
    missing = sorted(_REQUIRED[kind] - set(entry))
    if missing:
        raise UsageError(f"{path}: a [[{kind}]] has no {missing[0]!r}")
    for key, value in entry.items():
        if key not in _REQUIRED[kind] | _OPTIONAL[kind]:
            raise UsageError(f"{path}: a [[{kind}]] has the unknown key {key!r}")
        if type(value) not in _TYPES[key]:
            raise UsageError(
                f"{path}: {key} of a [[{kind}]] is {value!r}: {_TYPES[key][0].__name__} is needed"
            )
    if kind == "veto":
        return Veto(entry["pass"], entry["node"], entry.get("graph", ""))
    return Force(
        entry["pass"],
        entry["node"],
        entry["line"],
        entry["column"],
        entry.get("graph", ""),
        entry.get("file", ""),
        entry.get("outcome"),
    )


def _table(each: Intervention) -> Any:
    table = tomlkit.table()
    table.add("pass", each.run)
    table.add("node", each.node)
    if each.path:
        table.add("graph", each.path)
    if isinstance(each, Force):
        table.add("line", each.line)
        table.add("column", each.column)
        if each.file:
            table.add("file", each.file)
        if each.outcome is not None:
            table.add("outcome", each.outcome)
    return table
