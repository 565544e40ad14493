"""A program as lines of text that do not depend on node names: equal lines mean equal programs."""

from __future__ import annotations

import hashlib
import operator
from typing import Any

import torch


def fingerprint(program: Any) -> list[str]:
    """One line for each input, op and output of an ExportedProgram, those of its branches included.

    Nodes are numbered by position; get_attr and getitem stand inside the lines that use them, since a
    serializer writes them there; arguments are bound to the op's schema with its defaults filled in;
    symbolic sizes are all alike; constants are compared by a hash of their bytes.
    """
    constants = {**program.state_dict, **program.constants}
    inputs = [_input_line(spec, constants) for spec in program.graph_signature.input_specs]
    outputs = [f"output {spec.kind.name} {spec.target}" for spec in program.graph_signature.output_specs]
    return inputs + _lines(program.graph_module) + outputs


def first_difference(wanted: list[str], found: list[str]) -> str | None:
    """The first line that differs, as a sentence; None if all are equal."""
    for position, (one, other) in enumerate(zip(wanted, found, strict=False)):
        if one != other:
            return f"line {position + 1} of the graph is {_short(other)} instead of {_short(one)}"
    if len(wanted) != len(found):
        return f"the graph has {len(found)} lines instead of {len(wanted)}"
    return None


def _input_line(spec: Any, constants: dict[str, Any]) -> str:
    value = constants.get(spec.target) if spec.target else None
    content = f" {_tensor(value)}" if isinstance(value, torch.Tensor) else ""
    return f"input {spec.kind.name} {spec.target}{content}"


def _lines(module: Any) -> list[str]:
    numbers: dict[Any, int] = {}
    lines = []
    for node in module.graph.nodes:
        if node.op == "get_attr" or node.target is operator.getitem:
            continue
        numbers[node] = len(numbers)
        arguments = ", ".join(
            f"{name}={_value(value, numbers, module)}" for name, value in _bound_arguments(node)
        )
        lines.append(f"%{numbers[node]} = {node.op} {_target(node)}({arguments})")
    return lines


def _target(node: Any) -> str:
    return "" if node.op in ("placeholder", "output") else str(getattr(node.target, "__name__", node.target))


def _bound_arguments(node: Any) -> list[tuple[str, Any]]:
    if node.op == "placeholder":
        return []
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return [*((str(index), value) for index, value in enumerate(node.args)), *sorted(node.kwargs.items())]
    names = [argument.name for argument in schema.arguments]
    given = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    return [
        (argument.name, given.get(argument.name, argument.default_value)) for argument in schema.arguments
    ]


def _value(value: Any, numbers: dict[Any, int], module: Any) -> str:
    if isinstance(value, torch.fx.Node):
        return _node(value, numbers, module)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item, numbers, module) for item in value) + "]"
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return "symbol"
    # a schema's default for a memory format, layout or dtype is its number
    return repr(value)


def _node(node: Any, numbers: dict[Any, int], module: Any) -> str:
    if node.target is operator.getitem:
        return f"{_value(node.args[0], numbers, module)}[{node.args[1]}]"
    if node.op != "get_attr":
        return f"%{numbers[node]}" if node in numbers else "%?"
    held = module
    for part in node.target.split("."):
        held = getattr(held, part)
    if isinstance(held, torch.Tensor):
        return _tensor(held)
    if isinstance(held, torch.fx.GraphModule):
        return f"graph {_digest(chr(10).join(_lines(held)).encode())}"
    backend = getattr(held, "backend_id", type(held).__name__)
    return f"delegate {backend} {_digest(getattr(held, 'processed_bytes', b''))}"


def _tensor(value: Any) -> str:
    dense = value.detach().cpu().contiguous()
    content = (
        dense.view(torch.uint8).numpy().tobytes() if dense.numel() and dense.dim() else repr(dense).encode()
    )
    return f"{value.dtype} {list(value.shape)} {_digest(content)}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _short(line: str) -> str:
    return line if len(line) <= 90 else line[:89] + "…"
