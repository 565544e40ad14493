"""Functions that a comprehension calls on each node are gone into; checks tell what they check."""

from __future__ import annotations

import pytest
from why_recording import seen, texts

VISIT = """
        class Private(PassBase):
            def visit(self, node):
                if not predicates.is_relu(node):
                    return False
                if len(node.users) != 1:
                    return False
                replace(node)
                return True

            def call(self, gm):
                changed = {}
                return PassResult(gm, bool(changed))
"""


@pytest.mark.parametrize(
    "form",
    [
        "[self.visit(n) for n in gm.graph.nodes]",
        "any([self.visit(n) for n in gm.graph.nodes])",
        "any(self.visit(n) for n in gm.graph.nodes)",
        "sum(self.visit(n) for n in list(gm.graph.nodes))",
        "{n: self.visit(n) for n in gm.graph.nodes}",
        "[self.visit(n) for n in gm.graph.nodes if n.op != 'placeholder']",
    ],
)
def test_a_method_that_a_comprehension_calls_on_each_node_is_gone_into(answer, form):
    found = answer(VISIT.format(form))
    assert (found.verdict, texts(found)) == ("declined", ["len(node.users) != 1"])
    assert seen(found)["len(node.users)"] == "2"
    other = answer(VISIT.format(form), "neg_default")
    assert (other.verdict, texts(other)[0]) == ("declined", "predicates.is_relu(node)")


def test_the_nodes_that_such_a_method_was_given_are_known(answer):
    found = answer(VISIT.format("[self.visit(n) for n in gm.graph.nodes]"))
    assert seen(found)["node.users"] == "[neg_default, sigmoid_default]"


def test_a_value_that_a_comprehension_computes_of_each_node_turns_none_down(answer):
    found = answer(
        """
        class Private(PassBase):
            def cost(self, node):
                if node.op != "call_function":
                    return 0
                return len(node.users) + 1

            def call(self, gm):
                costs = [self.cost(node) for node in gm.graph.nodes]
                if sum(costs) > 99:
                    replace(next(iter(gm.graph.nodes)))
        """
    )
    assert (found.verdict, found.reason, texts(found)) == ("never", "left_early", ["sum(costs) > 99"])


def test_a_predicate_asked_of_all_nodes_by_any_turns_none_down(answer):
    found = answer(
        """
        class Private(PassBase):
            def call(self, gm):
                if not any(predicates.has_one_user(n) and n.op == "get_attr" for n in gm.graph.nodes):
                    return PassResult(gm, False)
                for node in gm.graph.nodes:
                    replace(node)
        """
    )
    assert (found.verdict, found.reason) == ("never", "left_early")


@pytest.mark.parametrize(
    ("checks", "blocking"),
    [
        ("self.require(len(node.users) == 1, 'shared')", "len(node.users) == 1"),
        ("self.require(message='shared', condition=len(node.users) == 1)", "len(node.users) == 1"),
        ("self.require(node.op and len(node.users) == 1, 'shared')", "len(node.users) == 1"),
        ("self.require(predicates.has_one_user(node), 'shared')", "len(node.users) == 1"),
        (
            "single = len(node.users) == 1\n                    self.require(single, '')",
            "len(node.users) == 1",
        ),
        ("self.require(all(u.op == 'output' for u in node.users), '')", "u.op == 'output'"),
    ],
)
def test_a_check_that_is_given_a_condition_leads_to_that_condition(answer, checks, blocking):
    found = answer(f"""
        class Private(PassBase):
            @staticmethod
            def require(condition, message):
                if not condition:
                    raise ValueError(message)

            def fits(self, node):
                try:
                    self.require(node.target == RELU, "no relu")
                    {checks}
                except ValueError:
                    return False
                return True

            def call(self, gm):
                for node in gm.graph.nodes:
                    if self.fits(node):
                        replace(node)
    """)
    assert texts(found)[:3] == ["self.fits(node)", "except ValueError", "condition"]
    assert found.guard.text == blocking


@pytest.mark.parametrize(
    ("test", "named"),
    [
        ("not any(map(is_sigmoid, node.users))", ["sigmoid_default"]),
        ("not any(map(lambda user: is_sigmoid(user), node.users))", ["sigmoid_default"]),
        ("all(map(lambda user: not is_sigmoid(user), node.users))", ["sigmoid_default"]),
        ("next(filter(is_sigmoid, node.users), None) is None", ["sigmoid_default"]),
        ("not list(filter(is_sigmoid, node.users))", ["sigmoid_default"]),
        ("any(map(is_tanh, node.users))", ["sigmoid_default", "neg_default"]),
        ("list(filter(is_tanh, node.users))", ["sigmoid_default", "neg_default"]),
        ("next(filter(is_tanh, node.users), None)", ["sigmoid_default", "neg_default"]),
    ],
)
def test_of_mapped_answers_those_that_decided_are_told(answer, test, named):
    found = answer(f"""
        def is_sigmoid(node):
            return node.target == torch.ops.aten.sigmoid.default

        def is_tanh(node):
            return node.target == torch.ops.aten.tanh.default

        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target == RELU and {test}:
                        replace(node)
    """)
    assert found.guard.text.startswith("node.target == torch.ops.aten.")
    assert [node.name for each in (found.guard, *found.guard.siblings) for node in each.nodes] == named


@pytest.mark.parametrize(
    ("start", "note", "test"),
    [
        ("blocked = False", "nonlocal blocked; blocked = True", "not blocked"),
        ("blocked = []", "blocked.append(user)", "not blocked"),
        ("blocked = None", "nonlocal blocked; blocked = user", "blocked is None"),
    ],
)
@pytest.mark.parametrize("visit", ["list(map(look, node.users))", "for user in node.users: look(user)"])
def test_what_a_function_inside_set_leads_to_the_test_that_let_it(answer, start, note, test, visit):
    found = answer(f"""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    {start}
                    def look(user):
                        {note.partition("; ")[0] if "; " in note else "pass"}
                        if user.target == torch.ops.aten.sigmoid.default:
                            {note.rpartition("; ")[2]}
                    {visit}
                    if node.target == RELU and {test}:
                        replace(node)
    """)
    assert found.guard.text == "user.target == torch.ops.aten.sigmoid.default"
    assert found.guard.outcome is True
    assert [node.name for node in found.guard.nodes] == ["sigmoid_default"]


def test_what_was_only_noted_as_seen_is_told_what_it_was_compared_with(answer):
    source = """
        class Private(PassBase):
            def call(self, gm):
                seen = {}
                for node in gm.graph.nodes:
                    if node.op != "call_function":
                        continue
                    for other in seen.get(node.target, []):
                        if node.args == other.args:
                            node.replace_all_uses_with(other)
                            break
                    else:
                        seen.setdefault(node.target, []).append(node)
    """
    first = answer(source)
    assert (first.verdict, texts(first), first.note) == ("declined", ["seen.get(node.target, [])"], "")
    second = answer(source, "add_tensor_1")
    assert texts(second) == ["node.args == other.args"]


@pytest.mark.parametrize(
    "form",
    [
        "ok = all([{}])\n                    if ok: replace(node)",
        "if all([{}]): replace(node)",
        "if not all(({})): continue\n                    replace(node)",
    ],
)
def test_all_items_of_a_list_that_failed_are_told_and_no_other(answer, form):
    items = (
        "node.op == 'call_function', len(node.users) == 1, node.args[0].op != 'placeholder', bool(node.args)"
    )
    found = answer(f"""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    {form.format(items)}
    """)
    failed = {guard.text for guard in (found.guard, *found.guard.siblings)}
    assert failed == {"len(node.users) == 1", "node.args[0].op != 'placeholder'"}


@pytest.mark.parametrize("last", ["finally:\n                        self.count += 1", ""])
def test_what_leaves_from_the_else_of_a_try_is_told_whatever_runs_after_it(answer, last):
    found = answer(f"""
        class Private(PassBase):
            count = 0
            def call(self, gm):
                for node in gm.graph.nodes:
                    try:
                        producer, = node.args
                    except ValueError:
                        continue
                    else:
                        if node.target == RELU and producer.op == "placeholder":
                            continue
                    {last}
                    replace(node)
                    break
    """)
    assert texts(found) == ["node.target == RELU", 'producer.op == "placeholder"'][-1:]
    assert [guard.text for guard in found.guard.siblings] == ["node.target == RELU"]
