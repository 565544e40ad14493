"""A copy's metadata names the copy's own nodes."""

import torch
from torch.fx import Graph, GraphModule
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, SharedQuantizationSpec

from qdqviz.load.copying import copy_program


def test_an_annotation_of_a_copied_graph_names_the_copys_nodes_and_the_originals_stays():
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.relu, (x,))
    z = graph.call_function(torch.add, (x, y))
    graph.output(z)
    shared = SharedQuantizationSpec((x, y))
    z.meta["quantization_annotation"] = QuantizationAnnotation(
        input_qspec_map={x: None, y: shared}, output_qspec=SharedQuantizationSpec(y)
    )
    copied = copy_program(GraphModule(torch.nn.Module(), graph))
    by_name = {node.name: node for node in copied.graph.nodes}
    annotation = by_name["add"].meta["quantization_annotation"]
    assert list(annotation.input_qspec_map) == [by_name["x"], by_name["relu"]]
    assert annotation.input_qspec_map[by_name["relu"]].edge_or_node == (by_name["x"], by_name["relu"])
    assert annotation.output_qspec.edge_or_node is by_name["relu"]
    assert list(z.meta["quantization_annotation"].input_qspec_map) == [x, y]
