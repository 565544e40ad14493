"""Runs passes on a program the way its own toolchain does."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

from qdqviz.errors import PassError


def apply_passes(program: Any, passes: Sequence[Any], *, method: str | None = None) -> Any:
    """Run `passes` in order and return the program that they make.

    An EdgeProgramManager is transformed by its own `transform`, an ExportedProgram by ExecuTorch's pass
    manager, a GraphModule by plain calls. As upstream does, passes may edit the graphs of `program` in place:
    give a copy. Signatures follow renamed inputs and outputs; a pass that renames them and denies it is
    refused by upstream's verifier.

    Args:
        program: EdgeProgramManager, ExportedProgram or GraphModule.
        passes: pass objects: instances, or functions of a GraphModule.
        method: the one method of an EdgeProgramManager to run on; None runs on all.

    Raises:
        PassError: on a GraphModule, a pass wants an ExportedProgram or returns no module.
        Exception: whatever the passes raise, as upstream wraps it.
    """
    if isinstance(program, torch.fx.GraphModule):
        return _on_graph_module(program, passes)
    if hasattr(program, "_edge_programs"):
        return _on_manager(program, passes, method)
    return _on_exported(program, passes)


def _on_manager(manager: Any, passes: Sequence[Any], method: str | None) -> Any:
    if method is None or manager.methods == {method}:
        return manager.transform(list(passes))
    return _transform_method(manager, passes, method)


def _transform_method(manager: Any, passes: Sequence[Any], method: str) -> Any:
    """What `transform({method: passes})` does, without its deep copy of every other method."""
    from executorch.exir import EdgeProgramManager
    from executorch.exir.program._program import _transform
    from executorch.exir.verification.verifier import EXIREdgeDialectVerifier

    changed = _transform(manager.exported_program(method), *passes)
    EXIREdgeDialectVerifier(edge_compile_config=manager.compile_config)(changed.graph_module)
    programs = {**manager._edge_programs, method: changed}
    result = EdgeProgramManager(programs, copy.deepcopy(manager._config_methods), manager.compile_config)
    result._etrecord = manager._etrecord
    return result


def _on_exported(program: Any, passes: Sequence[Any]) -> Any:
    from executorch.exir.program._program import _transform

    return _transform(program, *passes)


def _on_graph_module(module: Any, passes: Sequence[Any]) -> Any:
    for each in passes:
        if _wants_program(each):
            raise PassError(
                f"{_name(each)} runs on an ExportedProgram, and the target is a GraphModule: export it"
            )
        module = _returned(each, each(module), module)
    return module


def _returned(each: Any, result: Any, given: Any) -> Any:
    """The module that a pass made: upstream accepts a PassResult, a module, or None for an edit in place."""
    if isinstance(result, torch.fx.GraphModule):
        return result
    if result is None:
        return given
    if isinstance(getattr(result, "graph_module", None), torch.fx.GraphModule):
        return result.graph_module
    raise PassError(f"{_name(each)} returned {type(result).__name__} instead of a PassResult")


def _wants_program(each: Any) -> bool:
    from executorch.exir.pass_base import ExportedProgramPassBase

    return isinstance(each, ExportedProgramPassBase)


def _name(each: Any) -> str:
    return str(getattr(each, "__name__", type(each).__name__))
