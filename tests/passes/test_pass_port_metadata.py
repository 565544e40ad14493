"""PortNodeMetaForQDQ against torchao's own, on graphs from PT2E, and where the two part."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import pytest
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from pass_hand import DQ, INT8, Hand, Q, find
from pass_structure import copy_of
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation
from torchao.quantization.pt2e.quantizer.port_metadata_pass import PortNodeMetaForQDQ as Upstream

from qdqviz.load.pt2e import seeded
from qdqviz.passes.builtin.port_metadata import PortNodeMetaForQDQ

KEYS = ("stack_trace", "quantization_tag")
KEY = "quantization_annotation"


class Mixed(torch.nn.Module):
    """conv -> avgpool -> linear, a square linear with a residual, and a cat."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.pool = torch.nn.AdaptiveAvgPool2d(2)
        self.linear = torch.nn.Linear(16, 16)
        self.last = torch.nn.Linear(32, 4)

    def forward(self, x):
        y = self.pool(torch.relu(self.conv(x))).flatten(1)
        z = self.linear(y) + y
        return self.last(torch.cat([z, y], 1))


class Two(torch.nn.Module):
    """Two linears behind a tanh."""

    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(8, 6)
        self.b = torch.nn.Linear(6, 5)

    def forward(self, x):
        return self.b(torch.tanh(self.a(torch.tanh(x))))


def unported(model: type[torch.nn.Module], shape: tuple[int, ...], **config: Any) -> GraphModule:
    """A converted graph as it is before metadata is ported, every op of the model tagged with its name."""
    inputs = (torch.randn(*shape, generator=torch.Generator().manual_seed(2)),)
    with seeded(2):
        module = model().eval()
    traced = torch.export.export(module, inputs, strict=False).module(check_guards=False)
    for node in traced.graph.nodes:
        node.meta["quantization_tag"] = f"tag of {node.name}"
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**config))
    prepared = prepare_pt2e(traced, quantizer)
    prepared(*inputs)
    with mock.patch.object(Upstream, "call", lambda _self, given: PassResult(given, False)):
        return convert_pt2e(prepared, fold_quantize=False)


def copied(module: GraphModule) -> GraphModule:
    """A copy whose annotations name the nodes of the copy."""
    result = copy_of(module)
    nodes = {node.name: node for node in result.graph.nodes}
    for node in result.graph.nodes:
        annotation = node.meta.get(KEY)
        if annotation is not None:
            specs = {nodes.get(key.name, key): spec for key, spec in annotation.input_qspec_map.items()}
            node.meta[KEY] = replace(annotation, input_qspec_map=specs)
    return result


def ported(module: GraphModule) -> list[tuple[str, Any]]:
    return [(node.name, *(node.meta.get(key) for key in KEYS)) for node in module.graph.nodes]


GRAPHS = {
    "static per tensor": (Mixed, (2, 3, 6, 6), {"is_per_channel": False}),
    "static per channel": (Mixed, (2, 3, 6, 6), {"is_per_channel": True}),
    "dynamic": (Two, (4, 8), {"is_per_channel": True, "is_dynamic": True}),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_from_pt2e_gets_what_upstream_gives_it(name):
    model, shape, config = GRAPHS[name]
    module = unported(model, shape, **config)
    ours, theirs = copied(module), copied(module)
    bare = ported(module)
    assert PortNodeMetaForQDQ()(ours).modified
    Upstream()(theirs)
    assert ported(ours) != bare
    differing = {left[0] for left, right in zip(ported(ours), ported(theirs), strict=True) if left != right}
    # The documented difference: upstream does not look for dequantizes inside a list of inputs.
    assert differing == {node.name for join in joins(module) for node in join.all_input_nodes}
    assert not PortNodeMetaForQDQ()(ours).modified


def joins(module: GraphModule) -> list[Node]:
    return [node for node in module.graph.nodes if node.target is torch.ops.aten.cat.default]


@pytest.mark.parametrize("name", GRAPHS)
def test_a_copied_graph_whose_annotations_name_the_originals_nodes_gets_the_same(name):
    model, shape, config = GRAPHS[name]
    module = unported(model, shape, **config)
    with_own, with_foreign = copied(module), copy_of(module)
    for each in (with_own, with_foreign):
        assert PortNodeMetaForQDQ()(each).modified
    assert ported(with_own) == ported(with_foreign)


def test_nothing_but_the_two_keys_is_ported():
    module = unported(*GRAPHS["dynamic"][:2], **GRAPHS["dynamic"][2])
    before = {node.name: dict(node.meta) for node in module.graph.nodes}
    PortNodeMetaForQDQ()(module)
    for node in module.graph.nodes:
        changed = {key for key in node.meta if before[node.name].get(key) is not node.meta[key]}
        assert changed <= set(KEYS)


@dataclass
class OlderAnnotation:
    """What torch.ao's annotation looked like; PyTorch 2.13 has none of it any more."""

    input_qspec_map: dict[Node, Any] = field(default_factory=dict)
    output_qspec: Any = None
    _annotated: bool = True


@dataclass
class Spec:
    """As much of a quantization spec as matters here."""

    is_dynamic: bool = False


def pair(hand: Hand, value: Any) -> Any:
    return hand.op(DQ, hand.op(Q, value, *INT8), *INT8)


def annotate(
    module: GraphModule, op: str, producer: Node | None, make: Any = QuantizationAnnotation, **more: Any
) -> None:
    node = find(module, op)
    node.meta.update(stack_trace=f"line of {op}", quantization_tag=op)
    inputs = {} if producer is None else {producer: Spec()}
    node.meta[KEY] = make(input_qspec_map=inputs, _annotated=True, **more)


def tags(module: GraphModule, op: str) -> list[Any]:
    return [
        n.meta.get("quantization_tag") for n in module.graph.nodes if op in n.name and n.op == "call_function"
    ]


@pytest.mark.parametrize("make", [QuantizationAnnotation, OlderAnnotation])
def test_annotations_are_told_by_their_fields_whoever_made_them(make):
    hand = Hand("aten")
    x = hand.input(4)
    module = hand.done(pair(hand, hand.op("aten.relu.default", pair(hand, x))))
    annotate(module, "relu", module.graph.find_nodes(op="placeholder")[0], make, output_qspec=Spec())
    assert PortNodeMetaForQDQ()(module).modified
    # The dequantize in front and the quantize behind belong to the relu; the outer two belong to no op.
    assert tags(module, "dequantize") == ["relu", None]
    assert [n.meta.get("quantization_tag") for n in module.graph.nodes if n.name.startswith("quantize")] == [
        None,
        "relu",
    ]


def test_inputs_in_lists_and_by_name_are_found_where_upstream_misses_them():
    hand = Hand("aten")
    x = hand.op("aten.tanh.default", hand.input(3, 4))
    joined = hand.op("aten.cat.default", [pair(hand, x), pair(hand, x)], 1)
    soft = hand.op("aten.softmax.int", self=pair(hand, x), dim=1)
    module = hand.done(joined, soft)
    for op in ("cat", "softmax"):
        annotate(module, op, find(module, "tanh"))
    theirs = copied(module)
    Upstream()(theirs)
    assert tags(theirs, "dequantize") == [None, None, None]
    PortNodeMetaForQDQ()(module)
    assert tags(module, "dequantize") == ["cat", "cat", "softmax"]


def test_an_op_that_reads_one_value_through_two_dequantizes_owns_both():
    hand = Hand("aten")
    x = hand.op("aten.tanh.default", hand.input(3, 4))
    module = hand.done(hand.op("aten.mul.Tensor", pair(hand, x), pair(hand, x)))
    annotate(module, "mul", find(module, "tanh"))
    theirs = copied(module)
    Upstream()(theirs)
    assert tags(theirs, "dequantize") == ["mul", None]
    PortNodeMetaForQDQ()(module)
    assert tags(module, "dequantize") == ["mul", "mul"]


def test_a_dequantize_that_two_ops_read_belongs_to_neither():
    hand = Hand("aten")
    x = hand.op("aten.tanh.default", hand.input(3, 4))
    d = pair(hand, x)
    module = hand.done(hand.op("aten.relu.default", d), hand.op("aten.sigmoid.default", d))
    for op in ("relu", "sigmoid"):
        annotate(module, op, find(module, "tanh"))
    theirs = copied(module)
    Upstream()(theirs)
    assert tags(theirs, "dequantize") == ["sigmoid"]  # whichever comes last
    assert not PortNodeMetaForQDQ()(module).modified


def test_an_output_quantize_is_found_beside_other_readers_and_a_size_query_is_no_error():
    hand = Hand("aten")
    x = hand.op("aten.tanh.default", hand.input(3, 4, dynamic=(0,)))
    q = hand.op(Q, x, *INT8)
    module = hand.done(q, hand.op("aten.sym_size.int", x, 0))
    annotate(module, "tanh", None, output_qspec=Spec())
    assert PortNodeMetaForQDQ()(module).modified
    assert find(module, "quantize").meta["quantization_tag"] == "tanh"
    only_size = Hand("aten")
    y = only_size.op("aten.tanh.default", only_size.input(3, 4, dynamic=(0,)))
    module = only_size.done(only_size.op("aten.sym_numel.default", y))
    annotate(module, "tanh", None, output_qspec=Spec())
    with pytest.raises(IndexError):
        Upstream()(copied(module))
    assert not PortNodeMetaForQDQ()(module).modified


def test_a_dynamic_input_that_two_ops_share_keeps_what_is_shared_bare_where_upstream_raises():
    module = unported(*GRAPHS["dynamic"][:2], **GRAPHS["dynamic"][2])
    dequantize = find(module, "dequantize_per_tensor")
    with module.graph.inserting_after(dequantize):
        second = module.graph.node_copy(dequantize)
    with module.graph.inserting_after(second):
        reader = module.graph.call_function(torch.ops.aten.relu.default, (second,))
    output = module.graph.output_node()
    output.args = ((*output.args[0], reader),)
    with pytest.raises(Exception, match="single user"):
        Upstream()(copied(module))
    PortNodeMetaForQDQ()(module)
    assert "linear" in find(module, "dequantize_per_tensor").meta["quantization_tag"]
    assert "quantization_tag" not in find(module, "quantize_per_tensor").meta
