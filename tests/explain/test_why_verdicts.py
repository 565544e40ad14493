"""The five verdicts in their precedence, and every reason for never having looked at a node."""

from __future__ import annotations

import pytest
import torch
import why_passes as passes
from why_recording import ATEN, aten_graph, recorded, seen, texts

from qdqviz.errors import UsageError
from qdqviz.explain.why import Explainer, why


def graph() -> torch.fx.GraphModule:
    """relu(x), shared by neg and sigmoid; their sum goes through a second relu."""

    def build(g, x):
        relu = g.call_function(ATEN.relu.default, (x,))
        neg = g.call_function(ATEN.neg.default, (relu,))
        sigmoid = g.call_function(ATEN.sigmoid.default, (relu,))
        total = g.call_function(ATEN.add.Tensor, (neg, sigmoid))
        return g.call_function(ATEN.relu.default, (total,))

    return aten_graph(build, x=torch.randn(2, 3))


def renamed(first: str, second: str) -> torch.fx.GraphModule:
    """The same with other names for the two relus."""
    module = graph()
    relus = [node for node in module.graph.nodes if node.target is ATEN.relu.default]
    for node, name in zip(relus, (first, second), strict=True):
        node.name = name
    return module


def with_branch() -> torch.fx.GraphModule:
    """A graph with a sub-graph that holds a relu of its own."""

    def inner(g, y):
        return g.call_function(ATEN.relu.default, (y,))

    def build(g, x):
        branch = g.get_attr("branch")
        relu = g.call_function(ATEN.relu.default, (x,))
        return g.call_function(torch.ops.higher_order.cond, (True, branch, branch, (relu,)))

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output(build(graph, x))
    root = torch.nn.Module()
    root.branch = aten_graph(inner, y=torch.randn(2, 3))
    return torch.fx.GraphModule(root, graph)


@pytest.fixture(scope="module")
def trace():
    """trace(PassClass) -> its trace on the small graph."""
    known = {}

    def get(pass_):
        if pass_ not in known:
            known[pass_] = recorded(pass_(), graph(), raising=(ValueError, AssertionError))
        return known[pass_]

    return get


def ask(trace, pass_, node=None):
    return why(trace(pass_), pass_, node)


# -- fired -----------------------------------------------------------------------------------------


def test_a_node_that_was_rewritten_fired_with_its_step(trace):
    answer = ask(trace, passes.ReluToTanh, "relu_default_1")
    assert (answer.verdict, answer.rewrites) == ("fired", (1,))
    assert trace(passes.ReluToTanh).rewrite(1).focus == answer.node.id


def test_a_node_that_another_nodes_rewrite_took_away_fired_through_that_node(trace):
    answer = ask(trace, passes.FoldsNegIntoAdd, "neg_default")
    assert (answer.verdict, answer.rewrites, answer.through.name) == ("fired", (1,), "add_tensor")
    assert "took neg_default away when it looked at add_tensor" in answer.sentences[0]


def test_an_attempt_that_wrote_what_was_there_fired_and_changed_nothing(trace):
    answer = ask(trace, passes.SetsSameArgs, "relu_default")
    assert (answer.verdict, answer.rewrites) == ("fired", ())
    assert answer.sentences == ("SetsSameArgs fired on relu_default; what it did changed nothing.",)


def test_a_nested_pass_that_fired_answers_for_the_pass_that_ran_it(trace):
    answer = ask(trace, passes.Outer, "relu_default_1")
    assert (answer.verdict, answer.pass_, answer.inside) == ("fired", "Outer", "ReluToTanh")
    declined = ask(trace, passes.Outer, "relu_default")
    assert (declined.verdict, declined.inside) == ("declined", "ReluToTanh")
    assert texts(declined) == ["len(node.users) == 1"]


# -- raised ----------------------------------------------------------------------------------------


def test_the_attempt_that_raised_shows_the_test_in_front_of_the_raise(trace):
    answer = ask(trace, passes.Raises, "sigmoid_default")
    assert answer.verdict == "raised"
    assert texts(answer) == ["node.target == ATEN.sigmoid.default"]
    assert (answer.error.type, answer.error.text) == ("ValueError", 'raise ValueError("no sigmoid, please")')


def test_what_a_pass_did_not_come_to_because_it_raised_says_so(trace):
    answer = ask(trace, passes.Raises, "add_tensor")
    assert (answer.verdict, answer.reason) == ("never", "pass_raised")
    assert "raised ValueError before" in answer.sentences[0]


def test_what_was_looked_at_before_the_exception_declined_as_ever(trace):
    assert ask(trace, passes.Raises, "relu_default").verdict == "declined"


def test_a_failed_assertion_is_the_guard(trace):
    answer = ask(trace, passes.AssertsShape, "add_tensor")
    assert answer.verdict == "raised"
    assert (answer.guard.text, answer.guard.kind, answer.guard.outcome) == (
        "len(node.users) > 7",
        "assert",
        False,
    )
    assert seen(answer)["node.users"] == "[relu_default_1]"


# -- declined and considered -----------------------------------------------------------------------


def test_a_declined_node_names_the_nodes_that_the_guard_saw(trace):
    answer = ask(trace, passes.ReluToTanh, "relu_default")
    assert answer.verdict == "declined"
    assert seen(answer) == {"len(node.users)": "2", "node.users": "[neg_default, sigmoid_default]"}
    assert {node.name for node in answer.nodes} == {"neg_default", "sigmoid_default"}
    body = trace(passes.ReluToTanh).first().root
    assert {body[node.id].name for node in answer.nodes} == {"neg_default", "sigmoid_default"}


def test_a_predicates_docstring_is_the_reason(trace):
    answer = ask(trace, passes.ReluToTanh, "neg_default")
    assert texts(answer) == ["is_relu(node)", "node.target == ATEN.relu.default"]
    assert answer.chain[0].reason == "It is a relu."


def test_a_node_seen_through_another_one_is_considered(trace):
    answer = ask(trace, passes.FoldsNegIntoAdd, "sigmoid_default")
    assert answer.verdict == "never"  # no guard saw it: only the add's left side was asked about
    both = recorded(passes.StopsAtSigmoid(), graph())
    assert why(both, "StopsAtSigmoid", "sigmoid_default").verdict == "declined"


def test_what_was_collected_and_never_used_was_set_aside(trace):
    answer = ask(trace, passes.Collects, "relu_default")
    assert (answer.verdict, answer.guard) == ("declined", None)
    assert "set aside for later" in answer.sentences[0]


def test_a_memo_entry_of_an_earlier_attempt_leads_to_the_test_behind_it(trace):
    answer = ask(trace, passes.Memo, "relu_default_1")
    assert texts(answer) == [
        "self.is_wanted(node.target)",
        "self.known[target]",
        "target == ATEN.tanh.default",
    ]


# -- never -----------------------------------------------------------------------------------------


def test_a_search_for_another_op_names_it_and_whether_there_is_any(trace):
    answer = ask(trace, passes.FoldsNegIntoAdd, "relu_default")
    assert (answer.verdict, answer.reason) == ("never", "looked_for_other")
    assert answer.wanted == ("aten.add.Tensor",)
    assert answer.nearest == ()  # the graph has an add: nothing needs to stand in for it


def test_a_comprehension_that_filtered_a_node_out_is_the_guard(trace):
    answer = ask(trace, passes.Filtered, "relu_default")
    assert (answer.verdict, answer.reason) == ("never", "filtered")
    assert (answer.guard.text, answer.guard.kind) == ("len(node.users) == 1", "comprehension")
    assert ask(trace, passes.Filtered, "relu_default_1").verdict == "fired"


def test_a_pass_that_left_before_its_loop_shows_the_guard_and_what_it_saw_of_the_node(trace):
    answer = ask(trace, passes.OnlyWithTanh, "relu_default")
    assert (answer.verdict, answer.reason) == ("never", "left_early")
    assert texts(answer)[0].startswith("any(node.target == ATEN.tanh.default")
    assert texts(answer)[-1] == "node.target == ATEN.tanh.default"
    assert seen(answer)["node.target"] == "aten.relu.default"


def test_a_loop_that_ended_before_the_node_says_at_which_node(trace):
    answer = ask(trace, passes.StopsAtSigmoid, "add_tensor")
    assert (answer.verdict, answer.reason) == ("never", "loop_ended")
    assert answer.through.name == "sigmoid_default"
    assert texts(answer) == ["node.target == ATEN.sigmoid.default"]


def test_a_loop_that_ended_because_it_fired_says_in_which_step(trace):
    answer = ask(trace, passes.FirstReluOnly, "relu_default_1")
    assert (answer.verdict, answer.reason, answer.rewrites) == ("never", "loop_ended", (1,))
    assert "its loop ended at relu_default, rewritten in step 1" in answer.sentences[0]


def test_a_node_that_the_pass_itself_made_is_not_yet_created():
    found = recorded([passes.FirstReluOnly(), passes.FirstReluOnly()], graph())
    made = next(node for node in found.after(1).root if node.target == "aten.tanh.default")
    answer = why(found, "FirstReluOnly#1", f"{made.name}@1")
    assert (answer.verdict, answer.reason, answer.step) == ("never", "not_yet_created", 1)
    later = next(
        node for node in found.after(2).root if node.name not in {n.name for n in found.after(1).root}
    )
    answer = why(found, "FirstReluOnly#1", f"{later.name}@2")
    assert (answer.reason, answer.step) == ("not_yet_created", 2)


def test_a_node_that_an_earlier_pass_removed_says_in_which_step():
    found = recorded([passes.FirstReluOnly(), passes.ReluToTanh()], graph())
    answer = why(found, "ReluToTanh", "relu_default@0")
    assert answer.verdict == "never"
    assert "step 1 had removed it before" in answer.sentences[0]


def test_a_node_in_a_graph_that_the_pass_never_iterates_is_in_another_graph():
    found = recorded(passes.RootOnly(), with_branch())
    answer = why(found, "RootOnly", "branch/relu_default")
    assert (answer.verdict, answer.reason) == ("never", "other_graph")
    assert answer.graph.endswith("/branch")
    assert why(found, "RootOnly", "/relu_default").verdict in ("declined", "fired")


# -- names -----------------------------------------------------------------------------------------


def test_a_name_in_several_graphs_is_refused_with_the_choices():
    found = recorded(passes.RootOnly(), with_branch())
    with pytest.raises(UsageError, match=r"several nodes are named relu_default: say .*branch/relu_default"):
        why(found, "RootOnly", "relu_default")


def test_a_pass_that_ran_twice_is_refused_with_the_choices():
    found = recorded([passes.ReluToTanh(), passes.ReluToTanh()], graph())
    with pytest.raises(UsageError, match="ReluToTanh ran 2 times: say ReluToTanh#1 or ReluToTanh#2"):
        why(found, "ReluToTanh")
    assert why(found, "ReluToTanh#2").run > why(found, "ReluToTanh#1").run
    # Only before the first run there was a second relu.
    assert why(found, "ReluToTanh#1", "relu_default_1").verdict == "fired"


def test_the_short_names_of_pictures_will_do_where_they_stand_for_one_node(trace):
    assert ask(trace, passes.ReluToTanh, "relu").node == ask(trace, passes.ReluToTanh, "relu_default").node
    assert ask(trace, passes.ReluToTanh, "tanh@1").node == ask(trace, passes.ReluToTanh, "tanh_default").node
    alike = recorded(passes.ReluToTanh(), renamed("aten_relu_copy_default", "aten_relu_default"))
    with pytest.raises(UsageError, match="several nodes are named relu: say /aten_relu_copy_default or"):
        why(alike, "ReluToTanh", "relu")
    own = recorded(passes.ReluToTanh(), renamed("relu", "aten_relu_default"))
    assert why(own, "ReluToTanh", "relu").node.name == "relu"


@pytest.mark.parametrize(
    ("pass_", "node", "message"),
    [
        ("ReluToTan", None, "did you mean ReluToTanh"),
        ("ReluToTanh#3", None, "no ReluToTanh#3 .*: there is ReluToTanh"),
        ("ReluToTanh", "relu_defalt", "did you mean relu_default"),
        ("ReluToTanh", "rel", "did you mean relu_default"),
        ("ReluToTanh", "relu_default@99", "no step 99"),
        (99, None, "no pass run 99"),
    ],
)
def test_names_that_match_nothing_get_the_closest_ones(trace, pass_, node, message):
    with pytest.raises(UsageError, match=message) as caught:
        why(trace(passes.ReluToTanh), pass_, node)
    assert "\n" not in str(caught.value)


# -- the pass as a whole ---------------------------------------------------------------------------


def test_near_misses_are_grouped_by_the_guard_and_counted(trace):
    answer = ask(trace, passes.ReluToTanh)
    assert answer.verdict == "fired"
    counts = {miss.guard.text: (miss.count, dict(miss.ops)) for miss in answer.near_misses}
    assert counts == {
        "len(node.users) == 1": (1, {"relu": 1}),
        "node.target == ATEN.relu.default": (4, {"neg": 1, "sigmoid": 1, "add": 1, "tanh": 1}),
        'node.op == "call_function"': (2, {"placeholder": 1, "output": 1}),
    }
    assert answer.near_misses[0].guard.text == "len(node.users) == 1"
    assert any("4 × " in line and "neg 1" in line for line in answer.sentences)


def test_a_pass_that_searched_for_what_is_not_there_names_what_comes_nearest():
    def build(g, x, w, b):
        return g.call_function(ATEN.addmm.default, (b, x, w))

    module = aten_graph(build, x=torch.randn(2, 3), w=torch.randn(3, 4), b=torch.randn(4))

    class WantsLinear(passes.PassBase):
        def call(self, gm):
            for node in gm.graph.find_nodes(op="call_function", target=ATEN.linear.default):
                node.args = node.args[:2]

    answer = why(recorded(WantsLinear(), module), "WantsLinear")
    assert (answer.verdict, answer.reason) == ("never", "looked_for_other")
    assert (answer.wanted, [node.name for node in answer.nearest]) == (
        ("aten.linear.default",),
        ["addmm_default"],
    )
    assert list(answer.sentences[1:]) == [
        "  this graph has none",
        "  nearest: addmm_default",
        "  addmm_default is addmm(b, x, w)",
        "  linear may have been taken apart into addmm: "
        "preserve it in the lowering, or run a pass before that restores it",
    ]


def test_an_explainer_answers_several_questions_about_one_trace(trace):
    explainer = Explainer(trace(passes.ReluToTanh))
    assert explainer.why("ReluToTanh", "relu_default").verdict == "declined"
    assert explainer.why("ReluToTanh", "relu_default_1").verdict == "fired"
