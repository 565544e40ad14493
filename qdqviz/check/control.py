"""Control flow on real values, and what a sub-graph is run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

Run = Callable[[str, Sequence[Any]], Any]
"""Runs the graph at a path on inputs and returns its outputs."""


@dataclass
class SubGraph:
    """The value of a get_attr node that names a sub-graph."""

    path: str
    """The graph."""
    run: Run | None = field(default=None, compare=False)
    """How to run it; set where values are run, see `bound`."""

    def __call__(self, *operands: Any) -> Any:
        """The outputs for these operands."""
        assert self.run is not None
        return self.run(self.path, operands)


def is_graph(value: Any) -> bool:
    """Whether a value is a sub-graph, which is not compared but run."""
    return isinstance(value, SubGraph)


def bound(value: Any, run: Run) -> Any:
    """The value, with a sub-graph able to run."""
    return SubGraph(value.path, run) if isinstance(value, SubGraph) else value


def _cond(predicate: Any, if_true: SubGraph, if_false: SubGraph, operands: Sequence[Any] = ()) -> Any:
    return (if_true if bool(predicate) else if_false)(*operands)


def _while_loop(
    condition: SubGraph, body: SubGraph, carried: Sequence[Any], additional: Sequence[Any] = ()
) -> Any:
    state = tuple(carried)
    while bool(pytree.tree_leaves(condition(*state, *additional))[0]):
        state = tuple(body(*state, *additional))
    return state


def _map(body: SubGraph, over: Sequence[Any], additional: Sequence[Any] = ()) -> Any:
    rows = [body(*items, *additional) for items in zip(*over, strict=True)]
    return tuple(torch.stack(list(column)) for column in zip(*rows, strict=True))


CONTROL: Mapping[str, Callable[..., Any]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "map": _map,
    "map_impl": _map,
}
"""Control-flow ops by plain name. Their own eager implementations trace their branches first."""


def operands(op: str, args: Sequence[Any], path: str) -> Sequence[Any] | None:
    """What a sub-graph is run on by the op that it is an argument of; None where that is not known.

    Both branches of a cond get the same operands, so that the branch not taken can be looked at as well; the
    graphs of a loop get those of its first round.

    Args:
        op: Plain name of the op.
        args: Its arguments as values, sub-graphs as `SubGraph`.
        path: The sub-graph.
    """
    match op:
        case "cond":
            return list(args[3]) if len(args) > 3 else []
        case "while_loop":
            return [*args[2], *(args[3] if len(args) > 3 else ())]
        case "map" | "map_impl":
            return [*(each[0] for each in args[1]), *(args[2] if len(args) > 2 else ())]
    return None
