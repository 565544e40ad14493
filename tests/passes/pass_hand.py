"""Small graphs written by hand, in either dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from executorch.backends.test.graph_builder import GraphBuilder
from executorch.exir.dialects._ops import ops as exir_ops
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

INT8 = (0.05, 3, -128, 127, torch.int8)
OTHER = (0.04, -6, -128, 127, torch.int8)
Q = "quantized_decomposed.quantize_per_tensor.default"
DQ = "quantized_decomposed.dequantize_per_tensor.default"
QC = "quantized_decomposed.quantize_per_channel.default"
DQC = "quantized_decomposed.dequantize_per_channel.default"


class Hand:
    """Builds a graph whose nodes are found again by a name of one's own."""

    def __init__(self, dialect: str = "edge") -> None:
        self.root: Any = exir_ops.edge if dialect == "edge" else torch.ops
        self.mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
        self.builder = GraphBuilder(fake_tensor_mode=self.mode)
        self.inputs: list[torch.Tensor] = []

    def input(self, *shape: int, dtype: torch.dtype = torch.float32, dynamic: tuple[int, ...] = ()) -> Any:
        """A new input filled with numbers that all differ; the dimensions in `dynamic` are symbolic."""
        count = torch.Size(shape).numel()
        data = torch.linspace(-2, 2, count) if dtype.is_floating_point else torch.arange(count) - count // 2
        return self.given(data.to(dtype).view(shape), dynamic)

    def given(self, tensor: torch.Tensor, dynamic: tuple[int, ...] = ()) -> Any:
        """A new input with these numbers."""
        self.inputs.append(tensor)
        kinds = [DimDynamic.DYNAMIC if dim in dynamic else DimDynamic.STATIC for dim in range(tensor.dim())]
        context = StatelessSymbolicContext(dynamic_sizes=kinds) if dynamic else None
        fake = self.mode.from_tensor(tensor, static_shapes=not dynamic, symbolic_context=context)
        return self.builder.placeholder(f"in{len(self.inputs)}", fake)

    def op(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """A new node, its op named as `aten.view_copy.default`."""
        found = self.root
        for part in name.split("."):
            found = getattr(found, part)
        return self.builder.call_operator(found, args, kwargs)

    def aten(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """A new node of a data-moving op: the copy in the edge dialect, the view in the aten dialect."""
        if self.root is torch.ops:
            name = name.replace("_copy.", ".")
        return self.op(f"aten.{name}", *args, **kwargs)

    def channels(self, count: int) -> tuple[Any, Any]:
        """Scales and zero points, all different."""
        return self.given(torch.logspace(-2, -1, count)), self.given(torch.arange(count) - 1)

    def done(self, *outputs: Any) -> GraphModule:
        """The graph; what it can be run on is its `meta["inputs"]`."""
        self.builder.output(list(outputs))
        module = self.builder.get_graph_module()
        module.meta["inputs"] = tuple(self.inputs)
        return module


def literal(calls: Callable[[torch.Tensor], list[tuple[Any, ...]]]) -> GraphModule:
    """A chain of ops that begins at tensors written into the call; `...` stands for the op before."""
    graph = torch.fx.Graph()
    node: Any = None
    for name, *args in calls(torch.linspace(-1, 1, 4)):
        namespace, op, overload = name.split(".")
        target = getattr(getattr(getattr(torch.ops, namespace), op), overload)
        node = graph.call_function(target, tuple(node if each is ... else each for each in args))
    graph.output((node,))
    return GraphModule(torch.nn.Module(), graph)


def names(module: GraphModule) -> list[str]:
    """The ops of a graph in order, short: `view`, `quantize`, `dequantize_per_channel`."""
    from qdqviz.passes.builtin.ops import op_name

    found = [op_name(node) for node in module.graph.nodes if node.op == "call_function"]
    short = [name.split(".")[1].removesuffix("_copy").removesuffix("_per_tensor") for name in found]
    return [name or "getitem" for name in short]


def find(module: GraphModule, op: str, index: int = 0) -> Node:
    """The n-th node whose op's name contains a text."""
    from qdqviz.passes.builtin.ops import op_name

    return [node for node in module.graph.nodes if op in op_name(node)][index]
