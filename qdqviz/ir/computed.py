"""What nodes really make, where their metadata lags behind.

A pass that moves a quantize or dequantize seldom refreshes `meta['val']` of the nodes in between: that
comes with the retrace at its end. Until then the arguments tell more than the metadata: a quantize makes
the dtype that it names, a dequantize real values, both in the shape of their input (also where there is no
metadata at all), and data movement makes the dtype that it is given. Everything else makes what its
metadata says.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from qdqviz.ir.graph import Body
from qdqviz.ir.node import NodeState, Spec, TensorSpec
from qdqviz.ir.roles import QUANTIZATION, Role, role
from qdqviz.ir.text import is_real
from qdqviz.ir.values import Atom, Ref, refs

_FOLLOWED = QUANTIZATION | {Role.MOVEMENT}


class ComputedSpecs:
    """The specs of one body's nodes, each worked out when asked for."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._known: dict[int, Spec] = {}

    def spec(self, node: int) -> Spec:
        """What the node makes; None for a node that the body does not hold."""
        for item in reversed(self._upstream(node)):
            kind = role(item)
            source = data_source(item) if kind in _FOLLOWED else None
            self._known[item.id] = (
                item.spec if source is None else corrected(item, kind, self._known.get(source))
            )
        return self._known.get(node)

    def node(self, node: int) -> NodeState | None:
        """The node with what it makes as its spec; None where the body does not hold it."""
        state = self._body.get(node)
        if state is None:
            return None
        spec = self.spec(node)
        return state if spec is state.spec else replace(state, spec=spec)

    def _upstream(self, node: int) -> list[NodeState]:
        """The node and those whose specs decide about its own, downstream first."""
        found: dict[int, NodeState] = {}
        state = self._body.get(node)
        while state is not None and state.id not in self._known and state.id not in found:
            found[state.id] = state
            source = data_source(state) if role(state) in _FOLLOWED else None
            state = None if source is None else self._body.get(source)
        return list(found.values())


def computed_specs(nodes: Iterable[NodeState], roles: dict[int, Role]) -> dict[int, Spec]:
    """What every node makes, for nodes in execution order with known roles."""
    specs: dict[int, Spec] = {}
    for node in nodes:
        kind = roles[node.id]
        if kind in _FOLLOWED:
            source = data_source(node)
            specs[node.id] = node.spec if source is None else corrected(node, kind, specs.get(source))
        else:
            specs[node.id] = node.spec
    return specs


def data_source(node: NodeState) -> int | None:
    """The node whose values a q/dq or data-movement node takes: the first one that it uses."""
    if not node.args:
        return None
    first = node.args[0]
    return first.node if type(first) is Ref else next(refs(first), None)


def corrected(node: NodeState, kind: Role, source: Spec) -> Spec:
    """What a node of that role makes, given what its data input makes."""
    own = node.spec
    if type(source) is not TensorSpec:
        return own
    if own is None and kind is not Role.MOVEMENT:
        return _unrecorded(node, kind, source)
    if type(own) is not TensorSpec:
        return own
    if kind is Role.MOVEMENT:
        if own.dtype == source.dtype or _named_dtype(node) is not None:
            return own
        return replace(own, dtype=source.dtype)
    dtype = _quantization_dtype(node, kind, own.dtype)
    same = dtype == own.dtype and source.shape == own.shape
    return own if same else TensorSpec(dtype, source.shape)


def _unrecorded(node: NodeState, kind: Role, source: TensorSpec) -> Spec:
    """What a q/dq node makes that has no metadata yet: new nodes get it at the next retrace."""
    dtype = "float32" if kind is Role.DEQUANTIZE else _named_dtype(node)
    return None if dtype is None else TensorSpec(dtype, source.shape)


def _quantization_dtype(node: NodeState, kind: Role, recorded: str) -> str:
    """The dtype that a q/dq node makes, where the recorded one cannot be."""
    if kind is Role.DEQUANTIZE:
        return recorded if is_real(recorded) else "float32"
    if not is_real(recorded) or "fake_quant" in node.target:
        return recorded
    return _named_dtype(node) or recorded


def _named_dtype(node: NodeState) -> str | None:
    """The first dtype among the arguments."""
    for value in (*node.args, *(value for _, value in node.kwargs)):
        if type(value) is Atom and value.kind == "dtype":
            return value.text
    return None
