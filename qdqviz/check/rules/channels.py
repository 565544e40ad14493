"""Per-channel quantization whose axis does not name the channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qdqviz.check.rules.dims import dim_after, dim_before
from qdqviz.check.rules.rule import Rule, Suspicion, Touched
from qdqviz.ir.computed import ComputedSpecs, data_source
from qdqviz.ir.graph import Body
from qdqviz.ir.node import Dim, NodeState, OpInfo, TensorSpec
from qdqviz.ir.qparams import QParams, qparams
from qdqviz.ir.roles import Role, role
from qdqviz.ir.values import Ref


@dataclass(frozen=True, slots=True)
class _Chain:
    """Data movement between a value and where it is used."""

    root: int
    """The node that the value comes from."""
    moves: tuple[NodeState, ...]
    """The nodes that move it, the first first."""


class ChannelAxis(Rule):
    """The axis of a per-channel quantize or dequantize names another dimension than the channels'.

    Two ways to know: the node took the place of one with the same scales, and the dimension that that one
    named can be followed through the data movement between; or there are not as many scales as the axis has
    elements.
    """

    names = ("channel-axis",)

    def suspect(self, touched: Touched) -> Iterator[Suspicion]:
        """Look at new and edited per-channel nodes, and at those that get their data another way."""
        for node in sorted(touched.region.dirty):
            found = self.of_node(touched, touched.after[node])
            if found is not None:
                yield found

    def of_node(self, touched: Touched, node: NodeState) -> Suspicion | None:
        """The suspicion about one node, or None."""
        known = _per_channel(node, touched.ops)
        if known is None:
            return None
        axis = _normal(known, node, touched.after)
        wanted = self._followed(touched, node, known)
        if wanted is not None and wanted != axis:
            text = f"axis {wanted}, where the data movement has put the channels"
            return Suspicion(self.names[0], node.id, f"axis {axis}", text, (known.axis, wanted))
        return self._counted(touched.after, node, known, axis, touched.ops)

    def _counted(
        self, body: Body, node: NodeState, known: QParams, axis: int | None, ops: Mapping[str, OpInfo]
    ) -> Suspicion | None:
        shape, scales = _data_shape(body, node), _scales_shape(body, known)
        if shape is None or axis is None or scales is None or len(scales) != 1:
            return None
        size, count = shape[axis], scales[0]
        if not isinstance(size, int) or not isinstance(count, int) or size == count or count == 1:
            return None
        fitting = [str(dim) for dim, each in enumerate(shape) if each == count]
        found = f"axis {axis} has {size} elements, and there are {count} scales"
        wanted = f"axis {' or '.join(fitting)}" if fitting else f"a dimension of {count} elements"
        return Suspicion(self.names[0], node.id, found, wanted, (known.axis, None))

    def stands(self, suspicion: Suspicion, body: Body) -> bool:
        """Whether the node still names the axis that it named."""
        known = qparams(body[suspicion.node])
        return known is not None and known.axis == suspicion.about[0]

    def _followed(self, touched: Touched, node: NodeState, known: QParams) -> int | None:
        """The dimension that holds the channels, followed from the node that this one stands for."""
        chain = _chain(touched.after, node)
        for old in _with_scales(touched, known):
            was = _per_channel(old, touched.ops)
            if was is None or was.scale != known.scale or role(old) is not role(node):
                continue
            old_chain = _chain(touched.before, old)
            if chain is None or old_chain is None or old_chain.root != chain.root:
                continue
            axis = _normal(was, old, touched.before)
            at_root = None if axis is None else _upwards(touched.before, old_chain, axis, touched.ops)
            if at_root is not None:
                return _downwards(touched.after, chain, at_root, touched.ops)
        return None


def _with_scales(touched: Touched, known: QParams) -> list[NodeState]:
    """Nodes of the old graph that may have the same scales; also one that a later rewrite erases."""
    users = touched.before.users(known.scale.node) if isinstance(known.scale, Ref) else ()
    return [touched.before[node] for node in dict.fromkeys((*sorted(touched.region.old), *users))]


def _per_channel(node: NodeState, ops: Mapping[str, OpInfo]) -> QParams | None:
    if role(node) not in (Role.QUANTIZE, Role.DEQUANTIZE):
        return None
    known = qparams(node, ops)
    return known if known is not None and known.scheme == "per_channel" and known.axis is not None else None


def _normal(known: QParams, node: NodeState, body: Body) -> int | None:
    shape = _data_shape(body, node)
    if known.axis is None or (known.axis < 0 and shape is None):
        return None
    return known.axis if known.axis >= 0 or shape is None else known.axis + len(shape)


def _chain(body: Body, node: NodeState) -> _Chain | None:
    """The data movement above a node."""
    moves: list[NodeState] = []
    source = data_source(node)
    while source is not None:
        state = body.get(source)
        if state is None or len(moves) > 256:
            return None
        if role(state) is not Role.MOVEMENT:
            return _Chain(source, tuple(reversed(moves)))
        moves.append(state)
        source = data_source(state)
    return None


def _upwards(body: Body, chain: _Chain, dim: int, ops: Mapping[str, OpInfo]) -> int | None:
    found: int | None = dim
    for move, (before, after) in reversed(list(_shapes(body, chain))):
        if found is None or before is None or after is None:
            return None
        found = dim_before(move, before, after, found, ops)
    return found


def _downwards(body: Body, chain: _Chain, dim: int, ops: Mapping[str, OpInfo]) -> int | None:
    found: int | None = dim
    for move, (before, after) in _shapes(body, chain):
        if found is None or before is None or after is None:
            return None
        found = dim_after(move, before, after, found, ops)
    return found


_Sizes = tuple[Dim, ...] | None


def _shapes(body: Body, chain: _Chain) -> Iterator[tuple[NodeState, tuple[_Sizes, _Sizes]]]:
    source = chain.root
    for move in chain.moves:
        yield move, (_shape(body, source), _shape(body, move.id))
        source = move.id


def _shape(body: Body, node: int) -> _Sizes:
    spec = ComputedSpecs(body).spec(node)
    return spec.shape if isinstance(spec, TensorSpec) else None


def _data_shape(body: Body, node: NodeState) -> _Sizes:
    source = data_source(node)
    return None if source is None else _shape(body, source)


def _scales_shape(body: Body, known: QParams) -> _Sizes:
    if not isinstance(known.scale, Ref):
        return None
    node = body.get(known.scale.node)
    if node is not None and node.constant is not None and node.constant.spec is not None:
        return node.constant.spec.shape
    return _shape(body, known.scale.node)
