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
    give a copy. Signatures are brought in line with renamed inputs and outputs by position, also after a pass
    that edits and denies it.

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


def sync_signature(program: Any) -> None:
    """Make an ExportedProgram's signature name its graph's inputs and outputs, matched by position.

    A signature that lists another number of inputs or outputs than the graph has is left as it is: nothing
    tells which of them belong together.
    """
    from executorch.exir._program_utils import _get_updated_graph_signature

    inputs = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    outputs = [getattr(node, "name", None) for node in program.graph.output_node().args[0]]
    named_inputs = [spec.arg.name for spec in program.graph_signature.input_specs]
    named_outputs = [spec.arg.name for spec in program.graph_signature.output_specs]
    if (len(inputs), len(outputs)) != (len(named_inputs), len(named_outputs)):
        return
    if inputs != named_inputs or any(
        name is not None and name != named for name, named in zip(outputs, named_outputs, strict=True)
    ):
        program._graph_signature = _get_updated_graph_signature(program.graph_signature, program.graph_module)


def _on_manager(manager: Any, passes: Sequence[Any], method: str | None) -> Any:
    if method is None or manager.methods == {method}:
        result = manager.transform(list(passes))
    else:
        result = _transform_method(manager, passes, method)
    for each in result._edge_programs.values():
        sync_signature(each)
    return result


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

    result = _transform(program, *passes)
    sync_signature(result)
    return result


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
