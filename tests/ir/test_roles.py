import pytest

from qdqviz.ir.node import Constant, NodeState, ScalarSpec, TensorSpec
from qdqviz.ir.roles import OpName, Role, op_name, role

TENSOR = TensorSpec("float32", (2, 3))


def node(target, op="call_function", spec=TENSOR, constant=None):
    return NodeState(1, b"\x80", "n", op, target, spec=spec, constant=constant)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("quantized_decomposed.quantize_per_tensor.default", Role.QUANTIZE),
        ("quantized_decomposed.quantize_per_tensor.tensor2", Role.QUANTIZE),
        ("edge.quantized_decomposed.quantize_per_channel_group.default", Role.QUANTIZE),
        ("quantized_decomposed.quantize_per_token.default", Role.QUANTIZE),
        ("edge.cadence.quantize_per_tensor_asym8s.default", Role.QUANTIZE),
        ("torchao.quantize_affine.default", Role.QUANTIZE),
        ("aten.fake_quantize_per_channel_affine.default", Role.QUANTIZE),
        ("edge.quantized_decomposed.dequantize_per_channel.default", Role.DEQUANTIZE),
        ("cadence.dequantize.default", Role.DEQUANTIZE),
        ("torchao.dequantize_affine.default", Role.DEQUANTIZE),
        ("cadence.requantize.per_tensor", Role.REQUANTIZE),
        ("tosa.RESCALE.default", Role.REQUANTIZE),
        ("quantized_decomposed.choose_qparams.tensor", Role.QPARAMS),
        ("quantized_decomposed._choose_qparams_per_token_asymmetric_impl.default", Role.QPARAMS),
        ("torchao.choose_qparams_affine.default", Role.QPARAMS),
        ("cadence.quantized_add.per_tensor", Role.COMPUTE),
        ("cadence.quantized_linear.default", Role.COMPUTE),
        ("et_vk.linear_qcs8w.default", Role.COMPUTE),
        ("edge.aten.view_copy.default", Role.MOVEMENT),
        ("aten.view.default", Role.MOVEMENT),
        ("aten._unsafe_view.default", Role.MOVEMENT),
        ("edge.dim_order_ops._clone_dim_order.default", Role.MOVEMENT),
        ("aten.slice.Tensor", Role.MOVEMENT),
        ("cadence.im2row.default", Role.MOVEMENT),
        ("aten.add.Tensor", Role.COMPUTE),
        ("aten._softmax.default", Role.COMPUTE),
        ("aten.transpose_.default", Role.MOVEMENT),
        ("operator.getitem", Role.GETITEM),
        ("_operator.getitem", Role.GETITEM),
        ("aten.sym_size.int", Role.SYMBOLIC),
        ("executorch_prim.mul.Scalar", Role.SYMBOLIC),
        ("aten._assert_scalar.default", Role.SYMBOLIC),
        ("higher_order.cond", Role.CONTROL),
        ("torch.ops.higher_order.while_loop", Role.CONTROL),
        ("higher_order.executorch_call_delegate", Role.DELEGATE),
        ("executorch_call_delegate", Role.DELEGATE),
    ],
)
def test_the_name_of_an_op_gives_its_role_in_every_namespace(target, expected):
    assert role(node(target)) is expected


def test_python_arithmetic_is_symbolic_on_sizes_and_computes_on_tensors():
    assert role(node("operator.mul", spec=ScalarSpec("SymInt", "2*s0"))) is Role.SYMBOLIC
    assert role(node("operator.mul")) is Role.COMPUTE


@pytest.mark.parametrize(
    ("op", "kind", "expected"),
    [
        ("placeholder", None, Role.INPUT),
        ("placeholder", "user_input", Role.INPUT),
        ("placeholder", "parameter", Role.CONSTANT),
        ("placeholder", "buffer", Role.CONSTANT),
        ("get_attr", None, Role.CONSTANT),
        ("get_attr", "tensor", Role.CONSTANT),
        ("get_attr", "graph", Role.CONTROL),
        ("get_attr", "delegate", Role.DELEGATE),
        ("output", None, Role.OUTPUT),
        ("call_module", None, Role.COMPUTE),
    ],
)
def test_what_is_no_call_has_a_role_by_its_op_and_constant(op, kind, expected):
    constant = None if kind is None else Constant(kind, "w", None)
    assert role(node("w", op=op, constant=constant)) is expected


def test_a_method_call_has_the_role_of_its_method():
    assert role(node("permute", op="call_method")) is Role.MOVEMENT
    assert role(node("relu", op="call_method")) is Role.COMPUTE


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("edge.aten.view_copy.default", OpName("aten", "view_copy", "default")),
        ("aten::view_copy.default", OpName("aten", "view_copy", "default")),
        ("torch.ops.aten.add.Tensor", OpName("aten", "add", "Tensor")),
        ("torch.nn.functional.relu", OpName("torch", "relu", "")),
        ("torch.sym.size", OpName("torch", "size", "")),
        ("operator.getitem", OpName("operator", "getitem", "")),
        ("relu", OpName("", "relu", "")),
        ("", OpName("", "", "")),
    ],
)
def test_targets_come_apart_into_namespace_base_and_overload(target, expected):
    assert op_name(target) == expected


def test_an_op_that_is_called_underscore_keeps_its_name():
    assert op_name("lib._.default").plain == "_"
    assert op_name("lib._copy.default").plain == "copy"
