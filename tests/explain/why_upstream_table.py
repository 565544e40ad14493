"""Every decline that upstream's pass tests assert (`assertFalse(result.modified)`), with the right answer.

Each row was checked by reading the pass: where it leaves the node that the test is about, through which
helpers, and what the values there are. `executorch.backends.cadence.aot.tests`, executorch 1.4.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Decline:
    """One decline that an upstream test asserts."""

    module: str
    """Which of upstream's test modules: `test_{module}_ops_passes`."""
    test: str
    """`Class.method`."""
    pass_: str
    """The pass that claims `modified=False`."""
    node: str | None
    """The node that the test is about; None where the pass finds nothing to look at."""
    chain: tuple[tuple[str, str], ...] = ()
    """Function and source text of each guard, from the outermost to the blocking one."""
    siblings: frozenset[str] | set[str] = field(default_factory=frozenset)
    """Other texts that are to blame with the blocking one."""
    values: dict[str, str] = field(default_factory=dict)
    """What the blocking guard saw, as far as it is telling."""
    never: str | None = None
    """Why it looked at nothing."""


DECLINES = (
    Decline(
        "reorder",
        "TestReorderPasses.test_advance_quantize",
        "AdvanceQuantizeOpAboveDefChainPass",
        "quantized_decomposed_quantize_per_tensor_default",
        chain=(
            ("advance_quantize_op", "self.advancing_feasible(node)"),
            ("advancing_feasible", "inp_overloadpkt not in trivially_quantizable_ops_overloadpkt"),
        ),
        values={"inp_overloadpkt": "None", "trivially_quantizable_ops_overloadpkt": "set of 29"},
    ),
    Decline(
        "reorder",
        "TestReorderPasses.test_permute_view_chains_neg",
        "PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView",
        "aten_permute_copy_default",
        chain=(
            ("maybe_remove_or_replace", "index != -1"),
            ("check_if_shapes_differ_in_single_dim_of_size_1", "list1[i] == 1"),
        ),
        values={"list1[i]": "3"},
    ),
    Decline(
        "reorder",
        "TestMoveSliceBeforePermutePass.test_multi_user_permute_no_change",
        "MoveSliceBeforePermutePass",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "len(permute_node.users) != 1"),),
        values={
            "len(permute_node.users)": "2",
            "permute_node.users": "[aten_slice_copy_tensor, aten_slice_copy_tensor_1]",
            "permute_node": "aten_permute_copy_default",
        },
    ),
    Decline(
        "reorder",
        "TestMoveSliceBeforePermutePass.test_no_slice_users_no_change",
        "MoveSliceBeforePermutePass",
        None,
        never="looked_for_other",
    ),
    Decline(
        "reorder",
        "TestMoveSliceBeforePermutePass.test_dim0_slice_small_reduction_not_moved",
        "MoveSliceBeforePermutePass",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "full_size <= self.STRIDED_SLICE_COST_FACTOR * sliced_size"),),
        siblings={"slice_dim == 0"},
        values={"full_size": "600", "self.STRIDED_SLICE_COST_FACTOR * sliced_size": "960"},
    ),
    Decline(
        "reorder",
        "TestMoveSliceBeforeViewPass.test_strided_outer_factor_not_moved",
        "MoveSliceBeforeViewPass",
        "aten_slice_copy_tensor",
        chain=(
            ("maybe_remove_or_replace", "derived is None"),
            ("_derive_pre_view_slice", "post_view_count == 1"),
        ),
        siblings={"pre_view_stride == post_view_stride", "step == 1"},
        values={"post_view_count": "2"},
    ),
    Decline(
        "reorder",
        "TestMoveSliceBeforeViewPass.test_block_strided_not_moved",
        "MoveSliceBeforeViewPass",
        "aten_slice_copy_tensor",
        chain=(
            ("maybe_remove_or_replace", "derived is None"),
            ("_derive_pre_view_slice", "pre_view_stride == post_view_stride"),
        ),
        siblings={"post_view_size * post_view_stride == pre_view_size * pre_view_stride"},
        values={"pre_view_stride": "1", "post_view_stride": "32"},
    ),
    Decline(
        "reorder",
        "TestMoveSliceBeforeViewPass.test_non_view_input_no_change",
        "MoveSliceBeforeViewPass",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "view_node.target != exir_ops.edge.aten.view_copy.default"),),
        values={
            "view_node.target": "'x'",
            "exir_ops.edge.aten.view_copy.default": "edge.aten.view_copy.default",
            "view_node": "x",
        },
    ),
    Decline(
        "reorder",
        "TestPropagateSlice.test_no_swap_when_multi_user",
        "PropagateSlice",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "len(parent.users) != 1"),),
        values={
            "len(parent.users)": "2",
            "parent.users": "[aten_slice_copy_tensor, output]",
            "parent": "cadence_quantize_per_tensor_default",
        },
    ),
    Decline(
        "reorder",
        "TestPropagateSlice.test_no_swap_noop_slice",
        "PropagateSlice",
        "aten_slice_copy_tensor",
        chain=(
            ("maybe_remove_or_replace", "should_swap(parent, node)"),
            ("_should_swap_elementwise", "sliced_size < full_size"),
        ),
        values={"sliced_size": "240", "full_size": "240"},
    ),
    Decline(
        "reorder",
        "TestPropagateSlice.test_unsupported_parent_not_swapped",
        "PropagateSlice",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "entry is None"),),
        values={"entry": "None"},
    ),
    Decline(
        "reorder",
        "TestPropagateSlice.test_no_swap_binary_same_shape",
        "PropagateSlice",
        "aten_slice_copy_tensor",
        chain=(
            ("maybe_remove_or_replace", "should_swap(parent, node)"),
            ("_should_swap_binary_elementwise", 'lhs.meta["val"].shape == rhs.meta["val"].shape'),
        ),
        values={'lhs.meta["val"].shape': "(4, 60, 4, 4)", 'rhs.meta["val"].shape': "(4, 60, 4, 4)"},
    ),
    Decline(
        "reorder",
        "TestSplitDequantizedCat.test_no_dequant_input_noop",
        "SplitDequantizedCatPass",
        "aten_cat_default",
        chain=(
            ("maybe_remove_or_replace", "has_dequant_input"),
            ("maybe_remove_or_replace", "get_overload_packet(inp.target) in _DEQUANT_OVERLOAD_PACKETS"),
        ),
        values={
            "get_overload_packet(inp.target)": "None",
            "inp.target": "b",
            "inp": "b",
        },
    ),
    Decline(
        "reorder",
        "TestSplitDequantizedCat.test_no_quant_output_noop",
        "SplitDequantizedCatPass",
        "aten_cat_default",
        chain=(
            ("maybe_remove_or_replace", "quant_groups"),
            ("maybe_remove_or_replace", "get_overload_packet(user.target) in _QUANT_OVERLOAD_PACKETS"),
        ),
        values={
            "get_overload_packet(user.target)": "None",
            "user.target": "output",
            "user": "output",
        },
    ),
    Decline(
        "reorder",
        "TestAdvanceQuantAboveCat.test_cat_with_multiple_users_not_advanced",
        "AdvanceQuantizeOpAboveDefChainPass",
        "quantized_decomposed_quantize_per_tensor_default",
        chain=(
            ("advance_quantize_op", "self.advancing_feasible(node)"),
            ("advancing_feasible", "inp_overloadpkt not in trivially_quantizable_ops_overloadpkt"),
        ),
        values={"inp_overloadpkt": "edge.aten.cat", "trivially_quantizable_ops_overloadpkt": "set of 29"},
    ),
    Decline(
        "fusion",
        "TestFuseMMWithAddPass.test_no_fuse_for_3d_bias",
        "FuseMMWithAdd",
        "aten_mm_default",
        chain=(("maybe_remove_or_replace", "len(bias_arg_shape) > 2"),),
        values={"len(bias_arg_shape)": "3"},
    ),
    Decline(
        "fusion",
        "TestFusionPasses.test_no_replace_quant_permute_dequant_with_requantize",
        "FuseQuantDequantToRequantizePass",
        "quantized_decomposed_quantize_per_tensor_default",
        chain=(
            ("find_and_fuse", "len(removal_candidates) == 0"),
            ("get_fuse_candidates", "self.can_fuse_for_chain(producer, user, consumer_op_packets)"),
            ("can_fuse_for_chain", "super().can_fuse_for_chain(producer, consumer, consumer_op_packets)"),
            ("can_fuse_for_chain", "get_edge_overload_packet(consumer.target) in consumer_op_packets"),
        ),
        values={
            "get_edge_overload_packet(consumer.target)": "edge.aten.permute_copy",
        },
    ),
    Decline(
        "fusion",
        "TestFusionPasses.test_fuse_mul_into_dequant_no_match",
        "FuseMulTensorIntoDequantPass",
        "aten_mul_tensor",
        chain=(
            ("maybe_remove_or_replace", "len(dequant_nodes) != 1"),
            ("maybe_remove_or_replace", "isinstance(arg.target, EdgeOpOverload)"),
        ),
        values={"isinstance(arg.target, EdgeOpOverload)": "False"},
    ),
    Decline(
        "fusion",
        "TestFuseBatchNormWithConv.test_pass_runs_without_errors",
        "FuseBatchNormWithConv",
        "aten_convolution_default",
        chain=(
            ("maybe_remove_or_replace", "self._weights_are_params(node, bn)"),
            ("_weights_are_params", 'arg.op == "get_attr"'),
        ),
        values={"arg.op": "'placeholder'"},
    ),
    Decline(
        "fusion",
        "TestFuseSliceSameDimPass.test_different_dims_no_change",
        "FuseSliceSameDimPass",
        "aten_slice_copy_tensor_1",
        chain=(("maybe_remove_or_replace", "child_dim != parent_dim"),),
        values={"child_dim": "2", "parent_dim": "1"},
    ),
    Decline(
        "fusion",
        "TestFuseSliceSameDimPass.test_step_not_one_no_change",
        "FuseSliceSameDimPass",
        "aten_slice_copy_tensor_1",
        chain=(("maybe_remove_or_replace", "parent_step != 1"),),
        values={"parent_step": "2"},
    ),
    Decline(
        "fusion",
        "TestFuseSliceSameDimPass.test_no_chain_no_change",
        "FuseSliceSameDimPass",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "parent.target != exir_ops.edge.aten.slice_copy.Tensor"),),
        values={
            "parent.target": "'x'",
            "exir_ops.edge.aten.slice_copy.Tensor": "edge.aten.slice_copy.Tensor",
            "parent": "x",
        },
    ),
    Decline(
        "remove",
        "TestRemoveOpsPasses.test_remove_nop_slice_or_view_not_modified",
        "RemoveNopSliceOrViewOpPass",
        None,
        never="looked_for_other",
    ),
    Decline(
        "remove",
        "TestRemoveOpsPasses.test_keep_cat_from_slice_copy",
        "RemoveCatFromSliceCopyPass",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "offset <= start_idx"),),
        siblings={"end_idx <= offset + cat_input_shape[cat_dim]"},
        values={"offset": "2", "start_idx": "0"},
    ),
    Decline(
        "remove",
        "TestRemoveOpsPasses.test_remove_permute_before_mean_no_permute",
        "RemovePermuteBeforeMeanPass",
        "aten_mean_dim",
        chain=(
            ("maybe_remove_or_replace", "permute_node is None"),
            ("_find_permute_through_unary_chain", "current.target not in self._UNARY_TARGETS"),
        ),
        values={
            "current.target": "'x'",
            "current": "x",
        },
    ),
    Decline(
        "remove",
        "TestRemoveOpsPasses.test_remove_permute_before_mean_multi_user",
        "RemovePermuteBeforeMeanPass",
        "aten_mean_dim",
        chain=(("maybe_remove_or_replace", "len(permute_node.users) != 1"),),
        values={
            "len(permute_node.users)": "2",
            "permute_node.users": "[aten_relu_default, aten_neg_default]",
            "permute_node": "aten_permute_copy_default",
        },
    ),
    Decline(
        "remove",
        "TestRemoveOpsPasses.test_remove_permute_before_mean_reorder_unprofitable",
        "RemovePermuteBeforeMeanPass",
        "aten_mean_dim",
        chain=(
            (
                "maybe_remove_or_replace",
                "self._is_reorder_profitable(reduction_dims, new_reduction_dims, ndim, input_shape)",
            ),
            ("_is_reorder_profitable", "reduction_ratio >= self._MIN_REDUCTION_RATIO_FOR_REORDER"),
        ),
        values={"reduction_ratio": "3", "self._MIN_REDUCTION_RATIO_FOR_REORDER": "4"},
    ),
    Decline(
        "replace",
        "TestReplaceOpsPasses.test_no_replace_addmm_with_linear",
        "ReplaceAddMMWithLinearPass",
        "aten_addmm_default",
        chain=(
            ("maybe_remove_or_replace", "fit_bias"),
            ("maybe_remove_or_replace", "beta == 1.0"),
        ),
        values={"beta": "3.0"},
    ),
    Decline(
        "replace",
        "TestReplaceOpsPasses.test_replace_squeeze_and_unsqueeze_with_view_no_modification",
        "ReplaceSqueezeAndUnsqueezeWithViewPass",
        None,
        never="looked_for_other",
    ),
    Decline(
        "replace",
        "TestReplaceOpsPasses.test_no_replace_nontrivial_quantized_conv1d_ncl",
        "ReplaceTrivialConvWithLinear",
        "cadence_quantized_conv1d_ncl_per_tensor",
        chain=(("maybe_remove_or_replace", "list(in_shape[1:]) != list(weight_shape[1:])"),),
        values={"list(in_shape[1:])": "[3, 224]", "list(weight_shape[1:])": "[3, 4]"},
    ),
    Decline(
        "replace",
        "TestReplaceWhereWithFullArgsWithWhereScalar.test_replace_aten_where_with_cadence_broadcast_0",
        "ReplaceWhereWithFullArgsWithWhereScalar",
        "aten_where_self",
        chain=(("maybe_remove_or_replace", "cond_shape != full1_shape"),),
        values={"cond_shape": "[4, 8]", "full1_shape": "(4, 8)"},
    ),
    Decline(
        "replace",
        "TestReplaceWhereWithFullArgsWithWhereScalar.test_replace_aten_where_with_cadence_broadcast_1",
        "ReplaceWhereWithFullArgsWithWhereScalar",
        "aten_where_self",
        chain=(("maybe_remove_or_replace", "cond_shape != full1_shape"),),
        values={"cond_shape": "[8]", "full1_shape": "(4, 8)"},
    ),
    Decline(
        "replace",
        "TestReplaceWhereWithFullArgsWithWhereScalar.test_replace_aten_where_with_cadence_broadcast_2",
        "ReplaceWhereWithFullArgsWithWhereScalar",
        "aten_where_self",
        chain=(("maybe_remove_or_replace", "cond_shape != full1_shape"),),
        values={"cond_shape": "[4, 8]", "full1_shape": "(8,)"},
    ),
    Decline(
        "replace",
        "TestReplaceIm2rowWithViewPass.test_no_replacement_for_conv",
        "ReplaceIm2RowWithViewPass",
        "cadence_im2row_default",
        chain=(("maybe_remove_or_replace", "math.prod(output_shape[1:-1]) != 1"),),
        values={"math.prod(output_shape[1:-1])": "49729"},
    ),
    Decline(
        "replace",
        "TestReplaceIm2rowWithViewPass.test_no_replace_for_dilation",
        "ReplaceIm2RowWithViewPass",
        "cadence_im2row_default",
        chain=(
            ("maybe_remove_or_replace", "any(d != 1 for d in dilation)"),
            ("maybe_remove_or_replace", "d != 1"),
        ),
        values={"d": "2"},
    ),
    Decline(
        "replace",
        "TestReplaceIm2rowWithViewPass.test_no_replace_for_channel_last",
        "ReplaceIm2RowWithViewPass",
        "cadence_im2row_default",
        chain=(("maybe_remove_or_replace", "channel_last"),),
        values={"channel_last": "True"},
    ),
    Decline(
        "replace",
        "TestReplaceConvWithChannelLastConvPass.test_slice_no_transpose_if_already_outermost",
        "MakeSliceAndCatDimOutermostPass",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "dim == 0"),),
        values={"dim": "0"},
    ),
    Decline(
        "replace",
        "TestReplaceConvWithChannelLastConvPass.test_slice_no_transpose_if_outermost_dimensions_are_one",
        "MakeSliceAndCatDimOutermostPass",
        "aten_slice_copy_tensor",
        chain=(("maybe_remove_or_replace", "math.prod(output_shape[:dim]) == 1"),),
        values={"math.prod(output_shape[:dim])": "1"},
    ),
    Decline(
        "replace",
        "TestReplaceConvWithChannelLastConvPass.test_cat_no_transpose_if_already_outermost",
        "MakeSliceAndCatDimOutermostPass",
        "aten_cat_default",
        chain=(("maybe_remove_or_replace", "dim == 0"),),
        values={"dim": "0"},
    ),
    Decline(
        "replace",
        "TestReplaceConvWithChannelLastConvPass.test_cat_no_transpose_if_outermost_dimensions_are_one",
        "MakeSliceAndCatDimOutermostPass",
        "aten_cat_default",
        chain=(("maybe_remove_or_replace", "math.prod(output_shape[:dim]) == 1"),),
        values={"math.prod(output_shape[:dim])": "1"},
    ),
    Decline(
        "replace",
        "TestReplaceAdaptiveAvgPoolWithAtenAvgPoolPass.test_replace_adaptive_avg_pool_with_aten_avg_pool_irregular",
        "ReplaceAdaptiveAvgPoolWithAtenAvgPoolPass",
        "aten__adaptive_avg_pool2d_default",
        chain=(
            ("maybe_remove_or_replace", "all(dim_multiples)"),
            ("maybe_remove_or_replace", "(in_shape[i + 2] % output_size[i]) == 0"),
        ),
        values={"in_shape[i + 2] % output_size[i]": "2"},
    ),
    Decline(
        "replace",
        "TestReplaceLogicalNotBooleanWhereWithWherePass.test_no_replacement_without_logical_not",
        "ReplaceLogicalNotBooleanWhereWithWherePass",
        "aten_where_self",
        chain=(
            ("maybe_remove_or_replace", "logical_not_node.target != exir_ops.edge.aten.logical_not.default"),
        ),
        values={
            "logical_not_node.target": "'bool_cond'",
            "exir_ops.edge.aten.logical_not.default": "edge.aten.logical_not.default",
            "logical_not_node": "bool_cond",
        },
    ),
)
