"""The source in the terminal shows beside a test that is a call what the call asked about."""

from __future__ import annotations

import pytest

from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.asking import Question

SOURCE = """
        class Rule:
            def fits(self, node):
                return False

        class Private(PassBase):
            def call(self, gm):
                allowed, rule = {torch.ops.aten.tanh.default: 1}, Rule()
                for node in gm.graph.nodes:
                    if node.target != RELU or hasattr(rule, "never"):
                        continue
                    if not node.name.startswith("relu"):
                        continue
                    if allowed.get(node.target):
                        replace(node)
"""


@pytest.fixture
def notes(private_trace):
    """The notes beside each line of code, of the attempt on the relu."""
    trace = private_trace(SOURCE)
    node = next(node for node in trace.first(0).root if node.name == "relu_default")
    answer = next(iter(Archive(trace).answer(Question(0, node.id, ""), lambda: True)))
    return {line.text.strip(): line.notes for line in answer.listings[0].lines}


def test_the_operands_of_a_call_stand_beside_its_line_with_what_they_are(notes):
    assert notes['if not node.name.startswith("relu"):'][0] == "node.name = 'relu_default'"
    assert notes["if allowed.get(node.target):"][:2] == (
        "allowed = {aten.tanh.default: 1}",
        "node.target = aten.relu.default",
    )


def test_an_object_of_which_only_the_type_is_known_is_no_note(notes):
    asked = notes['if node.target != RELU or hasattr(rule, "never"):']
    assert asked and not any("rule =" in note for note in asked)
