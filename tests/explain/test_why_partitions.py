"""A pass that works on partitions is answered from its own test on the partition that holds the node."""

from __future__ import annotations

import operator
import sys

import pytest
import torch
from why_private_pass import graph, private_module
from why_recording import EDGE, recorded, seen, texts

from qdqviz.explain.why import why
from qdqviz.passes.catalogue import Catalogue

LOOPS = {
    "plain": """
        for partitions in found.values():
            for partition in partitions:
                self.one(partition)
    """,
    "enumerated": """
        for partitions in found.values():
            for index, partition in enumerate(partitions):
                self.one(partition)
    """,
    "zipped": """
        for partitions in found.values():
            for partition, other in zip(partitions, partitions):
                self.one(partition)
    """,
    "chained": """
        for partition in itertools.chain.from_iterable(found.values()):
            self.one(partition)
    """,
}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 8)
        self.act = torch.nn.ReLU()

    def forward(self, x):
        return torch.sigmoid(self.act(self.linear(x)))


def source(loop: str, wanted: str = "[torch.nn.Linear]") -> str:
    return f"""
import itertools
from torch.fx.passes.utils.source_matcher_utils import get_source_partitions

class Private(PassBase):
    def one(self, partition):
        output = partition.output_nodes[0]
        if len(output.users) > 5:
            replace(output)

    def call(self, gm):
        found = get_source_partitions(gm.graph, {wanted})
{loop}
"""


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """ask(module, source, node) -> why the private pass of that source left the node alone."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def call(module, text, node):
        private = private_module(tmp_path, "private_partitions", text)
        return why(recorded(private.Private(), module), "Private", node)

    yield call
    for name in ("private_partitions", "private_predicates"):
        sys.modules.pop(name, None)


def exported(strict: bool) -> torch.fx.GraphModule:
    """With strict export nodes carry `source_fn_stack`, without it only `nn_module_stack`."""
    return torch.export.export(Model(), (torch.randn(2, 4),), strict=strict).module()


@pytest.mark.parametrize("strict", [True, False], ids=["source_fn_stack", "nn_module_stack"])
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_the_test_on_the_partition_is_the_guard(ask, loop, strict):
    found = ask(exported(strict), source(loop), "linear")
    assert found.verdict == "declined"
    assert texts(found)[-1] == "len(output.users) > 5"
    assert found.guard.function == "Private.one"
    assert seen(found)["len(output.users)"] == "1"


def test_a_later_scan_that_asks_more_is_no_reason(ask):
    loop = """
        for partition in found.get(torch.nn.Linear, []):
            self.one(partition)
        get_source_partitions(gm.graph, [torch.nn.ReLU, torch.nn.GELU, torch.nn.SiLU])
    """
    assert texts(ask(exported(False), source(loop), "linear"))[-1] == "len(output.users) > 5"


def test_all_nodes_of_a_partition_share_its_answer(ask):
    module = exported(True)
    for name in ("linear_weight", "linear_bias", "linear"):
        assert texts(ask(module, source(LOOPS["plain"]), name))[-1] == "len(output.users) > 5"


@pytest.mark.parametrize(
    ("strict", "guard", "values"),
    [
        (True, "source_fn[1] in wanted_sources", {"source_fn[1]": "ReLU", "wanted_sources": "[Linear]"}),
        (
            False,
            "innermost_cls == src_str",
            {
                "innermost_cls": "'torch.nn.modules.activation.ReLU'",
                "src_str": "'torch.nn.modules.linear.Linear'",
            },
        ),
    ],
    ids=["source_fn_stack", "nn_module_stack"],
)
def test_a_node_of_no_partition_is_told_which_source_it_has(ask, strict, guard, values):
    found = ask(exported(strict), source(LOOPS["plain"]), "relu")
    assert found.verdict == "declined"
    assert texts(found) == [guard]
    assert seen(found) == values


def test_the_kind_of_an_output_is_no_target_that_the_pass_looks_for(ask):
    found = ask(exported(False), source(LOOPS["plain"]), "output")
    assert texts(found)[-1] == 'node.op == "call_function"'
    assert found.wanted == ()


def test_an_upstream_pass_that_counts_what_a_partition_holds_says_so():
    # The catalogue imports it, so that the package does not reach for the network.
    upstream = "executorch.backends.qualcomm._passes.decompose_minmaxdim:DecomposeMinMaxDim"
    made = Catalogue().resolve(upstream)[0].make(None)
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    least = graph.call_function(EDGE.aten.min.dim, (x, 1))
    value = graph.call_function(operator.getitem, (least, 0))
    halved = graph.call_function(EDGE.aten.mul.Tensor, (value, value))
    other = graph.call_function(EDGE.aten.neg.default, (halved,))
    graph.output(other)
    for node in (least, value, halved):
        node.meta["source_fn_stack"] = [("min", torch.min)]
    other.meta["source_fn_stack"] = [("neg", torch.neg)]
    trace = recorded(made, torch.fx.GraphModule(torch.nn.Module(), graph))
    for name in (least.name, halved.name):
        held = why(trace, "DecomposeMinMaxDim", name)
        assert held.verdict == "declined"
        assert texts(held) == ["Counter([n.target for n in partition.nodes]) not in self.patterns"]
    outside = why(trace, "DecomposeMinMaxDim", other.name)
    assert texts(outside) == ["source_fn[1] in wanted_sources"]
    assert seen(outside)["source_fn[1]"] == "torch.neg"


SUPPORT = """
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupport, OperatorSupportBase, chain

class OneUser(OperatorSupportBase):
    def is_node_supported(self, submodules, node):
        return len(node.users) == 1

class Support(OperatorSupportBase):
    def is_node_supported(self, submodules, node):
        if node.op != "call_function":
            return False
        if node.target not in (NEG, RELU):
            return False
        return OneUser().is_node_supported(submodules, node)

class Private(PassBase):
    def call(self, gm):
        partitioner = CapabilityBasedPartitioner(gm, SUPPORT, allows_single_node_partition=True)
        for partition in partitioner.propose_partitions():
            if len(partition.nodes) < 3:
                continue
            replace(next(iter(partition.nodes)))
"""


@pytest.mark.parametrize("support", ["Support()", "chain(Support(), OneUser())"])
@pytest.mark.parametrize(
    ("node", "guard"),
    [
        ("x", 'node.op != "call_function"'),
        ("sigmoid_default", "node.target not in (NEG, RELU)"),
        ("relu_default", "len(node.users) == 1"),
        ("neg_default", "len(partition.nodes) < 3"),
    ],
)
def test_a_node_that_a_partitioner_may_not_take_is_told_what_the_pass_says_of_it(ask, support, node, guard):
    found = ask(graph(), SUPPORT.replace("SUPPORT", support), node)
    assert (found.verdict, texts(found)[-1]) == ("declined", guard)
