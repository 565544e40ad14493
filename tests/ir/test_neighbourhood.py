from handmade import Graph, hoisted, slices_graph

from qdqviz.ir.change import Erase, Insert, Update
from qdqviz.ir.neighbourhood import differing, neighbourhood, touched
from qdqviz.ir.values import Ref


def relu_chain(length):
    """x -> relu -> ... -> relu -> output; relu number k has id k."""
    graph = Graph()
    node = graph.input("x", 4)
    for index in range(length):
        node = graph.call("aten.relu.default", Ref(node), name=f"relu_{index + 1}", shape=(4,))
    graph.output(node)
    return graph.body()


def view_chain(moves):
    """x -> relu -> view * moves -> sigmoid -> output."""
    graph = Graph()
    node = graph.call("aten.relu.default", Ref(graph.input("x", 4)), name="relu", shape=(4,))
    for index in range(moves):
        node = graph.view(node, 4, name=f"view_{index}")
    graph.output(graph.call("aten.sigmoid.default", Ref(node), name="sigmoid", shape=(4,)))
    return graph.body()


def test_the_radius_counts_uses_in_both_directions():
    body = relu_chain(10)
    assert neighbourhood([body], [5], radius=0).nodes == (5,)
    assert neighbourhood([body], [5], radius=2).nodes == (3, 4, 5, 6, 7)
    assert neighbourhood([body], [5], radius=99).nodes == tuple(range(12))


def test_what_is_not_shown_is_counted_at_the_edge():
    near = neighbourhood([relu_chain(10)], [5], radius=1)
    assert near.more_inputs == {4: 1}
    assert near.more_users == {6: 1}


def test_near_in_either_state_is_near():
    graph = slices_graph()
    before = graph.body()
    after = hoisted(graph, before)
    # The new quantize (100) is beside x in `after`, and beside the permute.
    assert set(neighbourhood([before, after], [100], radius=1).nodes) == {0, 100, 1}
    assert set(neighbourhood([before], [100, 1], radius=1).nodes) == {0, 1, 2, 3}


def test_nodes_come_in_execution_order_of_the_latest_state():
    graph = slices_graph()
    before = graph.body()
    near = neighbourhood([before, hoisted(graph, before)], [1], radius=1)
    assert near.nodes == (0, 100, 1, 2, 3)


def test_a_focus_that_is_nowhere_is_passed_over():
    assert neighbourhood([relu_chain(3)], [77]).nodes == ()
    assert neighbourhood([relu_chain(3)], []).nodes == ()


def test_a_long_chain_of_moves_folds_into_one_and_counts_as_one_step():
    near = neighbourhood([view_chain(5)], [1], radius=2)
    assert [(fold.kind, fold.id, fold.members) for fold in near.folds] == [("chain", 2, (2, 3, 4, 5, 6))]
    assert near.nodes == (0, 1, 7)


def test_a_short_chain_stays():
    assert neighbourhood([view_chain(2)], [1], radius=9).folds == ()


def test_a_chain_of_1200_moves_folds_without_recursion():
    near = neighbourhood([view_chain(1200)], [1], radius=2)
    assert len(near.folds[0].members) == 1200
    assert near.nodes == (0, 1, 1202)


def test_1200_nodes_in_a_row_need_no_recursion():
    near = neighbourhood([relu_chain(1200)], [600], radius=2000, limit=5000)
    assert len(near.nodes) == 1202
    assert not near.cut


def test_an_opened_fold_shows_its_members():
    body = view_chain(5)
    for opened in ({2}, {4}):
        near = neighbourhood([body], [1], radius=9, opened=opened)
        assert near.folds == ()
        assert near.nodes == tuple(range(9))


def test_nothing_folds_when_folding_is_off():
    assert neighbourhood([view_chain(5)], [1], radius=9, fold=False).nodes == tuple(range(9))


def test_the_focus_never_folds():
    near = neighbourhood([view_chain(9)], [6], radius=1)
    assert 6 in near.nodes
    assert [fold.members for fold in near.folds] == [(2, 3, 4, 5), (7, 8, 9, 10)]


def test_a_chain_that_the_rewrite_cuts_does_not_fold():
    before = view_chain(5)
    after = before
    sigmoid = before[7]
    # After: sigmoid reads view_2, so the tail of the chain lost its user.
    after = after.with_node(type(sigmoid)(**{**_fields(sigmoid), "args": (Ref(4),)}))
    near = neighbourhood([before, after], [7], radius=9)
    assert all(4 not in fold.members for fold in near.folds)


def _fields(node):
    return {name: getattr(node, name) for name in node.__struct_fields__}


def linear_with_constants():
    """x, weight, scale, zero_point; dequantize(weight, scale, zero_point); linear(x, dequantize, bias)."""
    graph = Graph()
    x = graph.input("x", 4)
    weight, scale, zero = (graph.constant(name, 4) for name in ("weight", "scale", "zero_point"))
    bias = graph.constant("bias", 4)
    target = "quantized_decomposed.dequantize_per_channel.default"
    dequantize = graph.call(target, Ref(weight), Ref(scale), Ref(zero), 0, name="dq", shape=(4,))
    linear = graph.call("aten.linear.default", Ref(x), Ref(dequantize), Ref(bias), name="linear", shape=(4,))
    graph.output(linear)
    return graph.body()


def test_constants_of_the_same_users_fold_into_one():
    near = neighbourhood([linear_with_constants()], [6], radius=2)
    assert [(fold.kind, fold.members) for fold in near.folds] == [("constants", (1, 2, 3))]
    assert near.nodes == (0, 4, 5, 6, 7)


def test_the_walk_does_not_go_through_shared_constants():
    graph = Graph()
    shared = graph.constant("shared", 4)
    ends = [graph.call("aten.relu.default", Ref(shared), name=f"relu_{i}", shape=(4,)) for i in range(50)]
    near = neighbourhood([graph.body()], [ends[0]], radius=5)
    assert near.nodes == (shared, ends[0])
    assert near.more_users == {}


def test_the_limit_keeps_the_nearest_and_says_so():
    near = neighbourhood([relu_chain(100)], [50], radius=40, limit=11)
    assert near.nodes == tuple(range(45, 56))
    assert near.cut
    assert neighbourhood([relu_chain(100)], range(100), radius=1, limit=20).cut


def test_a_cycle_of_uses_ends():
    graph = Graph()
    graph.call("aten.view.default", Ref(1), name="a", shape=(4,))
    graph.call("aten.view.default", Ref(0), name="b", shape=(4,))
    assert neighbourhood([graph.body()], [0], radius=9).nodes == (0, 1)


def test_touched_nodes_are_those_of_loud_changes():
    graph = slices_graph()
    first, second = graph.nodes[1], graph.nodes[2]
    rename = Update("", 3, "name", "a", "b")
    assert touched(
        [rename, Insert("", first), Update("", 2, "args", (), (Ref(1),)), Erase("", second)], ""
    ) == (1, 2)
    assert touched([rename], "") == (3,)
    assert touched([rename], "branch") == ()


def test_differing_nodes_are_those_that_are_not_the_same():
    graph = slices_graph()
    before = graph.body()
    after = hoisted(graph, before)
    assert set(differing(before, after)) == {100, 1, 2, 3, 4, 5, 6, 7}
    assert differing(before, before) == ()
    renamed = before.with_node(type(graph.nodes[1])(**{**_fields(graph.nodes[1]), "name": "other"}))
    assert differing(before, renamed) == ()
