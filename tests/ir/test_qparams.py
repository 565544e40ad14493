import pytest

from qdqviz.ir.node import NodeState, OpInfo, TensorSpec
from qdqviz.ir.qparams import QParams, qparams
from qdqviz.ir.values import Atom, ListArg, Ref

INT8 = Atom("dtype", "int8")
FP32 = Atom("dtype", "float32")


def call(target, *args, **kwargs):
    return NodeState(
        1, b"\x80", "n", "call_function", target, args, tuple(kwargs.items()), TensorSpec("int8", (2,))
    )


def test_per_tensor_parameters_are_read_by_position_where_no_schema_is_known():
    node = call("quantized_decomposed.quantize_per_tensor.default", Ref(2), 0.02, -3, -128, 127, INT8)
    assert qparams(node) == QParams("per_tensor", 0.02, -3, None, -128, 127, "int8")


def test_parameter_names_of_the_schema_come_first():
    target = "mine.quantize_per_tensor.default"
    info = OpInfo(
        target, ("input", "dtype", "zero_point", "scale", "quant_min", "quant_max"), (("quant_max", 7),)
    )
    found = qparams(call(target, Ref(2), INT8, 5, 0.5, -8), {target: info})
    assert found == QParams("per_tensor", 0.5, 5, None, -8, 7, "int8")


def test_keyword_arguments_are_read():
    node = call(
        "quantized_decomposed.dequantize_per_tensor.default",
        Ref(2),
        scale=0.1,
        zero_point=1,
        quant_min=0,
        quant_max=255,
        dtype=Atom("dtype", "uint8"),
        out_dtype=Atom("dtype", "float16"),
    )
    assert qparams(node) == QParams("per_tensor", 0.1, 1, None, 0, 255, "uint8", "float16")


def test_per_channel_has_an_axis_and_names_the_nodes_that_hold_its_scales():
    node = call(
        "edge.quantized_decomposed.dequantize_per_channel.default", Ref(2), Ref(3), Ref(4), 1, -127, 127, INT8
    )
    found = qparams(node)
    assert found == QParams("per_channel", Ref(3), Ref(4), 1, -127, 127, "int8")
    assert found.tensor_valued


def test_per_channel_without_zero_points_has_none():
    node = call(
        "quantized_decomposed.dequantize_per_channel.default", Ref(2), Ref(3), None, 0, -127, 127, INT8
    )
    assert qparams(node).zero_point is None


def test_groups_and_tokens_are_told_apart():
    group = call(
        "quantized_decomposed.dequantize_per_channel_group.default",
        Ref(2),
        Ref(3),
        None,
        -8,
        7,
        INT8,
        32,
        FP32,
    )
    assert qparams(group) == QParams("per_channel_group", Ref(3), None, None, -8, 7, "int8", "float32", (32,))
    token = call("quantized_decomposed.quantize_per_token.default", Ref(2), Ref(3), Ref(4), -128, 127, INT8)
    assert qparams(token) == QParams("per_token", Ref(3), Ref(4), None, -128, 127, "int8")


def test_affine_has_blocks_and_tells_the_integers_from_the_real_values():
    quantize = call("torchao.quantize_affine.default", Ref(2), ListArg((1, 32)), Ref(3), Ref(4), INT8, -8, 7)
    assert qparams(quantize) == QParams("affine", Ref(3), Ref(4), None, -8, 7, "int8", None, (1, 32))
    dequantize = call(
        "torchao.dequantize_affine.default",
        Ref(2),
        ListArg((1, 32)),
        Ref(3),
        None,
        INT8,
        -8,
        7,
        Atom("dtype", "bfloat16"),
    )
    assert qparams(dequantize) == QParams("affine", Ref(3), None, None, -8, 7, "int8", "bfloat16", (1, 32))


def test_tensor_valued_scale_per_tensor_is_a_reference():
    node = call("quantized_decomposed.quantize_per_tensor.tensor", Ref(2), Ref(5), Ref(6), -128, 127, INT8)
    assert qparams(node) == QParams("per_tensor", Ref(5), Ref(6), None, -128, 127, "int8")


def test_requantize_knows_both_sides():
    node = call("cadence.requantize.per_tensor", Ref(2), 0.1, 0, 0.2, 3, INT8)
    assert qparams(node) == QParams("per_tensor", 0.2, 3, dtype="int8", source=QParams("per_tensor", 0.1, 0))


def test_choose_qparams_has_a_range_and_no_scale():
    node = call("quantized_decomposed.choose_qparams.tensor", Ref(2), -128, 127, 1e-5, INT8)
    assert qparams(node) == QParams("per_tensor", None, None, None, -128, 127, "int8")


def test_ops_on_quantized_values_tell_their_output_parameters_through_the_schema():
    target = "cadence.quantized_relu.per_tensor"
    info = OpInfo(target, ("X", "X_zero_point", "out_zero_point", "out_multiplier", "out_shift"))
    assert qparams(call(target, Ref(2), 0, 4, 1, 1), {target: info}) == QParams("per_tensor", None, 4)
    assert qparams(call(target, Ref(2), 0, 4, 1, 1)) is None


@pytest.mark.parametrize("target", ["aten.add.Tensor", "edge.aten.view_copy.default", "operator.getitem"])
def test_other_nodes_have_no_parameters(target):
    assert qparams(call(target, Ref(2), 1)) is None


def test_missing_arguments_give_empty_parameters_not_an_error():
    assert qparams(call("quantized_decomposed.quantize_per_tensor.default")) == QParams("per_tensor")
