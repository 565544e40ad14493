"""What a program's signature says of its placeholders."""

from __future__ import annotations

from typing import Any

import torch

from qdqviz.ir.node import Constant
from qdqviz.record.constants import ConstantPool

_KINDS = {"PARAMETER": "parameter", "BUFFER": "buffer", "CONSTANT_TENSOR": "tensor", "CUSTOM_OBJ": "object"}


def lifted_constants(program: Any, pool: ConstantPool) -> dict[str, Constant]:
    """The constant behind each placeholder of an ExportedProgram, by placeholder name.

    Args:
        program: An ExportedProgram, or None where the program is not known.
        pool: Takes the tensors.
    """
    if program is None:
        return {}
    found: dict[str, Constant] = {}
    for spec in program.graph_signature.input_specs:
        name, kind = getattr(spec.arg, "name", None), _KINDS.get(spec.kind.name)
        if name is None:
            continue
        if kind is None:
            found[name] = Constant("user_input", name, None)
            continue
        tensor = program.state_dict.get(spec.target)
        if tensor is None:
            tensor = program.constants.get(spec.target)
        if isinstance(tensor, torch.Tensor):
            found[name] = pool.tensor(kind, str(spec.target), tensor)
        else:
            found[name] = Constant(kind, str(spec.target), None)
    return found
