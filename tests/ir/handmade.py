"""Hand-made graphs for tests: small, and like what quantized models hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from qdqviz.ir.graph import Body
from qdqviz.ir.node import Constant, NodeState, TensorSpec
from qdqviz.ir.order import spread
from qdqviz.ir.values import Atom, ListArg, Ref

INT8 = Atom("dtype", "int8")
FIRST_ORDERS = spread(5000)


@dataclass
class Graph:
    """Builds a body node by node; each method returns the new node's id."""

    nodes: list[NodeState] = field(default_factory=list)

    def add(self, op: str, target: str, *args: Any, name: str, spec: Any = None, **more: Any) -> int:
        number = len(self.nodes)
        self.nodes.append(NodeState(number, FIRST_ORDERS[number], name, op, target, args, (), spec, **more))
        return number

    def ref(self, node: int) -> Ref:
        return Ref(node)

    def input(self, name: str, *shape: int, dtype: str = "float32") -> int:
        return self.add("placeholder", name, name=name, spec=TensorSpec(dtype, shape))

    def constant(self, name: str, *shape: int, dtype: str = "float32") -> int:
        spec = TensorSpec(dtype, shape)
        return self.add(
            "placeholder", name, name=name, spec=spec, constant=Constant("parameter", name, "f", spec)
        )

    def call(self, target: str, *args: Any, name: str, shape: tuple[int, ...], dtype: str = "float32") -> int:
        return self.add("call_function", target, *args, name=name, spec=TensorSpec(dtype, shape))

    def quantize(self, source: int, scale: float, zero: int, *, name: str) -> int:
        shape = self.nodes[source].spec.shape
        target = "quantized_decomposed.quantize_per_tensor.default"
        return self.call(
            target, Ref(source), scale, zero, -128, 127, INT8, name=name, shape=shape, dtype="int8"
        )

    def dequantize(self, source: int, scale: float, zero: int, *, name: str) -> int:
        shape = self.nodes[source].spec.shape
        target = "quantized_decomposed.dequantize_per_tensor.default"
        return self.call(target, Ref(source), scale, zero, -128, 127, INT8, name=name, shape=shape)

    def permute(self, source: int, *dims: int, name: str) -> int:
        node = self.nodes[source]
        shape = tuple(node.spec.shape[dim] for dim in dims)
        target = "edge.aten.permute_copy.default"
        return self.call(target, Ref(source), ListArg(dims), name=name, shape=shape, dtype=node.spec.dtype)

    def view(self, source: int, *shape: int, name: str) -> int:
        dtype = self.nodes[source].spec.dtype
        return self.call(
            "edge.aten.view_copy.default", Ref(source), ListArg(shape), name=name, shape=shape, dtype=dtype
        )

    def slice(self, source: int, dim: int, start: int, stop: int, *, name: str) -> int:
        node = self.nodes[source]
        shape = (*node.spec.shape[:dim], stop - start, *node.spec.shape[dim + 1 :])
        target = "edge.aten.slice_copy.Tensor"
        return self.call(target, Ref(source), dim, start, stop, name=name, shape=shape, dtype=node.spec.dtype)

    def output(self, *sources: int) -> int:
        return self.add("output", "output", (ListArg(tuple(map(Ref, sources))),), name="output")

    def body(self) -> Body:
        body = Body()
        for node in self.nodes:
            body = body.with_node(node)
        return body


def slices_graph() -> Graph:
    """One producer, two slices, each quantized by itself."""
    graph = Graph()
    x = graph.input("x", 1, 64, 16)
    p = graph.permute(x, 0, 2, 1, name="aten_permute_copy_default")
    halves = [graph.slice(p, 1, 8 * i, 8 * i + 8, name=f"aten_slice_copy_tensor_{i}") for i in range(2)]
    name = "quantized_decomposed_quantize_per_tensor_default"
    integers = [graph.quantize(half, 0.02, -3, name=f"{name}_{i}") for i, half in enumerate(halves)]
    name = "quantized_decomposed_dequantize_per_tensor_default"
    back = [graph.dequantize(q, 0.02, -3, name=f"{name}_{i}") for i, q in enumerate(integers)]
    total = graph.call(
        "edge.aten.add.Tensor", Ref(back[0]), Ref(back[1]), name="aten_add_tensor", shape=(1, 8, 64)
    )
    graph.output(total)
    return graph


def hoisted(graph: Graph, body: Body) -> Body:
    """`slices_graph` with one quantize in front of the permute instead of one behind each slice."""
    quantize = replace(
        graph.nodes[4],
        id=100,
        order=b"\0\0\0\1\x80\x80",
        name="quantize_new",
        args=(Ref(0), *graph.nodes[4].args[1:]),
    )
    quantize = replace(quantize, spec=TensorSpec("int8", (1, 64, 16)))
    body = body.with_node(quantize)
    permute = graph.nodes[1]
    spec = replace(permute.spec, dtype="int8")
    body = body.with_node(replace(permute, args=(Ref(100), permute.args[1]), spec=spec))
    for index in (2, 3):
        node = graph.nodes[index]
        body = body.with_node(replace(node, spec=replace(node.spec, dtype="int8")))
    for index in (6, 7):
        node = graph.nodes[index]
        body = body.with_node(replace(node, args=(Ref(index - 4), *node.args[1:])))
    return body.without_node(4).without_node(5)
