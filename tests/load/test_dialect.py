"""Which dialect a graph is in, and the warning for a pass that looks for the other."""

from __future__ import annotations

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.dialects._ops import ops as exir_ops

from qdqviz.load.dialect import dialect_of, graphs_of, warn_dialect


class Branches(torch.nn.Module):
    def forward(self, x, flag):
        return torch.cond(flag, lambda v: v.permute(1, 0) + 1.0, lambda v: v.permute(1, 0) * 2.0, (x,))


def branches():
    return torch.export.export(Branches(), (torch.ones(2, 2), torch.tensor(True)), strict=False)


def edge(program):
    return to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False)).exported_program()


def test_ops_decide_also_those_in_branches():
    aten = branches().graph_module
    assert dialect_of(aten) == "aten"
    lowered = edge(branches()).graph_module
    assert dialect_of(lowered) == "edge"
    assert len(graphs_of(lowered)) == 3
    outer = [node for node in lowered.graph.nodes if "EdgeOpOverload" in type(node.target).__name__]
    assert not outer  # the cond itself belongs to neither dialect


def test_symbolic_sizes_and_getitem_belong_to_both():
    class Sizes(torch.nn.Module):
        def forward(self, x):
            values, _ = torch.max(x, 1)
            return values.view(x.shape[0], 1) * 2

    batch = torch.export.Dim("batch", min=2, max=8)
    program = torch.export.export(Sizes(), (torch.ones(4, 3),), dynamic_shapes=({0: batch},), strict=False)
    lowered = edge(program)
    names = {str(node.target) for node in lowered.graph.nodes}
    assert any("sym_size" in name for name in names)
    assert dialect_of(lowered.graph_module) == "edge"


def test_a_half_lowered_graph_is_mixed_and_an_empty_one_aten():
    empty = torch.fx.Graph()
    empty.output(empty.placeholder("x"))
    assert dialect_of(torch.fx.GraphModule({}, empty)) == "aten"
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.ops.aten.relu.default, (x,))
    graph.output(graph.call_function(exir_ops.edge.aten.relu.default, (y,)))
    assert dialect_of(torch.fx.GraphModule({}, graph)) == "mixed"


def test_a_graph_of_delegate_calls_is_edge():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    exported = torch.export.export(torch.nn.Linear(4, 4), (torch.ones(2, 4),), strict=False)
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    module = lowered.exported_program().graph_module
    assert "executorch_call_delegate" in module.code
    assert dialect_of(module) == "edge"


@pytest.mark.parametrize(
    ("looks_for", "graph", "warned"),
    [
        ("edge", "aten", True),
        ("aten", "edge", True),
        ("edge", "edge", False),
        ("edge", "mixed", False),
        (None, "aten", False),
    ],
)
def test_a_pass_for_the_other_dialect_is_warned_of(looks_for, graph, warned):
    line = warn_dialect("FuseMMWithAdd", looks_for, graph)
    assert (line is not None) == warned
    if line:
        assert line.startswith(
            f"FuseMMWithAdd looks for {looks_for} ops and this graph is in the {graph} dialect"
        )
