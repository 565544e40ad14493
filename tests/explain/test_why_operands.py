"""Tests that are calls tell what they asked about: the operand of isinstance, what a method was called on."""

from __future__ import annotations

import pytest
from why_recording import seen


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("isinstance(kind, str)", {"kind": "aten.relu.default"}),
        ("isinstance(node.args[0], (int, float))", {"node.args[0]": "x"}),
        ("str(node.target).startswith('edge')", {"str(node.target)": "'aten.relu.default'"}),
        ("node.name.startswith('sig')", {"node.name": "'relu_default'"}),
        ("self.allowed.get(kind)", {"self.allowed": "{aten.tanh.default: 1}", "kind": "aten.relu.default"}),
        ("names.isdisjoint(others)", {"names": "['a']", "others": "['a']"}),
        ("node.meta.get('tag')", {"node.meta.get('tag')": "None"}),
        ("hasattr(first, 'shape')", {"first": "x"}),
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "if {}: replace(node)",
        "if node.op == 'call_function' and {}: replace(node)",
        "if not ({}): continue\n                    replace(node)",
        "if not {}: continue\n                    replace(node)",
        "if all([{}]): replace(node)",
        "if self.fits(lambda: {}): replace(node)",
    ],
)
def test_what_a_call_asked_about_is_among_the_values(answer, form, test, told):
    found = answer(f"""
        class Private(PassBase):
            allowed = {{torch.ops.aten.tanh.default: 1}}

            def fits(self, question):
                return bool(question())

            def call(self, gm):
                names, others = {{"a"}}, {{"a"}}
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    kind, first = node.target, node.args[0]
                    {form.format(test)}
    """)
    assert found.verdict == "declined"
    values = {value.text: value.value for guard in found.chain for value in guard.values}
    assert {text: values.get(text) for text in told} == told


def test_the_node_asked_about_and_objects_that_say_nothing_are_left_out(answer):
    found = answer("""
        class Rule:
            def fits(self, node):
                return len(node.users) == 1

        class Private(PassBase):
            def call(self, gm):
                rule = Rule()
                for node in gm.graph.nodes:
                    if isinstance(node, torch.fx.Node) and node.target == RELU and rule.fits(node):
                        replace(node)
    """)
    assert seen(found) == {"len(node.users)": "2", "node.users": "[neg_default, sigmoid_default]"}
    assert found.chain[0].values[0].text == "rule.fits(node)"
    assert len(found.chain[0].values) == 1


def test_a_prefix_that_a_name_lacks_is_no_target_that_is_looked_for(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if str(node.target).startswith("edge"):
                        replace(node)
    """)
    assert (found.wanted, found.kinship) == ((), "")


def test_nodes_that_a_call_asked_about_can_be_jumped_to(answer):
    found = answer("""
        class Private(PassBase):
            def call(self, gm):
                for node in gm.graph.nodes:
                    if node.target != RELU:
                        continue
                    for user in node.users:
                        if isinstance(user, str):
                            replace(node)
    """)
    assert [node.name for node in found.guard.nodes] == ["sigmoid_default"]
    assert [node.name for each in found.guard.siblings for node in each.nodes] == ["neg_default"]
