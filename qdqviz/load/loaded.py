"""A loaded target: the program, and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from qdqviz.load.dialect import Dialect

Kind = Literal["EdgeProgramManager", "ExportedProgram", "GraphModule"]
"""The kinds of program that passes run on, by their class names."""


@dataclass(frozen=True)
class Loaded:
    """What a target on the command line came to."""

    name: str
    """The target in short: `encoder`, `model.py:build`, `model.pt2`."""
    program: Any
    """The EdgeProgramManager, ExportedProgram or GraphModule; the user's own object, not to be changed."""
    kind: Kind
    """Which of the three it is."""
    dialect: Dialect
    """The dialect of the chosen method's graph."""
    methods: tuple[str, ...]
    """All methods, sorted; a program without methods has one, `forward`."""
    method: str
    """The chosen method."""
    inputs: tuple[Any, ...] | None
    """Example inputs of the chosen method, by position; None where there are none."""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    """Example inputs by name, mostly none."""

    @property
    def graph_module(self) -> Any:
        """The torch.fx.GraphModule of the chosen method."""
        return graph_module_of(self.program, self.method)


def kind_of(program: Any) -> Kind | None:
    """Which kind of program an object is; None if it is none."""
    import torch
    from executorch.exir import EdgeProgramManager

    if isinstance(program, EdgeProgramManager):
        return "EdgeProgramManager"
    if isinstance(program, torch.export.ExportedProgram):
        return "ExportedProgram"
    return "GraphModule" if isinstance(program, torch.fx.GraphModule) else None


def exported_of(program: Any, method: str) -> Any | None:
    """The ExportedProgram of a method; None for a GraphModule, which has none."""
    kind = kind_of(program)
    if kind == "EdgeProgramManager":
        return program.exported_program(method)
    return program if kind == "ExportedProgram" else None


def graph_module_of(program: Any, method: str) -> Any:
    """The torch.fx.GraphModule of a method."""
    exported = exported_of(program, method)
    return program if exported is None else exported.graph_module
