"""What a check costs: against the model and the passes, and per rewrite as the graph grows.

Run with `python -m pytest benchmarks/bench_check.py --benchmark-enable`, or as a script for a table.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge

from qdqviz.check.checker import check
from qdqviz.live.session import Session, run
from qdqviz.load.apply import apply_passes
from qdqviz.load.copying import copy_program
from qdqviz.load.programs import describe
from qdqviz.load.quiet import quiet
from qdqviz.passes.resolve import resolve

# Benchmarks are imported without their folder on the path.
sys.path.insert(0, str(Path(__file__).parent))

PASSES = "cadence-reorder"
ROUNDS = 3
COST = 3.0
"""Times the model and the passes themselves that a check may cost (issue: at most 3)."""


@dataclass(frozen=True)
class Cost:
    """Seconds, medians of interleaved rounds."""

    nodes: int
    """Nodes of the outermost graph."""
    rewrites: int
    """Rewrites checked."""
    model: float
    """One eager run of the program."""
    passes: float
    """The passes, not recorded."""
    check: float
    """The check of the session."""

    @property
    def ratio(self) -> float:
        """The check against one run of the model plus the passes."""
        return self.check / (self.model + self.passes)

    @property
    def per_rewrite(self) -> float:
        """Seconds a rewrite."""
        return self.check / max(self.rewrites, 1)


class Chains(torch.nn.Module):
    """Many short chains of quantized data movement side by side: as many rewrites as chains, all alike."""

    def __init__(self, chains: int) -> None:
        super().__init__()
        self.chains = chains

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add one chain after the other."""
        ops = torch.ops.quantized_decomposed
        params = (0.05, 3, -128, 127, torch.int8)
        total = x
        for _ in range(self.chains):
            steps = ops.quantize_per_tensor(total, *params)
            moved = ops.dequantize_per_tensor(steps, *params).view(8, 4).permute(1, 0)
            total = total + moved.reshape(4, 8).relu()
        return total


def chains(nodes: int) -> tuple[Any, tuple[torch.Tensor, ...]]:
    """`Chains` in the edge dialect with about this many nodes, and its inputs."""
    inputs = (torch.randn(4, 8, generator=torch.Generator().manual_seed(0)),)
    with quiet():
        exported = torch.export.export(Chains(nodes // 7).eval(), inputs, strict=False)
        return to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False)), inputs


def session_of(program: Any, inputs: tuple[Any, ...], folder: Path) -> Session:
    """Record the passes on the program."""
    return run(describe("benchmark", program, None, inputs=inputs), resolve(PASSES), folder / "t.qdqtrace")


def measure(program: Any, inputs: tuple[Any, ...], folder: Path) -> Cost:
    """Time model, passes and check, in turns."""
    session = session_of(program, inputs, folder)
    module = program.exported_program().module(check_guards=False)
    times: dict[str, list[float]] = {"model": [], "passes": [], "check": []}
    for _ in range(ROUNDS):
        times["model"].append(_seconds(lambda: module(*inputs)))
        times["passes"].append(_seconds_of_passes(program))
        times["check"].append(_seconds(lambda: check(session)))
    nodes = len(session.trace.first(session.subject).root)
    medians = {name: statistics.median(found) for name, found in times.items()}
    return Cost(nodes, session.trace.steps, **medians)


def _seconds(call: Any) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _seconds_of_passes(program: Any) -> float:
    copied = copy_program(program)
    found = 0.0
    with quiet():
        for each in resolve(PASSES):
            made = each.make(copied.exported_program())
            began = time.perf_counter()
            copied = apply_passes(copied, [made], method="forward")
            found += time.perf_counter() - began
    return found


def test_checking_the_transformer_costs_little_beside_its_passes(tmp_path: Path) -> None:
    """The whole check of the transformer pipeline, against one run of the model plus the passes."""
    from models import transformer, transformer_inputs

    cost = measure(transformer(4), transformer_inputs(), tmp_path)
    assert cost.ratio <= COST, cost


def test_the_cost_of_a_rewrite_does_not_grow_with_the_graph(tmp_path: Path) -> None:
    """Ten times the nodes and rewrites cost about ten times as much, not a hundred times."""
    small, large = (measure(*chains(nodes), tmp_path) for nodes in (150, 1500))
    assert large.per_rewrite <= 3 * small.per_rewrite, (small, large)


@pytest.mark.parametrize("nodes", [150, 600, 1500])
def test_check_by_size(benchmark: Any, nodes: int, tmp_path: Path) -> None:
    """The check alone, as the graph grows."""
    session = session_of(*chains(nodes), tmp_path)
    report = benchmark(check, session)
    assert report.verdict == "equal"


def main() -> None:
    """Print a table for the transformer and for growing graphs."""
    from models import transformer, transformer_inputs

    programs = {"transformer": (transformer(4), transformer_inputs())}
    programs.update({f"chains {nodes}": chains(nodes) for nodes in (150, 600, 1500, 5000)})
    titles = ("nodes", "rewrites", "model s", "passes s", "check s", "ratio", "ms a rewrite")
    widths = (7, 9, 9, 9, 9, 7, 13)
    print(" " * 14 + "".join(title.rjust(width) for title, width in zip(titles, widths, strict=True)))
    for name, (program, inputs) in programs.items():
        with tempfile.TemporaryDirectory() as folder:
            cost = measure(program, inputs, Path(folder))
        row = f"{name:14}{cost.nodes:7}{cost.rewrites:9}{cost.model:9.3f}{cost.passes:9.3f}{cost.check:9.3f}"
        print(f"{row}{cost.ratio:7.2f}{1000 * cost.per_rewrite:13.3f}")


if __name__ == "__main__":
    main()
