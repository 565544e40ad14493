"""What a graph state comes to in numbers."""

from __future__ import annotations

from collections import Counter

from qdqviz.ir.computed import computed_specs
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.live_choice import roles_of
from qdqviz.ir.liveness import liveness
from qdqviz.ir.roles import Role, op_name
from qdqviz.ir.text import spec_bytes
from qdqviz.trace.compare.model import Figures


def figures(state: GraphState) -> Figures:
    """Counts over all graphs of a state, and what is alive in the outermost one."""
    ops: Counter[str] = Counter()
    roles: Counter[Role] = Counter()
    moved = nodes = 0
    for path in state.paths():
        body = state.body(path)
        nodes += len(body)
        kinds = roles_of(body.in_order())
        roles.update(kinds.values())
        ops.update(_op(node.target) for node in body if node.op.startswith("call_"))
        moved += _moved_bytes(body, kinds)
    alive = liveness(state.root, "all")
    return Figures(
        nodes=nodes,
        ops=tuple(sorted(ops.items())),
        quantize=roles[Role.QUANTIZE],
        dequantize=roles[Role.DEQUANTIZE],
        requantize=roles[Role.REQUANTIZE],
        moved_bytes=moved,
        peak_bytes=alive.peak_bytes,
        byte_steps=alive.byte_steps,
    )


def _op(target: str) -> str:
    name = op_name(target)
    return f"{name.namespace}.{name.base}" if name.namespace else name.base


def _moved_bytes(body: Body, roles: dict[int, Role]) -> int:
    specs = computed_specs(body.in_order(), roles)
    return sum(spec_bytes(specs[node.id]) or 0 for node in body if roles[node.id] is Role.MOVEMENT)
