"""The Why tab says of nodes that a comprehension dropped that they were filtered out, not declined."""

from __future__ import annotations

from qdqviz.explain.why import why
from qdqviz.tui.model.details.about_pass import pass_facts

SOURCE = """
        class Private(PassBase):
            def call(self, gm):
                chosen = [n for n in gm.graph.nodes if n.target == RELU and len(n.users) == 1]
                for node in chosen:
                    replace(node)
"""


def test_the_terminal_says_filtered_out_of_such_nodes(private_trace):
    found = why(private_trace(SOURCE), "Private")
    listed = "\n".join(fact.text for fact in pass_facts(found, None))
    assert "7 nodes filtered out, those that got furthest first" in listed
    assert "declined" not in listed
    chosen = "\n".join(fact.text for fact in pass_facts(found, 0))
    assert "1 node filtered out by" in chosen
