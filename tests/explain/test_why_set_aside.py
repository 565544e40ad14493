"""Nodes that one loop collects and another one handles are followed into the round that turned them down."""

from __future__ import annotations

import pytest
from why_recording import seen, texts

GROUPED = """
        import collections

        class Private(PassBase):
            def call(self, gm):
                groups = collections.defaultdict(list)
                for node in gm.graph.nodes:
                    if node.op == "call_function" and node.target != torch.ops.aten.add.Tensor:
                        groups[{key}].append(node)
                for {loop}:
                    if len(group) < 3:
                        continue
                    for node in group:
                        replace(node)
"""


@pytest.mark.parametrize(
    ("key", "loop", "group"),
    [
        ("node.target", "key, group in groups.items()", "[neg_default]"),
        ("node.target", "group in groups.values()", "[neg_default]"),
        ("node.args[0]", "key, group in groups.items()", "[neg_default, sigmoid_default]"),
        ("len(node.users)", "group in groups.values()", "[neg_default, sigmoid_default]"),
        ("len(node.users)", "_, group in sorted(groups.items())", "[neg_default, sigmoid_default]"),
        ("len(node.users)", "key, group in list(groups.items())", "[neg_default, sigmoid_default]"),
        ("len(node.users)", "group in map(tuple, groups.values())", "[neg_default, sigmoid_default]"),
        ("len(node.users)", "at, group in enumerate(groups.values())", "[neg_default, sigmoid_default]"),
    ],
)
@pytest.mark.parametrize("node", ["neg_default", "sigmoid_default"])
def test_a_node_that_went_into_a_group_is_declined_with_it(answer, key, loop, group, node):
    found = answer(GROUPED.format(key=key, loop=loop), node)
    assert (found.verdict, texts(found), found.note) == ("declined", ["len(group) < 3"], "")
    nodes = group if node in group else group.replace("neg_default", node)
    assert seen(found).get("group", nodes) == nodes
    assert seen(found)["len(group)"] == str(nodes.count("default"))


def test_those_that_went_into_groups_got_further_than_those_that_did_not(answer):
    found = answer(GROUPED.format(key="node.target", loop="key, group in groups.items()"), None)
    told = [(miss.guard.text, miss.count) for miss in found.near_misses]
    assert told == [
        ("len(group) < 3", 3),
        ("node.target != torch.ops.aten.add.Tensor", 2),
        ('node.op == "call_function"', 2),
    ]


def test_a_node_in_a_group_is_told_what_the_predicate_of_the_group_said(answer):
    found = answer(
        """
        class Private(PassBase):
            def fits(self, batch):
                \"\"\"A batch begins with a neg.\"\"\"
                return all(len(node.users) == 1 for node in batch[1:]) and batch[0].target == NEG

            def call(self, gm):
                calls = [node for node in gm.graph.nodes if node.op == "call_function"]
                batches = [calls[at : at + 3] for at in range(0, len(calls), 3)]
                for batch in batches:
                    if self.fits(batch):
                        replace(batch[0])
        """,
        "add_tensor_1",
    )
    assert texts(found) == ["self.fits(batch)", "batch[0].target == NEG"]
    assert [node.name for node in found.chain[0].nodes] == ["add_tensor", "add_tensor_1"]
    assert found.chain[0].reason == "A batch begins with a neg."


PAIRS = """
        class Private(PassBase):
            def call(self, gm):
                found = []
                for node in gm.graph.nodes:
                    if node.op == "call_function" and node.target != RELU:
                        found.append(node)
                for first, second in zip(found, found[1:]):
                    if {test}:
                        replace(first)
"""


def test_the_second_of_a_pair_is_turned_down_with_the_first(answer):
    found = answer(PAIRS.format(test="first.args == second.args and second.op == 'output'"), "add_tensor_1")
    assert (found.verdict, texts(found)) == ("declined", ["first.args == second.args"])
    assert [node.name for node in found.guard.nodes][:1] == ["neg_default"]


def test_what_was_set_aside_for_a_rewrite_of_another_node_says_so(answer):
    found = answer(PAIRS.format(test="first.target == second.target"), "add_tensor_1")
    assert found.verdict == "declined"
    assert found.note == "it was set aside for later; step 1 rewrote add_tensor then"


def test_what_was_set_aside_and_not_come_back_to_still_says_so(answer):
    found = answer(PAIRS.format(test="first.target == second.target").replace("zip(found, found[1:])", "()"))
    assert found.verdict == "declined"
    kept = answer(
        PAIRS.format(test="first.target == second.target").replace("zip(found, found[1:])", "()"),
        "neg_default",
    )
    assert kept.note == "it was set aside for later, and nothing was done with it"


def test_a_group_that_had_been_handed_out_before_the_node_was_set_aside_decides_nothing(answer):
    found = answer(
        """
        class Private(PassBase):
            def call(self, gm):
                for batch in [list(gm.graph.nodes)]:
                    if len(batch) > 99:
                        return
                later = []
                for node in gm.graph.nodes:
                    if node.target == RELU:
                        later.append(node)
        """
    )
    assert (texts(found), found.note) == ([], "it was set aside for later, and nothing was done with it")


@pytest.mark.parametrize(
    ("handled", "blocking"),
    [
        ("failed.add(node.name)", "except ValueError as error"),
        ("failed.add(node)", "except ValueError as error"),
        ("failed.add(node.target)\n                        self.any = True", "except ValueError as error"),
        ("failed.add(str(error))", "except ValueError as error"),
    ],
)
def test_what_a_handler_notes_down_is_not_set_aside(answer, handled, blocking):
    found = answer(f"""
        class Private(PassBase):
            def check(self, node):
                if len(node.users) > 1:
                    raise ValueError("shared")
            def call(self, gm):
                failed = set()
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    try:
                        self.check(node)
                    except ValueError as error:
                        {handled}
                        continue
                    replace(node)
                if failed:
                    print(failed)
    """)
    assert (found.verdict, texts(found)) == ("declined", [blocking, "len(node.users) > 1"])


def test_what_a_handler_puts_back_for_a_later_loop_is_set_aside(answer):
    found = answer("""
        class Private(PassBase):
            def check(self, node):
                if len(node.users) > 1:
                    raise ValueError("shared")
            def call(self, gm):
                later = []
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    try:
                        self.check(node)
                    except ValueError:
                        later.append(node)
                        continue
                    replace(node)
                for node in later:
                    if node.args[0].op != "placeholder":
                        replace(node)
    """)
    assert texts(found) == ['node.args[0].op != "placeholder"']


@pytest.mark.parametrize("check", ["requires", "ensures"])
def test_what_a_pass_checks_of_every_graph_is_not_why_it_left_a_node_alone(answer, check):
    found = answer(
        f"""
        class Private(PassBase):
            def {check}(self, gm):
                for node in gm.graph.nodes:
                    if predicates.is_relu(node) and node.op == "call_function":
                        assert len(node.users) == 2
            def call(self, gm):
                for node in gm.graph.nodes:
                    if predicates.is_relu(node):
                        replace(node)
    """,
        "neg_default",
    )
    assert texts(found)[0] == "predicates.is_relu(node)"
    assert found.chain[0].function == "Private.call"


@pytest.mark.parametrize("node", ["relu_default", "neg_default"])
def test_a_node_that_began_a_cluster_or_joined_one_is_declined_with_the_cluster(answer, node):
    found = answer(
        """
        class Private(PassBase):
            def call(self, gm):
                clusters = []
                for node in gm.graph.nodes:
                    if node.op != "call_function":
                        continue
                    for cluster in clusters:
                        if any(each in cluster for each in node.all_input_nodes):
                            cluster.append(node)
                            break
                    else:
                        clusters.append([node])
                for cluster in clusters:
                    if len(cluster) < 9:
                        continue
                    replace(cluster[0])
        """,
        node,
    )
    assert texts(found) == ["len(cluster) < 9"]
    assert seen(found)["len(cluster)"] == "5"
