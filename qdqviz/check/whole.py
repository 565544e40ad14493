"""Compares runs of whole graphs: their outputs, and what they write to."""

from __future__ import annotations

from typing import Any

from qdqviz.check.difference import Grid, difference
from qdqviz.check.findings import of_difference, of_missing
from qdqviz.check.grids import grid_of
from qdqviz.check.operations import Operations
from qdqviz.check.outputs import OutputNames
from qdqviz.check.report import Judgement, worst
from qdqviz.check.running import Ran
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.ir.values import Ref
from qdqviz.trace.reader import Trace


class RunComparer:
    """Compares runs of the states of one subject."""

    def __init__(self, trace: Trace, names: OutputNames, operations: Operations) -> None:
        self._ops = trace.ops
        self._names = names
        self._operations = operations

    def compare(
        self, was: Ran, was_state: GraphState, now: Ran, now_state: GraphState, step: int
    ) -> Judgement:
        """What became of the outputs, and of inputs and constants that the graph writes to.

        Args:
            was: The run before.
            was_state: The state that it ran.
            now: The run after.
            now_state: The state that it ran.
            step: The step of that state.
        """
        if now.missing is not None or was.missing is not None:
            if now.missing is None and was.missing is not None and was.missing.fails:
                return Judgement("equal", detail=f"it failed before, in {was.missing.node}, and runs now")
            return of_missing(was.missing, now.missing, "the outputs")
        found = [self._outputs(was, was_state, now, now_state, step)]
        for node, value in was.sources.items():
            if node in now.sources:
                what = f"what is left in {now_state.root[node].name}"
                found.append(of_difference(difference(value, now.sources[node]), what))
        return worst(found)

    def _outputs(
        self, was: Ran, was_state: GraphState, now: Ran, now_state: GraphState, step: int
    ) -> Judgement:
        old, new = _as_list(was.outputs), _as_list(now.outputs)
        if len(old) != len(new):
            detail = f"{len(new)} outputs instead of {len(old)}"
            return Judgement("differs", "shape_dtype", where="the outputs", detail=detail)
        name = self._names.of(ROOT, now_state, step)
        before, after = self._grids(was_state, len(old)), self._grids(now_state, len(new))
        return worst(
            of_difference(difference(one, two, before[at], after[at]), name(at))
            for at, (one, two) in enumerate(zip(old, new, strict=True))
        )

    def _grids(self, state: GraphState, count: int) -> list[Grid | None]:
        output = next((node for node in reversed(state.root.in_order()) if node.op == "output"), None)
        items = [] if output is None else _as_list(output.args[0] if output.args else ())
        if len(items) != count:
            return [None] * count

        def constant(node: int) -> Any:
            held = state.root.get(node)
            return None if held is None else self._operations.run(held, lambda _: None)

        return [
            grid_of(state.root, item.node, self._ops, constant) if isinstance(item, Ref) else None
            for item in items
        ]


def _as_list(value: Any) -> list[Any]:
    if hasattr(value, "items") and isinstance(value.items, tuple):
        return list(value.items)
    return list(value) if isinstance(value, list | tuple) else [value]
