"""What is in a `.pt2` file, told without torch and without running or unpickling anything from it."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from qdqviz.errors import TargetError
from qdqviz.load.sizes import is_size

EXIR_PROGRAM = "serialized_exported_program.json"
"""Where executorch.exir.save (and torch.export.save before 2.8) puts the program."""


@dataclass(frozen=True)
class Archive:
    """A `.pt2` file that has been looked through."""

    path: Path
    """The file."""
    layout: Literal["torch", "exir"]
    """Whose `save` wrote it: torch.export's or executorch.exir's."""
    programs: tuple[str, ...]
    """Names of the programs in it; exir writes one, called `forward` here."""
    targets: frozenset[str]
    """What the nodes of all graphs call, as serialized: `torch.ops.aten.add.Tensor`."""
    pickles: tuple[str, ...]
    """Members of the archive that the loader would unpickle."""

    @property
    def holds_edge_ops(self) -> bool:
        """Whether any node calls an op of the edge dialect."""
        return any(target.startswith("executorch.exir.dialects.") for target in self.targets)


def read_archive(path: Path) -> Archive:
    """Look through a `.pt2` file.

    Raises:
        TargetError: it is no such file, it is damaged, or it holds what could run code when it is loaded.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive)
    except FileNotFoundError:
        raise TargetError(f"no file {path}") from None
    except (zipfile.BadZipFile, EOFError):
        raise TargetError(f"{path} is no .pt2 file or is damaged: it is no complete zip archive") from None
    except (OSError, KeyError, ValueError, RecursionError) as error:
        raise TargetError(f"{path} cannot be read: {error}") from error


def read_member(path: Path, name: str) -> bytes:
    """The bytes of one member of the archive."""
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def _read(path: Path, archive: zipfile.ZipFile) -> Archive:
    names = archive.namelist()
    if EXIR_PROGRAM in names:
        layout: Literal["torch", "exir"] = "exir"
        members = {"forward": EXIR_PROGRAM}
    else:
        layout = "torch"
        found = [name for name in names if re.search(r"(^|/)models/[^/]+\.json$", name)]
        members = {Path(name).stem: name for name in found}
    if any("/aotinductor/" in name for name in names):
        raise TargetError(f"{path} holds compiled code (AOTInductor), which is not loaded")
    if not members:
        raise TargetError(f"{path} holds no exported program")
    targets: set[str] = set()
    for name in members.values():
        document = json.loads(archive.read(name))
        _refuse_code(path, document)
        targets.update(value for key, value in _strings(document) if key == "target" and "." in value)
    return Archive(path, layout, tuple(members), frozenset(targets), _pickles(path, archive))


def _refuse_code(path: Path, document: Any) -> None:
    """Refuse what the deserializers and torch.fx's code generation would evaluate as Python."""
    for key, value in _strings(document):
        if key == "expr_str" and not is_size(value):
            raise TargetError(f"{path} is refused: {value[:60]!r} is no symbolic size")
    for graph_input in document["graph_module"]["graph"]["inputs"]:
        for key, value in _strings(graph_input):
            if key == "name" and value and not value.isidentifier():
                raise TargetError(f"{path} is refused: {value[:60]!r} is no name of an input")


def _pickles(path: Path, archive: zipfile.ZipFile) -> tuple[str, ...]:
    """Members that are unpickled without restriction when the file is loaded.

    Raises:
        TargetError: one of them is an object that is no tensor.
    """
    found: list[str] = []
    for name in archive.namelist():
        folder, _, file = name.rpartition("/")
        if re.match("(custom|opaque)_obj", file) and folder.endswith("/constants"):
            raise TargetError(f"{path} is refused: {name} is a pickled object, and unpickling runs code")
        if file.endswith("_config.json") and folder.endswith(("/weights", "/constants")):
            found.extend(f"{folder}/{each}" for each in _pickled_tensors(json.loads(archive.read(name))))
        elif file.endswith(".pt"):
            found.append(name)
    return tuple(found)


def _pickled_tensors(config: dict[str, Any]) -> list[str]:
    """Files of the tensors in a payload configuration that were pickled; the others are raw bytes."""
    return [str(each["path_name"]) for each in config["config"].values() if each["use_pickle"]]


def _strings(document: Any) -> Iterator[tuple[str, str]]:
    """Every string in a JSON document with the key that it stands under."""
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, dict):
            waiting.extend(value.items())
        elif isinstance(value, list):
            waiting.extend((key, item) for item in value)
