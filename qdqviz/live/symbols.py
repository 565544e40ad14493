"""Symbolic sizes by the text that a trace has for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from qdqviz.errors import NotCheckableError
from qdqviz.live.store import Store


class Symbols:
    """The symbolic sizes that a session remembers. Nothing is parsed and no size is compared."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Any] | None = None

    def symbol(self, text: str) -> Any:
        """The SymInt (or SymFloat, SymBool) whose expression has this text.

        Raises:
            NotCheckableError: The session remembers none.
        """
        if self._known is None:
            self._known = {str(found.node.expr): found for found in self._held()}
        if text not in self._known:
            raise NotCheckableError(f"the symbolic size {text} is not held by this session")
        return self._known[text]

    def number(self, text: str, bound: Mapping[Any, int]) -> Any:
        """The number that an expression comes to.

        Args:
            text: The expression's text.
            bound: Number of each sympy symbol.

        Raises:
            NotCheckableError: The expression is not known, or a symbol of it is not bound.
        """
        found = self.symbol(text)
        result = found.node.expr.subs(dict(bound))
        if result.free_symbols:
            raise NotCheckableError(f"the symbolic size {text} has no number for these inputs")
        return bool(result) if isinstance(found, torch.SymBool) else type_of(found)(result)

    def _held(self) -> Iterator[Any]:
        for node in self._store.nodes.values():
            for leaf in pytree.tree_leaves((node.meta.get("val"), node.args, node.kwargs)):
                yield from symbolic_parts(leaf)


def symbolic_parts(value: Any) -> Iterator[Any]:
    """The symbolic sizes that a value is or has."""
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        yield value
    elif isinstance(value, torch.Tensor):
        yield from (size for size in value.shape if isinstance(size, torch.SymInt))


def type_of(value: Any) -> type:
    """The Python type of a symbolic value."""
    return float if isinstance(value, torch.SymFloat) else int


def bind(known: Any, given: Any, bound: dict[Any, int]) -> None:
    """Learn from an input which numbers the symbols of its traced value stand for.

    Args:
        known: The value that tracing saw: a fake tensor, a symbolic or plain number.
        given: The input.
        bound: Takes the number of each sympy symbol.
    """
    if isinstance(known, torch.Tensor) and isinstance(given, torch.Tensor):
        for size, number in zip(known.shape, given.shape, strict=False):
            _bind_size(size, int(number), bound)
    elif isinstance(given, int):
        _bind_size(known, given, bound)


def _bind_size(size: Any, number: int, bound: dict[Any, int]) -> None:
    if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
        bound[size.node.expr] = number
