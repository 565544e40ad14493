"""What may have gone wrong in a rewrite that changed values: a remedy, or an argument that got lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qdqviz.check.rules.channels import ChannelAxis
from qdqviz.check.rules.rule import Touched
from qdqviz.ir.change import same
from qdqviz.ir.node import NodeState, OpInfo
from qdqviz.ir.qparams import QParams, qparams
from qdqviz.ir.roles import Role, role
from qdqviz.ir.values import Atom, Value


def hints(touched: Touched) -> Iterator[str]:
    """What stands out in a rewrite, one clause each, the surest first."""
    for suspicion in ChannelAxis().suspect(touched):
        name = touched.after[suspicion.node].name
        yield f"{name}: {suspicion.found}; it should be {suspicion.wanted}"
    yield from _lost_options(touched)
    yield from _unlike_pair(touched)


def _lost_options(touched: Touched) -> Iterator[str]:
    """Options of erased ops that no new node has taken over."""
    new = [touched.after[node] for node in sorted(touched.region.inserted | touched.region.edited)]
    taken = [pair for node in new for pair in _options(node, touched.ops)]
    for node in sorted(touched.region.erased):
        state = touched.before[node]
        if role(state) is not Role.COMPUTE:
            continue
        for name, value in _options(state, touched.ops):
            if not any(name == other and same(value, held) for other, held in taken):
                yield f"{name}={_say(value)} of {state.name} is in none of the new nodes"


def _options(node: NodeState, ops: Mapping[str, OpInfo]) -> Iterator[tuple[str, Value]]:
    """Arguments that have a default and are given another value."""
    info = ops.get(node.target)
    for name, default in () if info is None else info.defaults:
        value = info.argument(node, name)  # type: ignore[union-attr]
        if not same(value, default) and isinstance(value, bool | int | float | str | Atom):
            yield name, value


def _unlike_pair(touched: Touched) -> Iterator[str]:
    """A dequantize and a quantize removed as if they cancelled out, though their integers differ."""
    gone = [touched.before[node] for node in sorted(touched.region.erased)]
    old = [known for node in gone if role(node) is Role.DEQUANTIZE and (known := qparams(node, touched.ops))]
    new = [known for node in gone if role(node) is Role.QUANTIZE and (known := qparams(node, touched.ops))]
    for one in old:
        for two in new:
            if (
                same(one.scale, two.scale)
                and same(one.zero_point, two.zero_point)
                and _range(one) != _range(two)
            ):
                yield f"the removed dequantize takes {_range(one)}, and the quantize gives {_range(two)}"


def _range(known: QParams) -> str:
    return f"{known.dtype} {known.quant_min}..{known.quant_max}"


def _say(value: Value) -> str:
    return value.text if isinstance(value, Atom) else str(value)
