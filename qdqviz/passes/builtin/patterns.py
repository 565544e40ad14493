"""The nodes that PT2E quantization put around an op: which of them belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch.fx import Node

from qdqviz.passes.builtin.ops import op_name, tensor_input
from qdqviz.passes.builtin.quantization import DEQUANTIZE, QUANTIZE

ALL_QUANTIZE = QUANTIZE | {"torchao.quantize_affine.default"}
ALL_DEQUANTIZE = DEQUANTIZE | {"torchao.dequantize_affine.default"}
CHOOSE_QPARAMS = frozenset(
    {
        "quantized_decomposed.choose_qparams.tensor",
        "quantized_decomposed.choose_qparams_symmetric.tensor",
        "torchao.choose_qparams_affine.default",
    }
)
"""Ops that compute a scale and a zero point from values."""

ON_THE_WAY_FROM_A_CONSTANT = frozenset(
    {
        "aten._mkldnn_transpose.default",
        "aten.flatten.using_ints",
        "aten.permute.default",
        "aten.permute_copy.default",
        "aten.slice_copy.Tensor",
        "aten.squeeze.dim",
        "aten.squeeze_copy.dim",
        "aten.transpose.Dimname",
        "aten.transpose.int",
        "aten.transpose_.default",
        "aten.view.default",
        "aten.view_copy.default",
    }
)
"""Ops that a weight may pass between its constant and its quantize."""


@dataclass(frozen=True)
class Ported:
    """One node that is to know where it belongs."""

    node: Node
    """The quantize, dequantize or choose_qparams."""

    source: Node
    """The node whose metadata it gets."""


def is_annotated(annotation: Any) -> bool:
    """Tells whether an annotation asks for anything; it is told by its fields, whichever library made it."""
    specs = getattr(annotation, "input_qspec_map", None)
    return bool(specs) or getattr(annotation, "output_qspec", None) is not None


def nodes_in_front_of(node: Node, producer: Node, spec: Any) -> list[Ported]:
    """Returns the nodes between a producer and an op that belong to the op, or to its constant.

    All inputs of the op are searched, also those in lists and those passed by name. A dequantize that
    another op reads as well belongs to neither.
    """
    found = []
    for dequantize in node.all_input_nodes:
        if op_name(dequantize) in ALL_DEQUANTIZE and list(dequantize.users) == [node]:
            quantize = tensor_input(dequantize)
            if quantize is None or op_name(quantize) not in ALL_QUANTIZE:
                continue
            if not _is_same(_origin(quantize), producer):
                continue
            if getattr(spec, "is_dynamic", None) is True:
                found += _of_dynamic_input(node, dequantize, quantize)
            else:
                found += [*_of_constant(quantize), Ported(dequantize, node)]
    return found


def nodes_behind(node: Node) -> list[Ported]:
    """Returns the quantize behind an op, if there is exactly one; other readers do not matter."""
    quantizes = [user for user in node.users if op_name(user) in ALL_QUANTIZE]
    return [Ported(quantizes[0], node)] if len(quantizes) == 1 else []


def _origin(node: Node) -> Node | None:
    """Returns what the quantize and dequantize ops above and including a node work on."""
    current: Node | None = node
    while current is not None and op_name(current) in ALL_QUANTIZE | ALL_DEQUANTIZE:
        current = tensor_input(current)
    return current


def _is_same(origin: Node | None, producer: Node) -> bool:
    """In a copied graph the annotations still name the original's nodes; those are told by their names."""
    if origin is None or producer.graph is origin.graph:
        return origin is producer
    return origin.name == producer.name


def _of_dynamic_input(node: Node, dequantize: Node, quantize: Node) -> list[Ported]:
    """The three ops that quantize an input dynamically, as far as nothing else reads them."""
    chooser = _chooser(quantize)
    if chooser is None:
        return []
    found = [Ported(dequantize, node)]
    if list(quantize.users) == [dequantize]:
        found.append(Ported(quantize, node))
        if _readers(chooser) <= {quantize, dequantize}:
            found.append(Ported(chooser, node))
    return found[::-1]


def _chooser(quantize: Node) -> Node | None:
    """Returns the node that computes a quantize's scale and zero point."""
    for needed in quantize.all_input_nodes:
        origin = needed.all_input_nodes[0] if op_name(needed) == "getitem" else needed
        if op_name(origin) in CHOOSE_QPARAMS:
            return origin
    return None


def _readers(chooser: Node) -> set[Node]:
    """Returns who reads the numbers that a chooser computes, through the getitems that take them apart."""
    return {
        reader for item in chooser.users for reader in (item.users if op_name(item) == "getitem" else [item])
    }


def _of_constant(quantize: Node) -> list[Ported]:
    """A weight's quantize and what stands between it and the constant; nothing if it works on no constant."""
    chain = [quantize]
    current = tensor_input(quantize)
    while current is not None and op_name(current) in ON_THE_WAY_FROM_A_CONSTANT:
        chain.append(current)
        current = tensor_input(current)
    constant = current
    return (
        [Ported(link, constant) for link in chain]
        if constant is not None and constant.op == "get_attr"
        else []
    )
