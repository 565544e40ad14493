import time

from handmade import Graph, hoisted, slices_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from rpds import HashTrieMap

from qdqviz.ir.graph import Body
from qdqviz.ir.liveness import LiveValues, alive_bytes, difference, live_pair, liveness
from qdqviz.ir.node import SymDim, TensorSpec
from qdqviz.ir.order import spread
from qdqviz.ir.values import DictArg, ListArg, Ref, SliceArg

FP32 = TensorSpec("float32", (4,))


def naive_uses(value):
    """Every node used in an argument, by plain recursion."""
    if isinstance(value, Ref):
        return [value.node]
    if isinstance(value, tuple):
        return [ref for item in value for ref in naive_uses(item)]
    if isinstance(value, ListArg):
        return naive_uses(value.items)
    if isinstance(value, DictArg):
        return [ref for pair in value.items for ref in naive_uses(pair)]
    if isinstance(value, SliceArg):
        return naive_uses((value.start, value.stop, value.step))
    return []


def naive_alive(body, wanted):
    """For each step the set of (node, output) that are alive: quadratic, straight from the definition."""
    nodes = list(body.in_order())
    by_id = {node.id: node for node in nodes}

    def part(node):
        """(owner, output) that a getitem names, or None."""
        if node.target.endswith("getitem") and len(node.args) == 2 and isinstance(node.args[0], Ref):
            owner = by_id.get(node.args[0].node)
            if owner is not None and isinstance(owner.spec, tuple) and isinstance(node.args[1], int):
                return owner.id, node.args[1] % len(owner.spec)
        return None

    def values_used(step):
        """(node, output) of every value that the node at a step needs."""
        node = nodes[step]
        found = set()
        for ref in naive_uses(node.args) + naive_uses([*node.kwargs] and tuple(v for _, v in node.kwargs)):
            used = by_id[ref]
            named = part(used)
            if named is not None:
                found.add(named)
            elif isinstance(used.spec, tuple):
                found |= (
                    {(ref, index) for index in range(len(used.spec))} if part(node) is None else {part(node)}
                )
            else:
                found.add((ref, None))
        return found

    used_at = [values_used(step) for step in range(len(nodes))]
    alive = []
    for step in range(len(nodes)):
        here = set()
        for start, node in enumerate(nodes):
            if node.id not in wanted or node.op == "output" or part(node) is not None:
                continue
            outputs = range(len(node.spec)) if isinstance(node.spec, tuple) else [None]
            for output in outputs:
                spec = node.spec if output is None else node.spec[output]
                if not isinstance(spec, TensorSpec):
                    continue
                ends = [later for later in range(len(nodes)) if (node.id, output) in used_at[later]]
                if start == step or (start <= step and any(later >= step for later in ends)):
                    here.add((node.id, output))
        alive.append(here)
    return alive


def naive_bytes(body, key):
    node, output = key
    spec = body[node].spec if output is None else body[node].spec[output]
    return spec.nbytes or 0


def check_against_naive(body, live, wanted):
    alive = naive_alive(body, wanted)
    sizes = [sum(naive_bytes(body, key) for key in keys) for keys in alive]
    assert alive_bytes(live) == sizes
    assert live.peak_bytes == max(sizes, default=0)
    assert live.byte_steps == sum(sizes)
    assert {item.key for item in live.ranges} == set().union(*alive)
    for item in live.ranges:
        assert [step for step in range(len(alive)) if item.key in alive[step]] == list(
            range(item.start, item.end + 1)
        )


@st.composite
def graphs(draw):
    """Graphs with shared and double uses, nested arguments, multi-output nodes, getitem and dead nodes."""
    graph = Graph()
    tensors = [graph.input("x", draw(st.integers(1, 64)))]
    tuples = []
    if draw(st.booleans()):
        tensors.append(graph.constant("w", 3))
    for index in range(draw(st.integers(0, 14))):
        shape = (draw(st.integers(1, 64)),)
        kind = draw(st.sampled_from(["call", "list", "split", "getitem", "quantize", "whole"]))
        picked = [Ref(node) for node in draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=3))]
        if kind == "getitem" and tuples:
            owner = draw(st.sampled_from(tuples))
            part = draw(st.integers(-2, 1))
            node = graph.add(
                "call_function", "operator.getitem", Ref(owner), part, name=f"g{index}", spec=FP32
            )
            tensors.append(node)
        elif kind == "split":
            spec = (TensorSpec("float32", shape), TensorSpec("int8", (5,)))
            tuples.append(
                graph.add("call_function", "aten.split.default", *picked, name=f"s{index}", spec=spec)
            )
        elif kind == "whole" and tuples:
            used = Ref(draw(st.sampled_from(tuples)))
            tensors.append(
                graph.call("higher_order.cond", used, ListArg(tuple(picked)), name=f"c{index}", shape=shape)
            )
        elif kind == "quantize":
            tensors.append(graph.quantize(picked[0].node, 0.1, 0, name=f"q{index}"))
        else:
            args = (ListArg(tuple(picked)),) if kind == "list" else tuple(picked)
            tensors.append(graph.call("aten.op.default", *args, name=f"n{index}", shape=shape))
    if draw(st.booleans()):
        graph.output(*draw(st.lists(st.sampled_from(tensors), max_size=3)))
    return graph


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_live_ranges_agree_with_the_definition_on_any_graph(graph):
    body = graph.body()
    constants = {node.id for node in graph.nodes if node.constant is not None}
    everything = {node.id for node in graph.nodes} - constants
    check_against_naive(body, liveness(body, "all"), everything)
    made = {node.id for node in graph.nodes if "quantize" in node.target}
    check_against_naive(body, liveness(body, "qdq"), made)
    chosen = set(list(everything)[::2])
    check_against_naive(body, liveness(body, chosen), chosen)


def test_hand_worked_ranges_of_one_rewrite():
    """x, permute, slice, slice, quantize, quantize, dequantize, dequantize, add, output: nodes 0 to 9."""
    graph = slices_graph()
    live = liveness(graph.body(), "all")
    assert [(item.node, item.start, item.end, item.nbytes) for item in live.ranges] == [
        (0, 0, 1, 4096),
        (1, 1, 3, 4096),
        (2, 2, 4, 2048),
        (3, 3, 5, 2048),
        (4, 4, 6, 512),
        (5, 5, 7, 512),
        (6, 6, 8, 2048),
        (7, 7, 8, 2048),
        (8, 8, 9, 2048),
    ]
    # Step 1: x and permute. Step 3: permute and both slices.
    assert (live.peak_bytes, live.peak_step) == (8192, 1)
    assert live.ranges[8].returned
    assert [item.last_user for item in live.ranges] == [1, 3, 4, 5, 6, 7, 8, 8, 9]


def test_hoisting_a_quantize_is_seen_to_save_bytes():
    graph = slices_graph()
    before = graph.body()
    change = difference(liveness(before, "all"), liveness(hoisted(graph, before), "all"))
    # After: x, q, permute, slice, slice, dq, dq, add, output; all between q and dq in int8.
    after_bytes = 2 * 4096 + 2 * 1024 + 3 * 1024 + 3 * 512 + 3 * 512 + 3 * 2048 + 2 * 2048 + 2 * 2048
    before_bytes = (
        2 * 4096 + 3 * 4096 + 3 * 2048 + 3 * 2048 + 3 * 512 + 3 * 512 + 3 * 2048 + 2 * 2048 + 2 * 2048
    )
    assert change.byte_steps == after_bytes - before_bytes
    # Before: x and permute, 8192. After: both dequantized halves and their sum, 6144.
    assert (change.before.peak_bytes, change.after.peak_bytes, change.peak_bytes) == (8192, 6144, -2048)
    assert change.real_byte_steps < change.byte_steps
    came_and_went = [
        (pair.before, pair.after) for pair in change.changes if None in (pair.before, pair.after)
    ]
    assert {(one or other).node for one, other in came_and_went} == {4, 5, 100}


def test_carried_values_are_those_on_the_way_to_and_from_qdq_nodes():
    graph = Graph()
    x = graph.input("x", 4)
    before = graph.call("aten.relu.default", Ref(x), name="relu", shape=(4,))
    moved = graph.view(before, 2, 2, name="view")
    q = graph.quantize(moved, 0.1, 0, name="q")
    carried = graph.permute(q, 1, 0, name="permute")
    d = graph.dequantize(carried, 0.1, 0, name="d")
    far = graph.call("aten.relu.default", Ref(d), name="relu_1", shape=(2, 2))
    graph.output(far)
    found = {item.node for item in liveness(graph.body(), "carried").ranges}
    assert found == {before, moved, q, carried, d}
    assert {item.node for item in liveness(graph.body()).ranges} == {q, d}


def test_a_pair_looks_at_the_same_values_before_and_after():
    """A rewrite that removes a quantize leaves the value that it got: nothing carries it, but it is there."""
    graph = Graph()
    relu = graph.call("aten.relu.default", Ref(graph.input("x", 4)), name="relu", shape=(4,))
    q = graph.quantize(relu, 0.1, 0, name="q")
    d = graph.dequantize(q, 0.1, 0, name="d")
    end = graph.call("aten.relu.default", Ref(d), name="relu_1", shape=(4,))
    graph.output(end)
    before = graph.body()
    after = before.with_node(replace(graph.nodes[end], args=(Ref(relu),))).without_node(d).without_node(q)
    assert liveness(after, "carried").ranges == ()
    first, last = live_pair(LiveValues(before), LiveValues(after), "carried")
    assert {item.node for item in first.ranges} == {relu, q, d}
    assert [(item.node, item.start, item.end) for item in last.ranges] == [(relu, 1, 2)]
    assert difference(first, last).byte_steps == 2 * 16 - (2 * 16 + 2 * 4 + 2 * 16)
    assert first.which == last.which == "carried"


def test_constants_are_no_values():
    graph = Graph()
    graph.constant("w", 100)
    assert liveness(graph.body(), "all").ranges == ()


def test_an_unknown_size_counts_nothing_and_is_counted():
    graph = Graph()
    x = graph.input("x", 4)
    graph.nodes[x] = replace(graph.nodes[x], spec=TensorSpec("float32", (SymDim("u0", None),)))
    graph.output(x)
    live = liveness(graph.body(), "all")
    assert (live.peak_bytes, live.byte_steps, live.unknown) == (0, 0, 1)
    assert live.ranges[0].nbytes is None


def test_an_empty_graph_has_no_peak():
    live = liveness(Body(), "all")
    assert (live.ranges, live.peak_bytes, live.peak_step, live.byte_steps, live.length) == ((), 0, 0, 0, 0)


def test_a_use_in_keyword_arguments_keeps_a_value_alive():
    graph = Graph()
    x = graph.input("x", 4)
    graph.call("aten.relu.default", name="relu", shape=(4,))
    graph.nodes[1] = replace(graph.nodes[1], kwargs=(("input", ListArg((Ref(x),))),))
    assert liveness(graph.body(), "all").of(x)[0].end == 1


def test_20000_nodes_take_far_less_than_a_second():
    graph = Graph()
    node = graph.input("x", 64)
    template = graph.nodes[graph.quantize(node, 0.1, 0, name="q")]
    orders = spread(20_000)
    nodes = [replace(graph.nodes[0], order=orders[0])] + [
        replace(
            template,
            id=index,
            order=orders[index],
            name=f"q_{index}",
            args=(Ref(index - 1), *template.args[1:]),
        )
        for index in range(1, 20_000)
    ]
    body = Body(HashTrieMap({item.id: item for item in nodes}))
    body.in_order()
    start = time.process_time()
    live = liveness(body, "all")
    # The budget is 0.1 s on a quiet machine (see benchmarks); quadratic work would take minutes.
    assert time.process_time() - start < 1.0
    assert live.length == 20_000
