"""What the built-in passes do becomes steps: one for each node that they rewrite something for."""

from __future__ import annotations

from pathlib import Path

from pass_hand import INT8, Hand, Q

from qdqviz.passes.builtin.advance_branch import AdvanceQuantizeOpAboveDefInBranchPass
from qdqviz.record.api import record


def test_values_that_change_all_along_a_path_belong_to_the_rewrite_that_changes_them(tmp_path: Path):
    """The second and third op on the path change in their metadata only."""
    hand = Hand()
    x = hand.input(4)
    v = hand.op("aten.view_copy.default", x, [2, 2])
    p = hand.op("aten.permute_copy.default", v, [1, 0])
    u = hand.op("aten.unsqueeze_copy.default", p, 0)
    module = hand.done(hand.op(Q, u, *INT8))
    with record(tmp_path / "t.qdqtrace") as recording:
        AdvanceQuantizeOpAboveDefInBranchPass()(module)
    trace = recording.trace()
    (header,) = trace.headers
    assert header.name == "in1"
    after = trace.after(1).root
    moved = [node for node in after if node.op == "call_function"]
    assert [node.spec.dtype for node in moved] == ["int8"] * 4
