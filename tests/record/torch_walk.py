"""A walk of a torch graph that shares nothing with qdqviz's own snapshot code; one of a replayed state."""

import hashlib

import torch
from torch.fx import GraphModule, Node

from qdqviz.ir.values import Atom, DictArg, ListArg, Ref, SliceArg


def target_name(target):
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if type(target).__name__ == "EdgeOpOverload":
        return "edge." + str(target._op)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return "higher_order." + target.__name__
    if getattr(torch, target.__name__, None) is target:
        return f"torch.{target.__name__}"
    module = "operator" if target.__module__ == "_operator" else target.__module__
    return f"{module}.{target.__qualname__}"


def of_torch(value):
    if isinstance(value, Node):
        return ("node", value.name)
    if isinstance(value, list):
        return ["list", *map(of_torch, value)]
    if isinstance(value, tuple):
        return ("tuple", *map(of_torch, value))
    if isinstance(value, dict):
        return {key: of_torch(item) for key, item in value.items()}
    if isinstance(value, slice):
        return ("slice", *map(of_torch, (value.start, value.stop, value.step)))
    if value is None or type(value) in (bool, int, float, str):
        return (type(value).__name__, repr(value))
    return ("text", str(value).removeprefix("torch."))


def of_state(value, names):
    if type(value) is Ref:
        return ("node", names[value.node])
    if type(value) is ListArg:
        return ["list", *(of_state(item, names) for item in value.items)]
    if type(value) is tuple:
        return ("tuple", *(of_state(item, names) for item in value))
    if type(value) is DictArg:
        return {key: of_state(item, names) for key, item in value.items}
    if type(value) is SliceArg:
        return ("slice", *(of_state(item, names) for item in (value.start, value.stop, value.step)))
    if type(value) is Atom:
        return ("text", value.text)
    return (type(value).__name__, repr(value))


def tensor_hash(tensor):
    data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    head = f"{tensor.dtype}{tuple(tensor.shape)}".encode()
    return hashlib.blake2b(head + data, digest_size=12).hexdigest()


def attribute(module, target):
    for part in target.split("."):
        module = getattr(module, part)
    return module


def walk_torch(module: GraphModule):
    rows = []
    for node in module.graph.nodes:
        val = node.meta.get("val")
        spec = None
        if isinstance(val, torch.Tensor):
            spec = (str(val.dtype).removeprefix("torch."), tuple(str(size) for size in val.shape))
        fetched = attribute(module, node.target) if node.op == "get_attr" else None
        constant = tensor_hash(fetched) if isinstance(fetched, torch.Tensor) else None
        kwargs = [(key, of_torch(item)) for key, item in node.kwargs.items()]
        rows.append(
            (node.name, node.op, target_name(node.target), of_torch(node.args), kwargs, spec, constant)
        )
    return rows


def walk_state(body):
    names = {node.id: node.name for node in body}
    rows = []
    for node in body:
        spec = None
        if type(node.spec).__name__ == "TensorSpec":
            spec = (node.spec.dtype, tuple(str(getattr(dim, "expr", dim)) for dim in node.spec.shape))
        constant = node.constant.fingerprint if node.op == "get_attr" and node.constant else None
        kwargs = [(key, of_state(item, names)) for key, item in node.kwargs]
        rows.append((node.name, node.op, node.target, of_state(node.args, names), kwargs, spec, constant))
    return rows


def sub_graphs(module: GraphModule, path=""):
    """Path and module of every graph that get_attr nodes name, found by walking the torch modules."""
    yield path, module
    seen = set()
    for node in module.graph.nodes:
        inner = attribute(module, node.target) if node.op == "get_attr" else None
        if isinstance(inner, GraphModule) and id(inner) not in seen:
            seen.add(id(inner))
            yield from sub_graphs(inner, f"{path}.{node.target}" if path else node.target)
