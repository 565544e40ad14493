"""Loads `.pt2` files: aten programs by torch.export, edge programs by executorch.exir."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from qdqviz.errors import TargetError
from qdqviz.load.archive import Archive, read_archive, read_member
from qdqviz.load.dialect import graph_modules_of
from qdqviz.load.messages import describe_error
from qdqviz.load.oplibs import register
from qdqviz.load.quiet import quiet


def load_pt2(path: Path) -> dict[str, Any]:
    """The ExportedPrograms in a `.pt2` file by name.

    The op libraries that the file needs are imported if they are known; nothing in the file is executed.

    Raises:
        TargetError: the file is missing, damaged or of a version that cannot be read, holds an op that no
            library registers, or holds something that would run code.
    """
    archive = read_archive(path)
    if archive.layout == "torch" and archive.holds_edge_ops:
        raise TargetError(
            f"{path} holds edge ops, and torch.export.save cannot write those so that they load: "
            "write it with executorch.exir.save"
        )
    with quiet():
        _refuse_unknown(path, register(archive.targets))
        _refuse_pickles(archive)
        try:
            programs = _load(archive)
        except Exception as error:
            raise TargetError(f"{path} does not load: {describe_error(error)}") from error
    for program in programs.values():
        _refuse_unknown(path, _fake_ops(program))
    return programs


def _load(archive: Archive) -> dict[str, Any]:
    if archive.layout == "exir":
        from executorch import exir

        return {"forward": exir.load(str(archive.path))}
    from torch.export.pt2_archive._package import load_pt2 as load_package

    # torch.export.load hides the reason of a failure behind a general RuntimeError
    with archive.path.open("rb") as file:
        programs: dict[str, Any] = load_package(file).exported_programs
    return {"forward": next(iter(programs.values()))} if len(programs) == 1 else programs


def _refuse_unknown(path: Path, unknown: list[str]) -> None:
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise TargetError(
            f"{path} uses the op {unknown[0]}{more}, which no known library registers: "
            "name the module that does with --import MODULE"
        )


def _refuse_pickles(archive: Archive) -> None:
    """Refuse pickled members that hold more than tensors: the loaders fall back to unpickling anything."""
    for name in archive.pickles:
        content = read_member(archive.path, name)
        if not content:
            continue
        try:
            torch.load(io.BytesIO(content), weights_only=True)
        except Exception as error:
            raise TargetError(
                f"{archive.path} is refused: {name} holds pickled objects other than tensors, and unpickling "
                "runs code; load it in Python and name that as path.py:callable"
            ) from error


def _fake_ops(program: Any) -> list[str]:
    """Ops that exir replaced by a closure because it did not find them."""
    return sorted(
        str(node.target.__name__)
        for module in graph_modules_of(program.graph_module)
        for node in module.graph.nodes
        if getattr(node.target, "__qualname__", "").endswith("<locals>.fake_op")
    )
