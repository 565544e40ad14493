import pytest

from qdqviz.ir.labels import label_lines, op_label, short_name, short_names, shortened
from qdqviz.ir.node import Constant, NodeState, OpInfo, SymDim, TensorSpec
from qdqviz.ir.values import Atom, ListArg, Ref

INT8 = Atom("dtype", "int8")
X = Ref(2)


def call(target, *args, spec=None, op="call_function", constant=None, **kwargs):
    return NodeState(1, b"\x80", "n", op, target, args, tuple(kwargs.items()), spec, constant=constant)


@pytest.mark.parametrize(
    ("node", "label"),
    [
        (call("edge.aten.permute_copy.default", X, ListArg((0, 2, 1))), "permute [0,2,1]"),
        (call("aten.view.default", X, ListArg((1, 16, 64))), "view [1,16,64]"),
        (call("aten.view.default", X, ListArg((1, Ref(9), Atom("sym", "2*s0")))), "view [1,node9,2*s0]"),
        (call("aten.slice.Tensor", X, 1, 0, 8), "slice dim=1 0:8"),
        (call("aten.slice.Tensor", X, 1, 8, 2**63 - 1), "slice dim=1 8:"),
        (call("aten.slice.Tensor", X, 2, None, 9, 2), "slice dim=2 0:9:2"),
        (call("aten.slice.Tensor", X), "slice dim=0 0:"),
        (call("aten.transpose.int", X, -1, -2), "transpose -1 -2"),
        (call("aten.select.int", X, 0, 3), "select dim=0 index=3"),
        (call("aten.cat.default", ListArg((X, X)), 1), "cat dim=1"),
        (call("aten.mul.Tensor", X, 0.125), "mul 0.125"),
        (call("aten.add.Tensor", X, X), "add"),
        (call("aten._softmax.default", X, -1, False), "softmax dim=-1"),
        (call("operator.getitem", X, 1), "getitem [1]"),
        (call("aten.relu.default", X), "relu"),
        (call("cadence.quantized_linear.default", X), "cadence.quantized_linear"),
        (
            call(
                "aten.convolution.default",
                X,
                X,
                None,
                ListArg((2, 2)),
                ListArg((0, 0)),
                ListArg((1, 1)),
                False,
                X,
                8,
            ),
            "convolution stride=2 groups=8",
        ),
        (
            call("quantized_decomposed.quantize_per_tensor.default", X, 0.021312, -3, -128, 127, INT8),
            "quantize s=0.0213 z=-3",
        ),
        (
            call("quantized_decomposed.quantize_per_tensor.tensor", X, Ref(7), Ref(8), -128, 127, INT8),
            "quantize s=node7 z=node8",
        ),
        (
            call(
                "quantized_decomposed.dequantize_per_channel.default", X, Ref(7), Ref(8), 1, -127, 127, INT8
            ),
            "dequantize per channel axis=1",
        ),
        (
            call("cadence.requantize.per_tensor", X, 0.1, 0, 0.2, 3, INT8),
            "cadence.requantize s=0.1 z=0 → s=0.2 z=3",
        ),
        (call("x", op="placeholder"), "input"),
        (
            call("p", op="placeholder", constant=Constant("parameter", "linear.weight", "f")),
            "parameter linear.weight",
        ),
        (
            call("lowered_module_0", op="get_attr", constant=Constant("delegate", "lowered_module_0", None)),
            "delegate lowered_module_0",
        ),
        (call("output", op="output"), "output"),
        (call("permute", X, 0, 2, 1, op="call_method"), "permute [0,2,1]"),
    ],
)
def test_a_label_is_the_short_op_and_the_argument_that_matters(node, label):
    assert op_label(node, name_of=lambda node: f"node{node}") == label


def test_scales_that_constants_hold_are_shown_by_their_range():
    held = {
        7: Constant("buffer", "scale", "f", extent=(0.00112, 0.0042)),
        8: Constant("buffer", "zero_point", "g", extent=(0, 0)),
        9: Constant("buffer", "zero_point", "h", extent=(-3, 4)),
        10: Constant("buffer", "scale", "i", extent=(0.02131, 0.02131)),
    }
    channels = call(
        "quantized_decomposed.dequantize_per_channel.default", X, Ref(7), Ref(8), 1, -127, 127, INT8
    )
    assert op_label(channels, constant_of=held.get) == "dequantize axis=1 s=0.0011…0.0042"
    shifted = call("quantized_decomposed.quantize_per_channel.default", X, Ref(7), Ref(9), 0, -8, 7, INT8)
    assert op_label(shifted, constant_of=held.get) == "quantize axis=0 s=0.0011…0.0042 z=-3…4"
    one = call("quantized_decomposed.quantize_per_tensor.tensor", X, Ref(10), Ref(8), -128, 127, INT8)
    assert op_label(one, constant_of=held.get) == "quantize s=0.0213 z=0"
    computed = call("quantized_decomposed.quantize_per_tensor.tensor", X, Ref(3), Ref(4), -128, 127, INT8)
    assert op_label(computed, name_of="node{}".format, constant_of=held.get) == "quantize s=node3 z=node4"


def test_an_argument_is_found_by_its_name_in_the_schema_and_by_keyword():
    target = "aten.permute.default"
    info = OpInfo(target, ("self", "other", "dims"))
    assert op_label(call(target, X, 7, ListArg((1, 0))), {target: info}) == "permute [1,0]"
    assert op_label(call(target, X, dims=ListArg((1, 0)))) == "permute [1,0]"
    assert op_label(call("aten.sum.dim_IntList", X, ListArg((1,)))) == "sum dim=[1]"


def test_the_second_line_says_dtype_shape_and_bytes():
    view = call("aten.view.default", X, ListArg((1, 16, 64)), spec=TensorSpec("float32", (1, 16, 64)))
    assert label_lines(view) == ("view [1,16,64]", "fp32 1×16×64  4 KiB")
    unknown = call("aten.relu.default", X, spec=TensorSpec("bfloat16", (SymDim("u0", None), 4)))
    assert label_lines(unknown) == ("relu", "bf16 u0×4")
    both = call("aten.topk.default", X, spec=(TensorSpec("float32", (4,)), TensorSpec("int64", (4,))))
    assert label_lines(both) == ("topk", "(fp32 4, int64 4)  48 B")
    assert label_lines(call("aten.relu.default", X)) == ("relu",)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("aten_view_copy_default_3", "view_3"),
        ("quantized_decomposed_quantize_per_tensor_default_12", "quantize_12"),
        ("quantized_decomposed_dequantize_per_channel_default", "dequantize_per_channel"),
        ("cadence_quantized_linear_per_tensor_1", "quantized_linear_1"),
        ("b__frozen_param0", "b__frozen_param0"),
        ("dim_order_ops__clone_dim_order_default", "clone_dim_order"),
        ("_softmax_1", "softmax_1"),
        ("default", "default"),
        ("_", "_"),
        ("aten_", "aten_"),
        ("x", "x"),
    ],
)
def test_a_short_name_drops_what_every_name_has(name, short):
    assert short_name(name) == short


def test_names_that_would_read_alike_stay_whole():
    names = ["aten_view_copy_default_1", "aten_view_default_1", "aten_add_tensor"]
    assert short_names(names) == {names[0]: names[0], names[1]: names[1], names[2]: "add_tensor"}


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("aten_view_copy_default_3 into aten_addmm_default at [5, 14]", "view_3 into addmm at [5, 14]"),
        ("true_graph_0/aten_relu_default: gone.", "true_graph_0/relu: gone."),
        ("aten::view_copy on aten.view_copy.default", "aten::view_copy on aten.view_copy.default"),
        ("_assert of quantized_decomposed, __init__", "_assert of quantized_decomposed, __init__"),
    ],
)
def test_names_in_a_text_become_short_and_ops_keep_theirs(text, short):
    assert shortened([text]) == [short]


def test_of_texts_shown_together_those_names_stay_whole_that_would_read_alike():
    texts = ["aten_view_copy_default_3 gone", "aten_view_default_3 came", "aten_relu_default stays"]
    assert shortened(texts) == [*texts[:2], "relu stays"]
