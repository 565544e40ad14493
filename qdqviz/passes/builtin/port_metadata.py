"""PortNodeMetaForQDQ: the nodes that quantization inserted say which layer they belong to.

What it does: PT2E quantization inserts quantize and dequantize nodes that know nothing of their origin. The
dequantize in front of an annotated op, and the quantize behind it, get the op's `stack_trace` and
`quantization_tag`:

    Q -> [DQ -> conv -> Q] -> [DQ -> avgpool -> Q] -> [DQ -> linear -> Q] -> DQ

The first Q and the last DQ belong to no op. Where avgpool is not annotated, nothing around it is ported:

    Q -> [DQ -> conv -> Q] -> DQ -> avgpool -> Q -> [DQ -> linear -> Q] -> DQ

Of a weight, the quantize and what stands between it and the constant belong to the constant. Of an input
that is quantized dynamically, choose_qparams, quantize and dequantize all belong to the op that reads it.

Why it pays: tools that work by layer (per-module recipes, delegates, debuggers) find the whole pattern.

When it must not fire: on a node that several ops read, which belongs to none of them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from qdqviz.passes.builtin.graph_pass import GraphPass
from qdqviz.passes.builtin.patterns import Ported, is_annotated, nodes_behind, nodes_in_front_of

ANNOTATION = "quantization_annotation"
"""The key under which torchao's PT2E, and torch.ao's before it, keep a node's annotation."""

KEYS = ("stack_trace", "quantization_tag")
"""What is ported; everything else stays as it is."""


class PortNodeMetaForQDQ(GraphPass):
    """Copies each annotated op's stack trace and quantization tag to the q/dq nodes that belong to it."""

    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Looks at every node; all that one annotation asks for is one rewrite."""
        modified = False
        for node in graph.nodes:
            annotation = node.meta.get(ANNOTATION)
            if is_not_annotated(annotation):
                continue
            found = nodes_of(node, annotation)
            if belongs_nothing(found):
                continue
            if knows_already(found):
                continue
            for each in found:
                port(each)
            modified = True
        return modified


def is_not_annotated(annotation: Any) -> bool:
    """The op was not annotated for quantization, so the q/dq nodes around it belong to others."""
    return not is_annotated(annotation)


def nodes_of(node: Node, annotation: Any) -> list[Ported]:
    """Returns the nodes that belong to an annotated op, by its inputs and its output."""
    found = []
    for producer, spec in annotation.input_qspec_map.items():
        if spec is not None:
            found += nodes_in_front_of(node, producer, spec)
    if annotation.output_qspec is not None:
        found += nodes_behind(node)
    return found


def belongs_nothing(found: list[Ported]) -> bool:
    """No q/dq node in front of it or behind it belongs to it alone."""
    return not found


def knows_already(found: list[Ported]) -> bool:
    """All its q/dq nodes have its metadata already."""
    return all(not _missing(each) for each in found)


def port(ported: Ported) -> None:
    """Copies what differs, into a dictionary of the node's own: a shared one would change other nodes too."""
    new = {key: ported.source.meta[key] for key in _missing(ported)}
    ported.node.meta = {**ported.node.meta, **new}


def _missing(ported: Ported) -> list[str]:
    source, node = ported.source.meta, ported.node.meta
    return [key for key in KEYS if key in source and node.get(key) != source[key]]
