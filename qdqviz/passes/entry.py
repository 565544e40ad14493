"""What the catalogue knows of one pass, and what comes out when a name is resolved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["builtin", "upstream", "pipeline"]
Wants = Literal["graph_module", "exported_program"]
Dialect = Literal["edge", "aten"]


@dataclass(frozen=True)
class PassEntry:
    """One name that can be given to `-p`; found by reading source, never by importing it."""

    name: str
    """What to type: a class name, or the name of a pipeline."""

    kind: Kind
    """Ours, the installed executorch's, or a list of passes under one name."""

    path: str
    """`package.module:Class`; of a pipeline, where its list stands."""

    family: str
    """Who it was written for: `qdqviz`, `cadence`, `xnnpack`, `transforms`, `exir` and so on."""

    summary: str
    """First line of its docstring, or nothing."""

    importable: bool | None
    """Whether its module can be imported here; None where reading its imports gives no answer."""

    missing: str | None
    """The first module that its import would not find, if there is one."""

    @property
    def qualified(self) -> str:
        """The name that stays unambiguous: `family:Name`."""
        return f"{self.family}:{self.name}"


@dataclass(frozen=True)
class ResolvedPass:
    """A pass that was asked for by name: imported, not yet built."""

    name: str
    """Its class name or function name, for people."""

    path: str
    """`package.module:Class` or `file.py:Class`: resolving it again gives the same pass."""

    wants: Wants
    """What it must be called with."""

    dialect: Dialect | None
    """The op namespace that its source asks for, if clear: an edge pass finds nothing in an aten graph."""

    needs_program: bool
    """Its constructor has no use without the ExportedProgram: a bare GraphModule is not enough."""

    build: Callable[[Any], Any]
    """Makes an instance, given the ExportedProgram or None; call `make` instead."""

    def make(self, exported_program: Any = None) -> Any:
        """Returns a fresh pass object, ready to be called with what `wants` says.

        Args:
            exported_program: The program that the pass will run on; only constructors that ask for it get it.

        Raises:
            PassError: The constructor needs what cannot be given, or raised.
        """
        return self.build(exported_program)
