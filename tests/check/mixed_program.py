"""One program with a bit of everything, and ways to edit it."""

from __future__ import annotations

from typing import Any

import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401  registers the ops

from qdqviz.load.quiet import quiet

AT = torch.ops.aten
QD = torch.ops.quantized_decomposed
PARAMS = (0.05, 3, -128, 127, torch.int8)
COARSE = (0.08, -4, -128, 127, torch.int8)


class Mixed(torch.nn.Module):
    """Quantization per tensor and per channel, data movement, arithmetic, a counter, four outputs."""

    def __init__(self) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(5)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("integers", torch.randint(-127, 128, (6, 6), generator=draw).to(torch.int8))
        self.register_buffer("scales", torch.logspace(-3, -1, 6))
        self.register_buffer("zero_points", torch.zeros(6, dtype=torch.int64))
        self.weight = torch.nn.Parameter(torch.randn(6, 6, generator=draw), requires_grad=False)
        self.bias = torch.nn.Parameter(torch.randn(6, generator=draw), requires_grad=False)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        self.calls.add_(1)
        channels = QD.dequantize_per_channel(
            self.integers, self.scales, self.zero_points, 0, -127, 127, torch.int8
        )
        product = x @ channels.permute(1, 0)
        straight = torch.nn.functional.linear(x, self.weight, self.bias)
        moved = QD.dequantize_per_tensor(QD.quantize_per_tensor(straight, *PARAMS), *PARAMS)
        moved = moved.permute(1, 0).unsqueeze(0)
        joined = torch.cat([x - y, (x + y * 0.5).relu()], 1)
        part = joined[:, 2:8]
        odds = torch.softmax(part, 1) * torch.nn.functional.gelu(y) / (1.0 + y * y)
        mean = (x + y).mean(1, keepdim=True)
        clamped = torch.clamp(odds + mean, -0.5, 0.75)
        rounded = QD.dequantize_per_tensor(QD.quantize_per_tensor(clamped, *COARSE), *COARSE)
        chosen = torch.where(x > y, x, y * 2.0)
        return product, moved + 1.0, rounded - chosen, (joined * 3.0).sum(1), self.calls + mean.sum()


def mixed() -> tuple[Any, tuple[torch.Tensor, ...]]:
    """`Mixed` as an ExportedProgram in the aten dialect, with inputs."""
    draw = torch.Generator().manual_seed(7)
    inputs = (torch.randn(4, 6, generator=draw), torch.randn(4, 6, generator=draw))
    with quiet():
        program = torch.export.export(Mixed().eval(), inputs, strict=False).run_decompositions({})
    return program, inputs


def unlifted() -> tuple[Any, tuple[torch.Tensor, ...]]:
    """The same graph as a plain GraphModule: what was lifted comes first in its inputs; no verifier looks."""
    program, inputs = mixed()
    held = {**program.state_dict, **program.constants}
    lifted = [held[spec.target] for spec in program.graph_signature.input_specs if spec.target is not None]
    return program.graph_module, (*lifted, *inputs)


class Editor:
    """Edits one graph; new nodes get metadata as the nodes that they stand for."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        self.module = module
        self.graph = module.graph

    def find(self, target: Any, index: int = 0) -> torch.fx.Node:
        """The node number `index` of a target."""
        return list(self.graph.find_nodes(op="call_function", target=target))[index]

    def call(self, after: torch.fx.Node, target: Any, *args: Any, **kwargs: Any) -> torch.fx.Node:
        """A new call right behind a node, with that node's metadata and a computed `val`."""
        with self.graph.inserting_after(after):
            node = self.graph.call_function(target, args, kwargs)
        node.meta = dict(after.meta)
        values = torch.fx.node.map_arg((args, kwargs), lambda arg: arg.meta["val"])
        mode = after.meta["val"].fake_mode
        with mode:
            node.meta["val"] = target(*values[0], **values[1])
        return node

    def replace(self, old: torch.fx.Node, new: torch.fx.Node) -> None:
        """Let the users of `old` use `new`, and erase `old`."""
        old.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
        self.erase(old)

    def erase(self, *nodes: torch.fx.Node) -> None:
        """Erase nodes."""
        for node in nodes:
            self.graph.erase_node(node)

    def output(self) -> torch.fx.Node:
        """The output node."""
        return self.graph.output_node()
