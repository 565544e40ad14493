from handmade import Graph, hoisted, slices_graph
from msgspec.structs import replace

from qdqviz.ir.computed import ComputedSpecs, computed_specs
from qdqviz.ir.node import TensorSpec
from qdqviz.ir.roles import role


def specs_both_ways(body):
    """What every node makes, by the two ways to ask; they must agree."""
    nodes = body.in_order()
    everything = computed_specs(nodes, {node.id: role(node) for node in nodes})
    one_by_one = ComputedSpecs(body)
    assert {node.id: one_by_one.spec(node.id) for node in reversed(nodes)} == everything
    return everything


def test_correct_metadata_stays_as_it_is():
    graph = slices_graph()
    after = hoisted(graph, graph.body())
    for body in (graph.body(), after):
        assert specs_both_ways(body) == {node.id: node.spec for node in body}


def test_stale_metadata_behind_a_moved_quantize_is_seen_through():
    graph = slices_graph()
    fresh = hoisted(graph, graph.body())
    stale = fresh
    for node in fresh:
        if isinstance(node.spec, TensorSpec):
            stale = stale.with_node(replace(node, spec=replace(node.spec, dtype="float32")))
    assert specs_both_ways(stale) == {node.id: node.spec for node in fresh}


def test_a_new_quantize_or_dequantize_without_metadata_makes_what_its_arguments_say():
    graph = Graph()
    x = graph.input("x", 2, 3)
    q = graph.quantize(x, 0.1, 0, name="q")
    d = graph.dequantize(q, 0.1, 0, name="d")
    body = graph.body()
    for node in (q, d):
        body = body.with_node(replace(body[node], spec=None))
    specs = specs_both_ways(body)
    assert specs[q] == TensorSpec("int8", (2, 3))
    assert specs[d] == TensorSpec("float32", (2, 3))


def test_what_computes_is_believed():
    graph = Graph()
    x = graph.input("x", 2, 3)
    q = graph.quantize(x, 0.1, 0, name="q")
    relu = graph.call("aten.relu.default", graph.ref(q), name="relu", shape=(2, 3), dtype="float32")
    view = graph.view(relu, 6, name="view")
    body = graph.body()
    assert specs_both_ways(body)[view] == TensorSpec("float32", (6,))


def test_a_chain_of_a_thousand_moves_needs_no_recursion():
    graph = Graph()
    node = graph.quantize(graph.input("x", 2, 3), 0.1, 0, name="q")
    for index in range(1200):
        node = graph.permute(node, 1, 0, name=f"p{index}")
    graph.nodes[5] = replace(graph.nodes[5], spec=TensorSpec("float32", (3, 2)))
    body = graph.body()
    assert specs_both_ways(body)[node].dtype == "int8"


def test_a_use_of_a_node_that_is_not_there_changes_nothing():
    graph = Graph()
    x = graph.input("x", 2, 3)
    view = graph.view(x, 6, name="view")
    body = graph.body().without_node(x)
    assert specs_both_ways(body) == {view: TensorSpec("float32", (6,))}
    assert ComputedSpecs(body).spec(x) is None
    assert ComputedSpecs(body).node(x) is None
