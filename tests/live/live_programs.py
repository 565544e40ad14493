"""Small programs and passes for tests of sessions, shared with tests/check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.pass_base import ExportedProgramPassBase, ExportedProgramPassResult
from executorch.exir.passes.constant_prop_pass import constant_prop_pass
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from qdqviz.live.session import Session, run
from qdqviz.load.programs import describe
from qdqviz.load.quiet import quiet
from qdqviz.passes.entry import ResolvedPass
from qdqviz.passes.resolve import resolve


def resolved(make: Callable[[Any], Any], name: str | None = None) -> ResolvedPass:
    """A pass as if it had been asked for by name; `make` gets the ExportedProgram or None."""
    title = name or getattr(make, "__name__", "pass")
    return ResolvedPass(title, f"tests:{title}", "graph_module", None, False, make)


def in_place(edit: Callable[[torch.fx.GraphModule], None]) -> ResolvedPass:
    """A pass that runs `edit` on the graph module, of the edit's name."""

    def call(self: Any, module: torch.fx.GraphModule) -> PassResult:
        edit(module)
        module.recompile()
        return PassResult(module, True)

    made = type(edit.__name__, (PassBase,), {"call": call})
    return resolved(lambda _: made(), edit.__name__)


def session_of(
    program: Any, inputs: Any, passes: str | Sequence[ResolvedPass], path: Path, name: str = "p"
) -> Session:
    """Run passes on a program and record them."""
    chosen = resolve(passes) if isinstance(passes, str) else list(passes)
    return run(describe(name, program, None, inputs=inputs), chosen, path / f"{name}.qdqtrace")


def edge(module: torch.nn.Module, inputs: tuple[Any, ...], **settings: Any) -> Any:
    """A module in the edge dialect, without the dialect's validity check."""
    with quiet():
        exported = torch.export.export(module.eval(), inputs, strict=False, **settings)
        return to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))


class Stateful(torch.nn.Module):
    """A convolution with batch norm, a product of constants, and a counter that every call raises."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            self.conv = torch.nn.Conv2d(3, 4, 3)
            self.norm = torch.nn.BatchNorm2d(4)
            for each in (self.norm.running_mean, self.norm.running_var, self.norm.weight, self.norm.bias):
                torch.nn.init.uniform_(each, 0.5, 2.0)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return self.norm(self.conv(x)).relu() * (self.conv.weight * 2).sum() + self.calls


def stateful() -> tuple[Any, tuple[torch.Tensor, ...]]:
    """`Stateful` in the edge dialect, with inputs."""
    inputs = (torch.randn(1, 3, 6, 6, generator=torch.Generator().manual_seed(0)),)
    return edge(Stateful(), inputs), inputs


class Branches(torch.nn.Module):
    """A condition whose branches move quantized data."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def moved(y: torch.Tensor) -> torch.Tensor:
            steps = torch.ops.quantized_decomposed.quantize_per_tensor(y, 0.1, 3, -128, 127, torch.int8)
            real = torch.ops.quantized_decomposed.dequantize_per_tensor(steps, 0.1, 3, -128, 127, torch.int8)
            return real.permute(1, 0).relu() + 1

        def plain(y: torch.Tensor) -> torch.Tensor:
            return y.permute(1, 0) * 2

        return torch.cond(x.sum() > 0, moved, plain, (x,))


def branches() -> tuple[Any, tuple[torch.Tensor, ...]]:
    """`Branches` in the edge dialect, with inputs."""
    inputs = (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)).abs(),)
    return edge(Branches(), inputs), inputs


class Batched(torch.nn.Module):
    """Quantized data of any batch size, reshaped by that size."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.1, 3, -128, 127, torch.int8)
        real = torch.ops.quantized_decomposed.dequantize_per_tensor(steps, 0.1, 3, -128, 127, torch.int8)
        return real.view(x.shape[0], 2, 3).permute(0, 2, 1).relu()


def batched() -> tuple[Any, tuple[torch.Tensor, ...]]:
    """`Batched` with a symbolic batch, in the edge dialect, with inputs."""
    inputs = (torch.randn(4, 6, generator=torch.Generator().manual_seed(0)),)
    return edge(Batched(), inputs, dynamic_shapes=({0: torch.export.Dim("batch", min=2, max=16)},)), inputs


class FoldConstants(ExportedProgramPassBase):
    """Upstream's constant propagation: placeholders disappear, and others appear."""

    def call(self, program: Any) -> Any:
        return ExportedProgramPassResult(constant_prop_pass(program), True)
