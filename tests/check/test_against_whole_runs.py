"""The check against the naive one: build the program around every rewrite, run it, compare outputs."""

from __future__ import annotations

import pytest
import torch

from qdqviz.check.checker import check
from qdqviz.check.operations import import_references
from qdqviz.live.materialize import materialize
from qdqviz.live.session import run
from qdqviz.passes.resolve import resolve


def outputs(session, step):
    program = materialize(session.trace.cursor(session.subject).at(step), session, step=step)
    try:
        with torch.no_grad():
            return program.module(check_guards=False)(*session.loaded.inputs)
    except Exception:  # a broken program is what is looked for
        return None


def agree(one, other):
    return len(one) == len(other) and all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-5)
        for a, b in zip(one, other, strict=True)
    )


FUSE = "FuseQuantDequantToRequantizePass"
REORDER = "executorch.backends.cadence.aot.reorder_ops:"


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("dynamic_linear", "cadence-reorder"),
        ("slices", f"{REORDER}AdvanceQuantizeOpAboveDefInBranchPass"),
        ("slices", FUSE),
        ("avgpool", f"SinkOpsCloserToUsePass,{FUSE}"),
        ("attention_chain", f"AdvanceQuantizeOpAboveDefChainPass,{FUSE}"),
    ],
)
def test_up_to_the_first_that_is_not_equal_each_verdict_is_that_of_whole_runs(
    name, passes, tmp_path, loaded_sample
):
    """Later ones work on the values that their users expect, where whole runs have wrong ones."""
    session = run(loaded_sample(name), resolve(passes), tmp_path / "t.qdqtrace")
    import_references(session.store.targets)
    verdicts = {each.step: each.judgement.verdict for each in check(session).rewrites}
    first = next(step for step in sorted(verdicts) if verdicts[step] != "equal")
    before = outputs(session, 0)
    for step in range(1, first + 1):
        after = outputs(session, step)
        assert (after is None) == (verdicts[step] == "fails")
        assert agree(before, after) == (verdicts[step] == "equal"), step
        before = after
