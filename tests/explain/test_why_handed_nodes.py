"""Nodes that `map`, `filter` and their like hand to a function are answered as those of a loop."""

from __future__ import annotations

import pytest
from why_recording import seen, texts

IS_RELU = 'node.op == "call_function" and node.target == torch.ops.aten.relu.default'.partition(" and ")[2]


@pytest.mark.parametrize(
    "nodes",
    [
        "gm.graph.nodes",
        "list(gm.graph.nodes)",
        "reversed(gm.graph.nodes)",
        "(n for n in gm.graph.nodes)",
        "[n for n in gm.graph.nodes]",
        "sorted(gm.graph.nodes, key=str)",
        "filter(lambda n: n.name != 'nothing', gm.graph.nodes)",
    ],
)
@pytest.mark.parametrize(
    "loop", ["for node in {}:", "for node in list({}):", "for node in [each for each in {}]:"]
)
def test_a_node_that_filter_dropped_is_declined_by_the_test_of_its_predicate(answer, nodes, loop):
    source = f"""
        class Private(PassBase):
            def call(self, gm):
                {loop.format(f"filter(predicates.is_relu, {nodes})")}
                    if len(node.users) == 1:
                        replace(node)
    """
    dropped = answer(source, "sigmoid_default")
    assert dropped.verdict == "declined"
    assert texts(dropped) == ["predicates.is_relu", IS_RELU]
    assert dropped.chain[0].reason == "It is a relu."
    assert seen(dropped)["node.target"] == "aten.sigmoid.default"
    kept = answer(source)
    assert (kept.verdict, texts(kept)) == ("declined", ["len(node.users) == 1"])


@pytest.mark.parametrize(
    ("call", "blocking"),
    [
        ("filter(lambda n: n.target == RELU, gm.graph.nodes)", "n.target == RELU"),
        ("itertools.filterfalse(lambda n: n.target != RELU, gm.graph.nodes)", "n.target != RELU"),
        ("filter(functools.partial(calls, RELU), gm.graph.nodes)", "node.target == target"),
        ("filter(self.wanted, gm.graph.nodes)", "node.target == RELU"),
        ("map(second, filter(lambda pair: pair[1].target == RELU, enumerate(gm.graph.nodes)))", "pair[1].ta"),
        ("map(first, filter(lambda pair: pair[0].target == RELU, zip(gm.graph.nodes, tags)))", "pair[0].ta"),
    ],
)
def test_any_kind_of_predicate_that_filter_is_given_is_gone_into(answer, call, blocking):
    source = f"""
        import itertools
        tags = range(99)

        def first(pair):
            return pair[0]

        def second(pair):
            return pair[1]

        def calls(target, node):
            return node.target == target

        class Private(PassBase):
            def wanted(self, node):
                return node.target == RELU
            def call(self, gm):
                for node in {call}:
                    if len(node.users) == 1:
                        replace(node)
    """
    dropped = answer(source, "sigmoid_default")
    assert (dropped.verdict, dropped.guard.text[: len(blocking)]) == ("declined", blocking)
    assert "aten.sigmoid.default" in [value.value for value in dropped.values]
    assert texts(answer(source)) == ["len(node.users) == 1"]


def test_nodes_around_the_one_that_a_predicate_was_given_are_named(answer):
    found = answer(
        """
        class Private(PassBase):
            def call(self, gm):
                calls = filter(lambda n: n.op == "call_function", gm.graph.nodes)
                for node in filter(lambda n: len(n.args[0].users) == 1, calls):
                    if node.target == torch.ops.aten.tanh.default:
                        replace(node)
        """,
        "neg_default",
    )
    assert texts(found) == ["len(n.args[0].users) == 1"]
    assert [node.name for node in found.guard.nodes] == ["neg_default", "sigmoid_default", "relu_default"]


def test_the_first_node_that_fits_ends_the_search(answer):
    source = """
        class Private(PassBase):
            def call(self, gm):
                node = next(filter(predicates.is_relu, gm.graph.nodes), None)
                if node is not None and len(node.users) == 1:
                    replace(node)
    """
    before = answer(source, "x")
    assert (before.verdict, before.guard.text) == ("declined", 'node.op == "call_function"')
    after = answer(source, "neg_default")
    assert (after.verdict, after.reason, after.through.name) == ("never", "loop_ended", "relu_default")


@pytest.mark.parametrize(
    "call",
    [
        "any(list(map(self.visit, gm.graph.nodes)))",
        "any([*map(self.visit, gm.graph.nodes)])",
        "any(map(self.visit, gm.graph.nodes))",
        "functools.reduce(lambda done, node: self.visit(node) or done, gm.graph.nodes, False)",
    ],
)
def test_a_method_that_is_mapped_over_the_nodes_is_asked_as_in_a_loop(answer, call):
    source = f"""
        class Private(PassBase):
            def visit(self, node):
                if not predicates.is_relu(node):
                    return False
                if not predicates.has_one_user(node):
                    return False
                replace(node)
                return True
            def call(self, gm):
                modified = {call}
                return PassResult(gm, modified)
    """
    found = answer(source)
    assert (found.verdict, texts(found)[-2:]) == (
        "declined",
        ["predicates.has_one_user(node)", "len(node.users) == 1"],
    )
    assert seen(found)["node.users"] == "[neg_default, sigmoid_default]"
    other = answer(source, "sigmoid_default")
    assert (other.verdict, texts(other)[-2:]) == ("declined", ["predicates.is_relu(node)", IS_RELU])
    whole = answer(source, None)
    assert whole.near_misses[0].guard.text == "len(node.users) == 1"


def test_a_rewrite_by_a_mapped_method_belongs_to_the_node_that_it_was_given(answer):
    source = """
        class Private(PassBase):
            def visit(self, node):
                if node.target == torch.ops.aten.neg.default:
                    with node.graph.inserting_after(node):
                        new = node.graph.call_function(RELU, node.args)
                    node.replace_all_uses_with(new)
                    node.graph.erase_node(node)
            def call(self, gm):
                list(map(self.visit, gm.graph.nodes))
    """
    assert answer(source, "neg_default").verdict == "fired"
    assert answer(source, "sigmoid_default").verdict == "declined"


def test_a_question_that_is_mapped_over_all_nodes_turns_none_of_them_down(answer):
    source = """
        class Private(PassBase):
            def call(self, gm):
                if not any(map(lambda n: n.target == torch.ops.aten.tanh.default, gm.graph.nodes)):
                    return PassResult(gm, False)
                for node in gm.graph.nodes:
                    if node.target == RELU:
                        replace(node)
    """
    found = answer(source)
    assert (found.verdict, found.reason) == ("never", "left_early")
    assert found.chain[0].text.startswith("any(map(")
    assert found.guard.text == "n.target == torch.ops.aten.tanh.default"


def test_the_key_of_max_turns_no_node_down(answer):
    source = """
        class Private(PassBase):
            def call(self, gm):
                widest = max(gm.graph.nodes, key=lambda n: 0 if n.op == "output" else len(n.users))
                if widest.target == torch.ops.aten.tanh.default:
                    replace(widest)
    """
    found = answer(source, "neg_default")
    assert (found.verdict, found.reason, texts(found)) == (
        "never",
        "left_early",
        ["widest.target == torch.ops.aten.tanh.default"],
    )


@pytest.mark.parametrize(
    "users",
    [
        "filter(lambda user: user.op == 'call_function', node.users)",
        "(user for user in node.users if user.op == 'call_function')",
        "(user for user in node.users)",
        "[user for user in node.users if user.op == 'call_function']",
    ],
)
def test_all_rounds_of_a_loop_over_what_is_filtered_on_the_way_are_told(answer, users):
    found = answer(f"""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    blocked = False
                    for user in {users}:
                        if user.target == torch.ops.aten.sigmoid.default:
                            blocked = True
                    if not blocked:
                        replace(node)
    """)
    assert texts(found) == ["blocked", "user.target == torch.ops.aten.sigmoid.default"]
    assert [node.name for node in found.guard.nodes] == ["sigmoid_default"]


def test_a_node_that_the_outer_loop_of_a_comprehension_dropped_was_filtered_out(answer):
    source = """
        class Private(PassBase):
            def call(self, gm):
                pairs = [
                    (node, user)
                    for node in gm.graph.nodes
                    if node.target == RELU
                    for user in node.users
                    if user.target == torch.ops.aten.tanh.default
                ]
                for node, user in pairs:
                    replace(node)
    """
    outer = answer(source, "sigmoid_default")
    assert (outer.reason, texts(outer)) == ("filtered", ["node.target == RELU"])
    inner = answer(source)
    assert (inner.reason, texts(inner)) == ("filtered", ["user.target == torch.ops.aten.tanh.default"])
