"""Passes of families other than Cadence: no code of ours knows them; each answer was checked by reading."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
import why_family_graphs as graphs
from why_recording import recorded, seen, texts

from qdqviz.explain.why import Explainer

BACKENDS = "executorch.backends"


@dataclass(frozen=True)
class Case:
    """A node that a pass leaves alone, and the guard that does it."""

    module: str
    """Module of the pass."""
    pass_: str
    """Its class."""
    graph: Any
    """Builds the graph."""
    node: str
    """The node."""
    chain: list[str]
    """Source text of each guard, from the outermost to the blocking one."""
    values: dict[str, str]
    """What the blocking guard saw, as far as it is telling."""
    siblings: list[str] = field(default_factory=list)
    """Tests to blame with the blocking one."""


VIEWS = f"{BACKENDS}.transforms.view_copy_to_squeeze_unsqueeze", "ViewCopyToSqueezeUnsqueezePass"
CHAINS = f"{BACKENDS}.transforms.fuse_view_copy", "FuseViewCopyTransform"
BATCH_NORM = f"{BACKENDS}.nxp.aten_passes.fuse_batch_norm_with_conv_pass", "FuseBatchNormWithConvPass"
PROMOTION = f"{BACKENDS}.vulkan._passes.insert_dtype_promotion", "InsertDtypePromotionPass"

CASES = [
    # backends.transforms
    Case(
        *VIEWS,
        graphs.view_at_dim_0,
        "aten_view_copy_default",
        ["unsqueeze_dim"],
        {"unsqueeze_dim": "0"},
        ["squeeze_dims"],
    ),
    Case(
        *VIEWS,
        graphs.view_at_dim_0,
        "aten_view_copy_default_1",
        ["unsqueeze_dim", "len(view_shape) - len(input_shape) != 1"],
        {"len(view_shape) - len(input_shape)": "0"},
    ),
    Case(
        *VIEWS,
        graphs.view_at_dim_0,
        "aten_view_copy_default_2",
        ["unsqueeze_dim", "view_shape[j] == 1"],
        {"view_shape[j]": "-1"},
    ),
    Case(
        *CHAINS,
        graphs.view_chain,
        "aten_view_copy_default",
        ["len(view_nodes_to_remove) > 0", "len(end_node.users) == 1"],
        {"len(end_node.users)": "2", "end_node.users": "[aten_relu_default, output]"},
    ),
    Case(
        *CHAINS,
        graphs.view_chain,
        "aten_view_copy_default_1",
        ["len(view_nodes_to_remove) > 0", "(end_node_user := next(iter(end_node.users))).target in ops"],
        {"(end_node_user := next(iter(end_node.users))).target": "edge.aten.mul.Tensor"},
    ),
    Case(
        f"{BACKENDS}.transforms.addmm_mm_to_linear",
        "AddmmToLinearTransform",
        graphs.view_chain,
        "aten_mul_tensor",
        ["node.target == ops.aten.addmm.default"],
        {"node.target": "edge.aten.mul.Tensor"},
        ["node.target == ops.aten.mm.default"],
    ),
    Case(
        f"{BACKENDS}.transforms.duplicate_dynamic_quant_chain",
        "DuplicateDynamicQuantChainPass",
        graphs.dynamic_chain,
        "dequantize_per_tensor_tensor",
        ["len(dq_users) <= 1"],
        {"len(dq_users)": "1", "dq_users": "[linear_default]"},
    ),
    # NXP
    Case(
        *BATCH_NORM,
        graphs.conv_with_two_readers,
        "batch_norm_default",
        ["_is_conv(bn_node.args[0])", "has_single_user", "len(node_.users) == 1"],
        {
            "len(node_.users)": "2",
            "node_.users": "[batch_norm_default, add_tensor]",
            "node_": "conv2d_default",
        },
    ),
    Case(
        *BATCH_NORM,
        graphs.conv_with_two_readers,
        "conv2d_default",
        ["_is_batch_norm(node)", "node_.target == torch.ops.aten.batch_norm.default"],
        {"node_.target": "aten.conv2d.default"},
    ),
    Case(
        f"{BACKENDS}.nxp.aten_passes.split_group_convolution",
        "SplitGroupConvolution",
        graphs.conv_then_relu,
        "conv2d_default",
        ["group_conv_convertible_into_multiple_convolutions(conv_node, groups)", "group == 1"],
        {"group": "1"},
    ),
    Case(
        f"{BACKENDS}.nxp.aten_passes.convert_div_to_mul",
        "ConvertDivToMulPass",
        graphs.division,
        "div_tensor",
        ["multiplier_node is None", "multiplier_t is None", "divisor_t is None", 'node.op != "get_attr"'],
        {"node.op": "'placeholder'", "node": "y"},
    ),
    # XNNPACK
    Case(
        f"{BACKENDS}.xnnpack._passes.fuse_activation_pass",
        "FuseActivationPass",
        graphs.add_then_relu,
        "aten_hardtanh_default",
        ["len(preceding_op.users) > 1"],
        {"len(preceding_op.users)": "2", "preceding_op": "aten_convolution_default"},
    ),
    Case(
        f"{BACKENDS}.xnnpack._passes.conv1d_unsqueeze_pass",
        "Conv1dUnsqueezePass",
        graphs.add_then_relu,
        "aten_convolution_default",
        ["len(stride) != 1"],
        {"len(stride)": "2"},
    ),
    Case(
        f"{BACKENDS}.xnnpack._passes.decompose_batch_norm",
        "DecomposeBatchNorm",
        graphs.add_then_relu,
        "aten_convolution_default",
        ["node.target in self.BATCH_NORM_OPS"],
        {"node.target": "edge.aten.convolution.default"},
    ),
    # Vulkan
    Case(
        *PROMOTION,
        graphs.mixed_dtypes,
        "aten_add_tensor",
        ["lhs_dtype == rhs_dtype"],
        {"lhs_dtype": "fp32", "rhs_dtype": "fp32"},
    ),
    Case(
        *PROMOTION,
        graphs.mixed_dtypes,
        "aten_sigmoid_default",
        ["node.target not in BINARY_OPS"],
        {"node.target": "edge.aten.sigmoid.default"},
    ),
    Case(
        f"{BACKENDS}.vulkan._passes.squeeze_unsqueeze_inputs",
        "SqueezeUnsqueezeInputs",
        graphs.rank_4_relu,
        "aten_relu_default",
        ["self.should_squeeze(op, input_shape)", "shape[3] > 1"],
        {"shape[3]": "4"},
        ["shape[0] == 1", "shape[1] > 1", "shape[2] > 1"],
    ),
    # exir.passes
    Case(
        "executorch.exir.passes.normalize_transpose_pass",
        "NormalizeTransposePass",
        graphs.transposed,
        "permute_default",
        ["op == torch.ops.aten.t.default"],
        {"op": "aten.permute.default"},
    ),
    Case(
        "executorch.exir.passes.scalar_to_tensor_pass",
        "ScalarToTensorPass",
        graphs.mixed_dtypes,
        "aten_add_tensor",
        ["isinstance(value, (float, int, bool))"],
        {},
    ),
    Case(
        "executorch.exir.passes.replace_view_copy_with_view_pass",
        "ReplaceViewCopyWithViewPass",
        graphs.mixed_dtypes,
        "aten_add_tensor",
        [
            "_is_view_copy(node)",
            "node.target in (torch.ops.aten.view_copy.default, ops.edge.aten.view_copy.default)",
        ],
        {"node.target": "edge.aten.add.Tensor"},
    ),
]


@cache
def explained(module: str, pass_: str, graph: Any) -> Explainer:
    # Passes of XNNPACK are made with the program; these do without.
    arguments = (None,) if ".xnnpack." in module else ()
    return Explainer(recorded(getattr(importlib.import_module(module), pass_)(*arguments), graph()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.pass_}-{case.node}")
def test_the_answer_is_the_guard_that_reading_the_pass_gives(case: Case):
    answer = explained(case.module, case.pass_, case.graph).why(case.pass_, case.node)
    assert answer.verdict == "declined"
    assert texts(answer) == case.chain
    assert seen(answer).items() >= case.values.items()
    if case.siblings:
        assert [guard.text for guard in answer.guard.siblings] == case.siblings


def test_the_cases_are_of_at_least_three_families():
    families = {case.module.split(".")[2] for case in CASES}
    assert len(CASES) >= 15 and len(families) >= 3


def test_nothing_in_the_package_names_a_pass_of_these_families():
    """One mechanism for all passes: a table of known ones would have to name them."""
    from pathlib import Path

    import qdqviz.explain

    sources = Path(next(iter(qdqviz.explain.__path__))).rglob("*.py")
    text = "".join(path.read_text("utf-8") for path in sources)
    assert [case.pass_ for case in CASES if case.pass_ in text] == []
