"""Shapes whose sizes may be symbolic: they are compared without ever fixing a symbol to a number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from qdqviz.passes.builtin.values import value_of

Size: TypeAlias = Any
"""An int or a SymInt."""


def shape_of(node: Node) -> tuple[Size, ...] | None:
    """Returns the shape of a node's tensor; None if it is unknown or no single tensor."""
    value = value_of(node)
    return tuple(value.shape) if isinstance(value, torch.Tensor) else None


def is_static(size: Size) -> bool:
    """Tells whether a size is a plain number."""
    return isinstance(size, int)


def same_size(first: Size, second: Size) -> bool:
    """Tells whether two sizes are certainly equal."""
    return bool(statically_known_true(first == second))


def at_most(first: Size, second: Size) -> bool:
    """Tells whether one size is certainly not larger than another."""
    return bool(statically_known_true(first <= second))


def product(sizes: Iterable[Size]) -> Size:
    """Returns the product of sizes; 1 if there are none."""
    result: Size = 1
    for size in sizes:
        result = result * size
    return result


def same_shape(first: Iterable[Size], second: Iterable[Size]) -> bool:
    """Tells whether two shapes are certainly equal."""
    left, right = tuple(first), tuple(second)
    return len(left) == len(right) and all(map(same_size, left, right))


def normal_dimension(dimension: int, rank: int) -> int:
    """Returns a dimension counted from the front, given one that may be counted from the back."""
    return dimension + rank if dimension < 0 else dimension
