"""One rewrite is one node's worth of change: how many there are, for passes and samples counted by hand.

Each number was checked against the pass and the sample; the last column says what was counted.
"""

import typing

import pytest
import typing_extensions

if not hasattr(typing, "override"):
    typing.override = typing_extensions.override

import executorch.backends.cadence.aot.ops_registrations  # noqa: F401
from executorch.backends.cadence.aot import fuse_ops, remove_ops, reorder_ops, replace_ops

from qdqviz.record.api import record

TABLE = [
    (
        "encoder",
        reorder_ops.SinkOpsCloserToUsePass,
        16,
        "dequantizes with one reader that is not the next node",
    ),
    ("encoder", reorder_ops.HoistOpsCloserToDefPass, 0, "every quantize stands right below its input"),
    (
        "encoder",
        reorder_ops.AdvanceQuantizeOpAboveDefChainPass,
        15,
        "views, permutes and expands crossed, one each",
    ),
    ("encoder", reorder_ops.PostponeDequantizeOpBelowUseChainPass, 25, "as many views, permutes and expands"),
    ("encoder", remove_ops.RemoveNopExpandOpPass, 4, "expands to the shape that they have"),
    ("encoder", remove_ops.RemoveCloneOpsTransformImported, 1, "one _clone_dim_order"),
    (
        "encoder",
        remove_ops.RemoveBranchedQuantDequant,
        2,
        "quantizes whose readers all dequantize: 3 and 2 readers",
    ),
    ("encoder", replace_ops.ReplacePermuteWithTransposePass, 11, "permutes that swap two dimensions"),
    ("encoder", replace_ops.ReplacePT2QuantWithCadenceQuantPass, 22, "quantize_per_tensor nodes"),
    ("encoder", replace_ops.ReplacePT2DequantWithCadenceDequantPass, 26, "dequantize_per_tensor nodes"),
    ("convnet", reorder_ops.AdvanceQuantizeOpAboveDefChainPass, 1, "the view in front of the linear"),
    ("convnet", replace_ops.ReplaceAtenConvolutionWithCadenceConvolutionPass, 3, "convolutions"),
    ("convnet", replace_ops.ReplacePT2QuantWithCadenceQuantPass, 7, "quantize_per_tensor nodes"),
    ("convnet", remove_ops.RemoveBranchedQuantDequant, 1, "the residual's quantize with two readers"),
    ("slices", reorder_ops.SinkOpsCloserToUsePass, 4, "each dequantize moves down to the output"),
    ("slices", fuse_ops.FuseQuantDequantToRequantizePass, 4, "quantize and dequantize of each slice"),
    ("slices", replace_ops.MakeSliceAndCatDimOutermostPass, 4, "slices along the inner dimension"),
    ("slices", reorder_ops.AdvanceQuantizeOpAboveDefInBranchPass, 5, "the producer, and each new dequantize"),
    ("weight_only", reorder_ops.SinkOpsCloserToUsePass, 2, "the two weights' dequantizes"),
    ("dynamic_linear", reorder_ops.PostponeDequantizeOpBelowUseChainPass, 3, "permutes of the weights"),
    ("dynamic_linear", replace_ops.ReplacePermuteWithTransposePass, 3, "permutes of the weights"),
    ("avgpool", replace_ops.ReplaceAdaptiveAvgPoolWithAtenAvgPoolPass, 1, "the pool"),
    ("avgpool", fuse_ops.FuseQuantDequantToRequantizePass, 5, "pairs of quantize and dequantize"),
    ("attention_chain", remove_ops.RemoveNopSliceOrViewOpPass, 6, "views to the shape that they have"),
    (
        "attention_chain",
        reorder_ops.PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView,
        3,
        "permute, view pairs",
    ),
]


@pytest.mark.parametrize(
    ("sample", "cls", "count", "what"), TABLE, ids=[f"{sample}-{cls.__name__}" for sample, cls, _, _ in TABLE]
)
def test_a_pass_steps_node_by_node(sample, cls, count, what, sample_program, tmp_path):
    module = sample_program(sample).exported_program().graph_module
    before = len(module.graph.nodes)
    with record(tmp_path / "t.qdqtrace") as recording:
        result = cls()(module)
    trace = recording.trace()
    assert trace.steps == count, what
    # Each belongs to an attempt on a node of its own, none to a call that no node made.
    assert all(header.focus is not None and not header.note for header in trace.headers)
    sizes = [len(trace.rewrite(header.step).changes) for header in trace.headers]
    assert max(sizes, default=0) <= 24
    kinds = [change.kind for header in trace.headers for change in trace.rewrite(header.step).changes]
    grown = kinds.count("create") - kinds.count("erase")
    assert grown == len(result.graph_module.graph.nodes) - before
