"""From what a user's callable returned to a program, its method and its example inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from qdqviz.errors import TargetError, UsageError
from qdqviz.load.dialect import dialect_of
from qdqviz.load.loaded import Loaded, exported_of, graph_module_of, kind_of
from qdqviz.load.messages import describe_error
from qdqviz.load.source import call

ACCEPTED = "an ExportedProgram, an EdgeProgramManager, a GraphModule, or (module, inputs)"
"""What a target may return, for messages."""


def describe(
    name: str, program: Any, method: str | None, inputs: Any = None, fallback: Callable[[], Any] | None = None
) -> Loaded:
    """Say what a program is.

    Args:
        name: what the target is called.
        program: one of the three kinds.
        method: the method to choose, None for the only one or `forward`.
        inputs: example inputs that came with the program, None if none did.
        fallback: gives example inputs where neither `inputs` nor the program has any.

    Raises:
        UsageError: the method is not there, or one has to be chosen.
        TargetError: the inputs are no tuple.
    """
    kind = kind_of(program)
    assert kind is not None, type(program)
    methods = tuple(sorted(program.methods)) if kind == "EdgeProgramManager" else ("forward",)
    chosen = choose_method(name, methods, method)
    positional, keywords = _example_inputs(name, program, chosen, inputs, fallback)
    dialect = dialect_of(graph_module_of(program, chosen))
    return Loaded(name, program, kind, dialect, methods, chosen, positional, keywords)


def choose_method(name: str, methods: tuple[str, ...], method: str | None) -> str:
    """The method called `method`; without one the only method, or `forward`.

    Raises:
        UsageError: there is none of that name, or there are several and none is `forward`.
    """
    if method is None:
        method = methods[0] if len(methods) == 1 else "forward"
        if method in methods:
            return method
        raise UsageError(f"{name} has several methods: choose one with --method ({', '.join(methods)})")
    if method not in methods:
        raise UsageError(f"{name} has no method {method!r}: it has {', '.join(methods)}")
    return method


def as_program(returned: Any, where: str) -> tuple[Any, Any]:
    """The program that a callable returned, and the example inputs that came with it (None if none).

    A plain nn.Module is exported for its inputs.

    Raises:
        TargetError: it is nothing that passes can run on, or exporting it raised.
    """
    inputs = None
    if isinstance(returned, tuple) and len(returned) == 2:
        returned, inputs = returned
    if kind_of(returned) is not None:
        return returned, inputs
    if not isinstance(returned, torch.nn.Module):
        raise TargetError(f"{where} gave {_kind_name(returned)}: {ACCEPTED} is needed")
    if inputs is None:
        own = getattr(returned, "example_inputs", None)
        inputs = call(own, f"{where}: example_inputs()") if callable(own) else own
    if inputs is None:
        raise TargetError(f"{where} gave a module without example inputs: return (module, inputs)")
    return _export(returned, as_tuple(inputs, where), where), inputs


def as_tuple(inputs: Any, where: str) -> tuple[Any, ...]:
    """Example inputs as a tuple.

    Raises:
        TargetError: they are no tuple or list.
    """
    if not isinstance(inputs, tuple | list):
        raise TargetError(f"the example inputs of {where} are {_kind_name(inputs)}: a tuple is needed")
    return tuple(inputs)


def _export(module: Any, inputs: tuple[Any, ...], where: str) -> Any:
    try:
        return torch.export.export(module, inputs, strict=False)
    except Exception as error:
        raise TargetError(
            f"{where}: torch.export of {type(module).__name__} raised {describe_error(error)}"
        ) from error


def _example_inputs(
    name: str, program: Any, method: str, inputs: Any, fallback: Callable[[], Any] | None
) -> tuple[tuple[Any, ...] | None, Mapping[str, Any]]:
    if inputs is None:
        own = getattr(exported_of(program, method), "example_inputs", None)
        if own is not None:
            return tuple(own[0]), dict(own[1] or {})
        inputs = fallback() if fallback is not None else None
    if isinstance(inputs, dict):
        inputs = inputs.get(method)
    return (None if inputs is None else as_tuple(inputs, name)), {}


def _kind_name(value: Any) -> str:
    if type(value).__name__ == "ExecutorchProgramManager":
        return "a program already lowered by to_executorch()"
    return "None" if value is None else f"a {type(value).__name__}"
