"""A copy of a program to run passes on, so that the user's own stays as it is."""

from __future__ import annotations

import collections
import copy
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from qdqviz.load.dialect import graph_modules_of
from qdqviz.load.quiet import quiet
from qdqviz.load.remap import remapped

CONTAINERS = (dict, list, set, collections.OrderedDict)
"""Kinds of values in a node's metadata that a pass may edit in place; they are copied one level deep."""


def copy_program(program: Any) -> Any:
    """Copy an ExportedProgram, EdgeProgramManager or GraphModule.

    Graphs, signatures and constants are copied; tensors that share storage share it in the copy too, also
    across methods. Node names, the names that the graph will give next, and metadata dictionaries that nodes
    share stay the same, so passes do on the copy exactly what they would do on the original. Delegates and
    fake tensors are shared: no pass edits them.
    """
    with quiet():  # torch warns of its own containers when they are copied
        return _copy(program, {})


def _copy(program: Any, memo: dict[int, Any]) -> Any:
    if isinstance(program, torch.fx.GraphModule):
        return _copy_graph_module(program, memo)
    if hasattr(program, "_edge_programs"):
        return _copy_manager(program, memo)
    return _copy_exported(program, memo)


def _copy_manager(manager: Any, memo: dict[int, Any]) -> Any:
    result = copy.copy(manager)
    result._edge_programs = {
        name: _copy_exported(each, memo) for name, each in manager._edge_programs.items()
    }
    result._config_methods = copy.deepcopy(manager._config_methods)
    result._named_data_store = copy.copy(manager._named_data_store)
    return result


def _copy_exported(program: Any, memo: dict[int, Any]) -> Any:
    # ExportedProgram's constructor verifies, and removes getitems that occur twice: a copy must not
    result = copy.copy(program)
    _keep_as_they_are([*program.state_dict.values(), *program.constants.values()], memo)
    result._state_dict = _copy_mapping(program.state_dict, memo)
    result._constants = _copy_mapping(program.constants, memo)
    result._graph_module = _copy_graph_module(program.graph_module, memo)
    result._graph_signature = copy.deepcopy(program.graph_signature)
    result._range_constraints = dict(program.range_constraints)
    result._module_call_graph = copy.deepcopy(program.module_call_graph)
    return result


def _copy_mapping(values: Any, memo: dict[int, Any]) -> Any:
    """A mapping of the same kind (a state dict is ordered and carries `_metadata`) with copied values."""
    result = copy.copy(values)
    for name, value in values.items():
        result[name] = copy.deepcopy(value, memo)
    return result


def _copy_graph_module(module: Any, memo: dict[int, Any]) -> Any:
    for each in module.modules():
        if type(each).__name__ == "LoweredBackendModule":
            memo[id(each)] = each
        _keep_as_they_are(
            [*each.__dict__.values(), *each._parameters.values(), *each._buffers.values()], memo
        )
    result = copy.deepcopy(module, memo)
    for old, new in zip(graph_modules_of(module), graph_modules_of(result), strict=True):
        _copy_what_deepcopy_drops(old.graph, new.graph)
        new.recompile()
    return result


def _keep_as_they_are(values: list[Any], memo: dict[int, Any]) -> None:
    """Enter into `memo` what deepcopy refuses or should not copy."""
    for value in values:
        if isinstance(value, FakeTensor | torch.ScriptObject):
            memo[id(value)] = value
        elif isinstance(value, torch.Tensor) and not value.is_leaf:
            memo[id(value)] = value.detach().clone()


def _copy_what_deepcopy_drops(old: Any, new: Any) -> None:
    """Give the nodes of a copied graph the names and the sharing of metadata that the original has."""
    metas: dict[int, dict[str, Any]] = {}
    names = new._graph_namespace
    names._obj_to_name = {}
    copies = dict(zip(old.nodes, new.nodes, strict=True))
    for before, after in zip(old.nodes, new.nodes, strict=True):
        if after.name != before.name:
            after.name = before.name
        names._obj_to_name[after] = before.name
        if id(before.meta) not in metas:
            metas[id(before.meta)] = {
                key: remapped(copy.copy(value) if type(value) in CONTAINERS else value, copies)
                for key, value in before.meta.items()
            }
        after.meta = metas[id(before.meta)]
    names._used_names = set(old._graph_namespace._used_names)
    names._base_count = copy.copy(old._graph_namespace._base_count)
