"""Builds a pass: its constructor gets the ExportedProgram if it asks for it, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qdqviz.errors import PassError, QdqvizError
from qdqviz.passes.entry import Wants
from qdqviz.passes.importing import one_line

PROGRAM_NAMES = frozenset({"exported_program", "edge_program", "export_program", "ep", "program"})
"""Names under which upstream's constructors and functions ask for the ExportedProgram."""


@dataclass(frozen=True)
class Constructor:
    """How a class or factory wants to be called."""

    make: Callable[..., Any]
    """The class or function."""

    label: str
    """Its name in messages."""

    program_parameter: str | None
    """The parameter that takes the ExportedProgram."""

    program_is_optional: bool
    """That parameter has a default."""

    other_required: tuple[str, ...]
    """Required parameters that nothing here can give."""

    def __call__(self, exported_program: Any) -> Any:
        """Returns an instance.

        Raises:
            PassError: Arguments are missing, or the constructor raised.
        """
        if self.other_required:
            raise PassError(
                f"{self.label} cannot be built: its constructor wants {', '.join(self.other_required)}; "
                "write a function that makes it and name that (file.py:function)"
            )
        arguments = {}
        if self.program_parameter is not None:
            if exported_program is None and not self.program_is_optional:
                raise PassError(f"{self.label} needs an ExportedProgram, and this is a bare GraphModule")
            if exported_program is not None:
                arguments[self.program_parameter] = exported_program
        made = self._call(arguments)
        if exported_program is not None and getattr(made, "_exported_program", made) is None:
            # Vulkan's and others' passes are given their program this way by their own lowering.
            made._exported_program = exported_program
        return made

    def _call(self, arguments: dict[str, Any]) -> Any:
        try:
            return self.make(**arguments)
        except QdqvizError:
            raise
        except Exception as error:
            raise PassError(f"{self.label} cannot be built: {one_line(error)}") from error


def constructor_of(make: Callable[..., Any], label: str) -> Constructor:
    """Reads the signature of a pass class or of a function that makes a pass."""
    program = None
    optional = True
    others = []
    for parameter in _parameters(make):
        if program is None and takes_program(parameter):
            program, optional = parameter.name, parameter.default is not parameter.empty
        elif parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
            others.append(parameter.name)
    return Constructor(make, label, program, optional, tuple(others))


def wants_of(call: Callable[..., Any], bound: bool = True) -> Wants:
    """Tells what a pass expects as its argument, given the function that it is or its class's `call`.

    Args:
        call: The function.
        bound: It has no `self` in front.
    """
    parameters = _parameters(call)
    first = next(iter(parameters if bound else parameters[1:]), None)
    return "exported_program" if first is not None and takes_program(first) else "graph_module"


def required_count(function: Callable[..., Any]) -> int:
    """Returns how many arguments a callable cannot do without."""
    return sum(p.default is p.empty and p.kind not in _VARIADIC for p in _parameters(function))


def takes_program(parameter: inspect.Parameter) -> bool:
    """Tells whether a parameter is meant for an ExportedProgram, by its annotation or else its name."""
    if parameter.annotation is not parameter.empty:
        annotation = parameter.annotation
        text = (
            annotation
            if isinstance(annotation, str)
            else getattr(annotation, "__name__", "") + str(annotation)
        )
        if "ExportedProgram" in text:
            return True
        if "GraphModule" in text:
            return False
    return parameter.name in PROGRAM_NAMES


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
