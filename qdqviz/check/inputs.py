"""What graphs are run on: the program's example inputs, a user's, or random ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from qdqviz.check.world import inputs_of
from qdqviz.errors import UsageError
from qdqviz.ir.graph import Body
from qdqviz.ir.node import ScalarSpec, Spec, SymDim, TensorSpec
from qdqviz.load.loaded import Loaded
from qdqviz.load.messages import describe_error
from qdqviz.load.source import call, find_object, import_file


@dataclass(frozen=True)
class InputSet:
    """One call's inputs."""

    name: str
    """Where they come from."""
    args: tuple[Any, ...]
    """By position."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """By name."""


def input_sets(
    loaded: Loaded, body: Body, given: str | None = None, sets: int = 1, seed: int = 0
) -> tuple[InputSet, ...]:
    """The inputs to check on.

    Args:
        loaded: The program, which may have example inputs.
        body: Its outermost graph in the first state; without any inputs, its placeholders say what to draw.
        given: The user's inputs: `file.pt` or `file.py:callable`; None takes the program's.
        sets: How many sets; those beyond the given ones are drawn to be like the first.
        seed: Seed of what is drawn.

    Raises:
        UsageError: The user's inputs cannot be read.
    """
    found: list[InputSet] = []
    if given is not None:
        found = read_inputs(given)
    elif loaded.inputs is not None:
        found = [InputSet("the program's example inputs", loaded.inputs, loaded.keywords)]
    generator = torch.Generator().manual_seed(seed)
    if not found:
        values = tuple(_from_spec(node.spec, generator) for node in inputs_of(body))
        found = [InputSet(f"random inputs, seed {seed}", values)]
    first = found[0]
    for number in range(len(found), sets):
        name = f"random inputs like the first, seed {seed}, no. {number + 1}"
        found.append(InputSet(name, *_like((first.args, dict(first.kwargs)), generator)))
    return tuple(found)


def read_inputs(given: str) -> list[InputSet]:
    """The input sets in a file, or from a callable in a Python file.

    A tuple is one set, a dict one by name, a tensor one of a single input, a list of tuples or dicts several.

    Raises:
        UsageError: There is no such file or callable, or it holds something else.
    """
    value = _read(given)
    several = (
        value
        if isinstance(value, list) and all(isinstance(each, tuple | dict) for each in value)
        else [value]
    )
    if not several:
        raise UsageError(f"the inputs {given} are an empty list: a tuple of tensors is needed")
    numbered = [f"{given}, set {index + 1}" if len(several) > 1 else given for index in range(len(several))]
    return [_as_set(name, each) for name, each in zip(numbered, several, strict=True)]


def _read(given: str) -> Any:
    path, colon, attribute = given.rpartition(":")
    if colon and path.endswith(".py"):
        file = Path(path)
        if not file.is_file():
            raise UsageError(f"no file {path} with inputs")
        return call(find_object(import_file(file), attribute, path), given)
    if not Path(given).is_file():
        raise UsageError(f"no file {given} with inputs: give a .pt file or file.py:callable")
    try:
        return torch.load(given, weights_only=True)
    except Exception as error:
        raise UsageError(f"cannot read inputs from {given}: {describe_error(error)}") from error


def _as_set(name: str, value: Any) -> InputSet:
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return InputSet(name, (), value)
    if isinstance(value, tuple | list):
        return InputSet(name, tuple(value))
    if isinstance(value, torch.Tensor):
        return InputSet(name, (value,))
    raise UsageError(f"the inputs {name} are a {type(value).__name__}: a tuple of tensors is needed")


# -- drawing ---------------------------------------------------------------------------------------


def _from_spec(spec: Spec, generator: torch.Generator) -> Any:
    """A value of a spec; an unknown size is 2, an integer that may be an index is 0 or 1."""
    if isinstance(spec, ScalarSpec):
        return 2 if spec.type == "SymInt" else 1.0
    if not isinstance(spec, TensorSpec):
        raise UsageError("this graph says nothing about its inputs: give some with --inputs")
    shape = [(size.hint or 2) if isinstance(size, SymDim) else size for size in spec.shape]
    dtype = getattr(torch, spec.dtype)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator).to(dtype)
    if dtype is torch.bool or dtype.itemsize > 2:
        return torch.randint(0, 2, shape, generator=generator).to(dtype)
    limits = torch.iinfo(dtype)
    return torch.randint(limits.min, limits.max + 1, shape, generator=generator).to(dtype)


def _like(values: Any, generator: torch.Generator) -> Any:
    """Values of the same kinds, in the same ranges."""
    return pytree.tree_map(lambda leaf: _tensor_like(leaf, generator), values)


def _tensor_like(leaf: Any, generator: torch.Generator) -> Any:
    if not isinstance(leaf, torch.Tensor) or leaf.numel() == 0:
        return leaf
    if leaf.dtype is torch.bool:
        return torch.randint(0, 2, leaf.shape, generator=generator).to(leaf.dtype)
    if leaf.dtype.is_floating_point:
        values = leaf.double()
        spread = float(values.std()) if leaf.numel() > 1 else float(values.abs().max())
        drawn = torch.randn(leaf.shape, generator=generator, dtype=torch.float64)
        return (drawn * (spread or 1.0) + float(values.mean())).to(leaf.dtype)
    if leaf.dtype.is_complex:
        return torch.randn(leaf.shape, generator=generator, dtype=leaf.dtype)
    low, high = int(leaf.min()), int(leaf.max())
    return torch.randint(low, high + 1, leaf.shape, generator=generator).to(leaf.dtype)
