"""From a program at any step to ExportedPrograms that a serializer or ExecuTorch accepts, on a copy."""

from __future__ import annotations

from typing import Any

import torch

from qdqviz.errors import ExportFailedError
from qdqviz.load.copying import copy_program
from qdqviz.load.dialect import dialect_of, graph_modules_of
from qdqviz.load.loaded import exported_of, kind_of
from qdqviz.load.messages import describe_error
from qdqviz.load.signature import sync_signature


def exported_copies(program: Any, method: str | None, inputs: tuple[Any, ...] | None) -> dict[str, Any]:
    """Copies of a program's methods as ExportedPrograms, ready to be written.

    Tensors that passes have left as attributes of the graph become buffers, and the signature names the
    graph's own inputs and outputs.

    Args:
        program: an EdgeProgramManager, ExportedProgram or GraphModule.
        method: the only method wanted; None for all.
        inputs: example inputs, by which a GraphModule is exported.

    Raises:
        ExportFailedError: a GraphModule has no inputs or cannot be exported, or there is no such method.
    """
    if kind_of(program) == "GraphModule":
        return {"forward": _export(program, inputs)}
    methods = sorted(getattr(program, "methods", ("forward",)))
    if method is not None and method not in methods:
        raise ExportFailedError(f"the program has no method {method!r}: it has {', '.join(methods)}")
    copied = copy_program(program)
    result = {name: exported_of(copied, name) for name in methods if method in (None, name)}
    for each in result.values():
        _settle(each)
    return result


def to_edge_manager(programs: dict[str, Any]) -> Any:
    """An EdgeProgramManager of programs in either dialect; aten programs are lowered first.

    Raises:
        ExportFailedError: the dialects are mixed, or lowering raised.
    """
    from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge

    config = EdgeCompileConfig(_check_ir_validity=False)
    dialects = {dialect_of(each.graph_module) for each in programs.values()}
    if len(dialects) > 1 or "mixed" in dialects:
        raise ExportFailedError(
            "the graph mixes aten and edge ops: a .pte needs all of them in the edge dialect"
        )
    try:
        if dialects == {"aten"}:
            return to_edge(programs, compile_config=config)
        return EdgeProgramManager(programs, compile_config=config)
    except Exception as error:
        raise ExportFailedError(f"the program cannot be lowered to edge: {describe_error(error)}") from error


def keep_initial_state(program: Any) -> None:
    """Have what mutated buffers hold at first written to a `.pte`, in place.

    ExecuTorch otherwise writes only their shape and dtype, and the state begins as whatever the memory holds.
    """
    signature = program.graph_signature
    mutated = set(signature.buffers_to_mutate.values())
    for node in program.graph.find_nodes(op="placeholder"):
        if signature.inputs_to_buffers.get(node.name) in mutated:
            node.meta["et_init_buffer"] = True


def _export(module: Any, inputs: tuple[Any, ...] | None) -> Any:
    if inputs is None:
        raise ExportFailedError("a GraphModule is exported for example inputs, and there are none (--inputs)")
    copied = copy_program(module)
    copied.recompile()
    try:
        return torch.export.export(copied, inputs, strict=False)
    except Exception as error:
        raise ExportFailedError(f"torch.export of the module raised {describe_error(error)}") from error


def _settle(program: Any) -> None:
    from executorch.exir.program._program import lift_constant_tensor_pass

    for module in graph_modules_of(program.graph_module):
        module.recompile()
    hoist_branch_constants(program.graph_module)
    lift_constant_tensor_pass(program)
    sync_signature(program)


def hoist_branch_constants(module: Any) -> None:
    """Make the tensors that branches of `torch.cond` hold operands of the cond, in place.

    Lowering turns a number in a branch into such a tensor, and the serializers refuse tensors in branches.
    """
    graph = module.graph
    for node in graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond):
        branches = [getattr(module, branch.target) for branch in node.args[1:3]]
        for branch in branches:
            hoist_branch_constants(branch)
        for branch in branches:
            for constant in _tensor_attributes(branch):
                _hoist(module, node, branches, branch, constant)
    module.recompile()


def _tensor_attributes(module: Any) -> list[Any]:
    nodes = module.graph.find_nodes(op="get_attr")
    return [node for node in nodes if isinstance(_attribute(module, node.target), torch.Tensor)]


def _hoist(module: Any, cond: Any, branches: list[Any], branch: Any, constant: Any) -> None:
    """Turn `constant`, a get_attr in `branch`, into one more operand of `cond`."""
    name = _free_name(module)
    setattr(module, name, _attribute(branch, constant.target))
    with module.graph.inserting_before(cond):
        operand = module.graph.get_attr(name)
    operand.meta.update(constant.meta)
    predicate, if_true, if_false, operands = cond.args
    cond.args = (predicate, if_true, if_false, type(operands)([*operands, operand]))
    for each in dict.fromkeys(branches):
        last = each.graph.find_nodes(op="placeholder")[-1:]
        first = next(iter(each.graph.nodes))
        with each.graph.inserting_after(last[0]) if last else each.graph.inserting_before(first):
            placeholder = each.graph.placeholder(name)
        placeholder.meta.update(constant.meta)
        if each is branch:
            constant.replace_all_uses_with(placeholder)
            each.graph.erase_node(constant)
        each.recompile()


def _attribute(module: Any, target: str) -> Any:
    for part in target.split("."):
        module = getattr(module, part)
    return module


def _free_name(module: Any) -> str:
    index = 0
    while hasattr(module, f"branch_constant_{index}"):
        index += 1
    return f"branch_constant_{index}"
