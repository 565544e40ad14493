"""JSON Schemas of what the subcommands write with `--json`."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_SUFFIX = ".schema.json"


def schema_names() -> list[str]:
    """Names of the subcommands that have a schema."""
    names = (each.name for each in files(__name__).iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def load_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a subcommand's output.

    Raises:
        KeyError: If it has none.
    """
    file = files(__name__) / f"{name}{_SUFFIX}"
    if not file.is_file():
        raise KeyError(name)
    loaded: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return loaded
