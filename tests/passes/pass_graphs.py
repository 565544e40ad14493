"""Edge graphs drawn at random: chains, fans, branches, shared q/dq, per-channel weights, symbolic batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from executorch.backends.test.graph_builder import GraphBuilder
from executorch.exir.dialects._ops import ops as exir_ops
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

AT = exir_ops.edge.aten
QD = exir_ops.edge.quantized_decomposed
BATCH = 5
"""The size that a symbolic batch has when a graph is run; no other size is 5."""

PARAMETERS = (
    (0.05, 3, -128, 127, torch.int8),
    (0.04, -6, -128, 127, torch.int8),
    (0.06, 120, 0, 255, torch.uint8),
)
"""Per-tensor parameters to draw from."""


@dataclass
class Value:
    """A value in the graph under construction."""

    proxy: Any
    """What the builder knows it as."""
    parameters: tuple[Any, ...] | None = None
    """Per-tensor parameters of an integer value."""

    used: bool = False
    """Some op reads it."""

    @property
    def tensor(self) -> torch.Tensor:
        return self.proxy.data

    @property
    def floating(self) -> bool:
        return self.tensor.is_floating_point()

    @property
    def shape(self) -> list[Any]:
        return list(self.tensor.shape)


@dataclass
class Drawn:
    """A graph and what to run it on."""

    module: torch.fx.GraphModule
    inputs: tuple[torch.Tensor, ...]


@dataclass
class Sketch:
    """Builds a graph op by op."""

    draw: Callable[[Any], Any]
    symbolic: bool
    values: list[Value] = field(default_factory=list)
    inputs: list[torch.Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        shape_env = ShapeEnv() if self.symbolic else None
        self.mode = FakeTensorMode(shape_env=shape_env, allow_non_fake_inputs=True)
        self.builder = GraphBuilder(fake_tensor_mode=self.mode)
        self.generator = torch.Generator().manual_seed(len(self.inputs))

    def placeholder(self, tensor: torch.Tensor) -> Any:
        """A new input; a dimension of the size BATCH is symbolic."""
        self.inputs.append(tensor)
        context = None
        if self.symbolic and BATCH in tensor.shape:
            sizes = [DimDynamic.DYNAMIC if size == BATCH else DimDynamic.STATIC for size in tensor.shape]
            context = StatelessSymbolicContext(dynamic_sizes=sizes)
        fake = self.mode.from_tensor(tensor, static_shapes=context is None, symbolic_context=context)
        return self.builder.placeholder(f"in{len(self.inputs)}", fake)

    def call(self, source: Value, op: Any, *args: Any, parameters: Any = None, **kwargs: Any) -> Value:
        source.used = True
        proxy = self.builder.call_operator(op, (source.proxy, *args), kwargs)
        value = Value(proxy, parameters)
        self.values.append(value)
        return value

    def randn(self, *shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=self.generator)


def static(shape: list[Any], at_least: int = 1) -> list[int]:
    return [dim for dim, size in enumerate(shape) if isinstance(size, int) and size >= at_least]


def quantize(sketch: Sketch, value: Value) -> Value:
    parameters = sketch.draw(st.sampled_from(PARAMETERS))
    return sketch.call(value, QD.quantize_per_tensor.default, *parameters, parameters=parameters)


def dequantize(sketch: Sketch, value: Value) -> Value:
    named = {"out_dtype": torch.float32} if sketch.draw(st.integers(0, 5)) == 0 else {}
    return sketch.call(value, QD.dequantize_per_tensor.default, *value.parameters, **named)


def quantize_dynamically(sketch: Sketch, value: Value) -> Value:
    chosen = sketch.call(value, QD.choose_qparams.tensor, -128, 127, 1e-5, torch.int8)
    sketch.values.remove(chosen)
    scale, zero_point = (sketch.builder.call_getitem(chosen.proxy, index) for index in range(2))
    arguments = (scale, zero_point, -128, 127, torch.int8)
    integers = sketch.call(value, QD.quantize_per_tensor.tensor, *arguments)
    return sketch.call(integers, QD.dequantize_per_tensor.tensor, *arguments)


def permute_and_view(sketch: Sketch, value: Value) -> Value:
    """A permute whose only user adds or drops a 1, or does nothing."""
    permuted = permute(sketch, value)
    shape = [size if isinstance(size, int) else -1 for size in permuted.shape]
    options = [[*shape[:place], 1, *shape[place:]] for place in range(len(shape) + 1)]
    options += 2 * [[*shape[:dim], *shape[dim + 1 :]] for dim in range(len(shape)) if shape[dim] == 1]
    return carried(sketch, permuted, AT.view_copy.default, sketch.draw(st.sampled_from([*options, shape])))


def channels(sketch: Sketch, size: int) -> tuple[Any, Any]:
    scales = sketch.placeholder(0.03 + 0.02 * torch.rand(size, generator=sketch.generator))
    zero_points = sketch.placeholder(torch.arange(size) - size // 2)
    return scales, zero_points


def quantize_per_channel(sketch: Sketch, value: Value) -> Value:
    dims = static(value.shape)
    if not dims:
        return quantize(sketch, value)
    axis = sketch.draw(st.sampled_from(dims))
    scales, zero_points = channels(sketch, value.shape[axis])
    arguments = (scales, zero_points, axis, -128, 127, torch.int8)
    integers = sketch.call(value, QD.quantize_per_channel.default, *arguments)
    return sketch.call(integers, QD.dequantize_per_channel.default, *arguments)


def weight(sketch: Sketch) -> Value:
    shape = sketch.draw(st.sampled_from([(4, 3), (3, 4), (4, 4), (2, 3, 4), (1, 4)]))
    axis = sketch.draw(st.integers(0, len(shape) - 1))
    data = torch.randint(-128, 128, shape, dtype=torch.int8, generator=sketch.generator)
    integers = Value(sketch.placeholder(data))
    scales, zero_points = channels(sketch, shape[axis])
    return sketch.call(
        integers, QD.dequantize_per_channel.default, scales, zero_points, axis, -128, 127, torch.int8
    )


def move(sketch: Sketch, value: Value) -> Value:
    """One op that moves data, drawn among those that fit the value."""
    moves: list[Callable[[Sketch, Value], Value | None]] = [
        permute, permute, transpose, view, view, view, unsqueeze, squeeze, cut, cut, select, expand, clone,
    ]  # fmt: skip
    result = sketch.draw(st.sampled_from(moves))(sketch, value)
    return result if result is not None else unsqueeze(sketch, value)


def carried(sketch: Sketch, value: Value, op: Any, *args: Any, **kwargs: Any) -> Value:
    return sketch.call(value, op, *args, parameters=value.parameters, **kwargs)


def permute(sketch: Sketch, value: Value) -> Value:
    dims = sketch.draw(st.permutations(range(len(value.shape))))
    if sketch.draw(st.integers(0, 9)) == 0:
        dims = [dim - len(dims) for dim in dims]
    return carried(sketch, value, AT.permute_copy.default, list(dims))


def transpose(sketch: Sketch, value: Value) -> Value | None:
    if not value.shape:
        return None
    first, second = (sketch.draw(st.integers(0, len(value.shape) - 1)) for _ in range(2))
    return carried(sketch, value, AT.transpose_copy.int, first, second)


def unsqueeze(sketch: Sketch, value: Value) -> Value:
    return carried(sketch, value, AT.unsqueeze_copy.default, sketch.draw(st.integers(0, len(value.shape))))


def squeeze(sketch: Sketch, value: Value) -> Value | None:
    ones = [dim for dim in static(value.shape) if value.shape[dim] == 1]
    if not ones:
        return None
    return carried(sketch, value, AT.squeeze_copy.dims, [sketch.draw(st.sampled_from(ones))])


def view(sketch: Sketch, value: Value) -> Value | None:
    """Adds or drops a 1, merges two neighbours, splits a 4, or flattens."""
    shape = [size if isinstance(size, int) else -1 for size in value.shape]
    options: list[list[int]] = [[*shape[:place], 1, *shape[place:]] for place in range(len(shape) + 1)]
    options += [[*shape[:dim], *shape[dim + 1 :]] for dim in range(len(shape)) if shape[dim] == 1]
    for dim in range(len(shape) - 1):
        merged = -1 if -1 in shape[dim : dim + 2] else shape[dim] * shape[dim + 1]
        options.append([*shape[:dim], merged, *shape[dim + 2 :]])
    options += [[*shape[:dim], 2, 2, *shape[dim + 1 :]] for dim in range(len(shape)) if shape[dim] == 4]
    options.append(list(shape))
    usable = [option for option in options if option.count(-1) <= 1]
    if not usable:
        return None
    return carried(sketch, value, AT.view_copy.default, sketch.draw(st.sampled_from(usable)))


def cut(sketch: Sketch, value: Value) -> Value | None:
    dims = static(value.shape)
    if not dims:
        return None
    dim = sketch.draw(st.sampled_from(dims))
    size = value.shape[dim]
    start = sketch.draw(st.integers(0, size - 1))
    end = sketch.draw(st.integers(start + 1, size))
    return carried(sketch, value, AT.slice_copy.Tensor, dim, start, end)


def select(sketch: Sketch, value: Value) -> Value | None:
    dims = static(value.shape)
    if len(value.shape) < 2 or not dims:
        return None
    dim = sketch.draw(st.sampled_from(dims))
    return carried(sketch, value, AT.select_copy.int, dim, sketch.draw(st.integers(0, value.shape[dim] - 1)))


def expand(sketch: Sketch, value: Value) -> Value | None:
    ones = [dim for dim in static(value.shape) if value.shape[dim] == 1]
    sizes = [size if isinstance(size, int) else -1 for size in value.shape]
    if value.tensor.numel() > 60:
        return None
    if ones:
        sizes[sketch.draw(st.sampled_from(ones))] = 2
    else:
        sizes = [2, *sizes]
    return carried(sketch, value, AT.expand_copy.default, sizes)


def clone(sketch: Sketch, value: Value) -> Value:
    return carried(sketch, value, AT.clone.default)


def compute(sketch: Sketch, value: Value) -> Value:
    return sketch.call(value, sketch.draw(st.sampled_from([AT.relu.default, AT.tanh.default])))


def fan(sketch: Sketch, value: Value) -> Value:
    """Several slices of one value, some of which are quantized."""
    last = value
    for _ in range(sketch.draw(st.integers(2, 3))):
        part = (cut if sketch.draw(st.booleans()) else move)(sketch, value) or clone(sketch, value)
        last = quantize(sketch, part) if part.floating and sketch.draw(st.integers(0, 3)) else part
    return last


def join(sketch: Sketch, value: Value) -> Value:
    """A cat of two values made from one, quantized."""
    first, second = compute(sketch, value), clone(sketch, value)
    first.used = second.used = True
    if not value.shape:
        return first
    proxy = sketch.builder.call_operator(AT.cat.default, ([first.proxy, second.proxy], len(value.shape) - 1))
    joined = Value(proxy)
    sketch.values.append(joined)
    return quantize(sketch, joined)


def float_step(sketch: Sketch, value: Value) -> Value:
    steps = [move] * 6 + [quantize] * 4 + [compute, fan, fan, join, permute_and_view, permute_and_view]
    steps += [quantize_per_channel, quantize_dynamically]
    return sketch.draw(st.sampled_from(steps))(sketch, value)


def integer_step(sketch: Sketch, value: Value) -> Value:
    if value.parameters is None:
        return move(sketch, value)
    return sketch.draw(st.sampled_from([move, dequantize, dequantize, dequantize_and_slice]))(sketch, value)


def dequantize_and_slice(sketch: Sketch, value: Value) -> Value:
    """A dequantize whose users are all slices; what they feed differs."""
    whole = dequantize(sketch, value)
    last = whole
    for _ in range(sketch.draw(st.integers(2, 3))):
        last = cut(sketch, whole) or clone(sketch, whole)
        if sketch.draw(st.integers(0, 2)):
            last = quantize(sketch, last)
        elif sketch.draw(st.booleans()):
            last = compute(sketch, last)
    return last


@st.composite
def edge_graphs(draw: Callable[[Any], Any]) -> Drawn:
    """A graph of up to about twenty nodes, its values in the metadata, and inputs for it."""
    symbolic = draw(st.integers(0, 3)) == 0
    sketch = Sketch(draw, symbolic)
    shape = draw(st.sampled_from([(BATCH, 4), (BATCH, 2, 4), (1, 3, 4), (4, 4), (2, 1, 4), (3, 4, 2)]))
    start = Value(sketch.placeholder(2 * sketch.randn(*shape)))
    sketch.values.append(start)
    if draw(st.integers(0, 2)) == 0:
        weight(sketch)
    for _ in range(draw(st.integers(3, 8))):
        recent = sketch.values[-4:]
        value = draw(st.sampled_from(recent))
        (float_step if value.floating else integer_step)(sketch, value)
    for value in list(sketch.values):
        if value.floating and not value.used and draw(st.booleans()):
            quantize(sketch, value)
    outputs = [value for value in sketch.values if not value.used]
    if draw(st.integers(0, 4)) == 0:
        outputs.append(draw(st.sampled_from(sketch.values)))
    sketch.builder.output([value.proxy for value in outputs])
    return Drawn(sketch.builder.get_graph_module(), tuple(sketch.inputs))
