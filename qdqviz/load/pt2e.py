"""Small models into quantized edge programs: the PT2E steps that samples, tests and benchmarks share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, to_edge
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw the random numbers inside the block from `seed`; the global generator is left as it was found."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def quantize(
    module: torch.nn.Module, inputs: tuple[Any, ...], quantizer: Any, *, strict: bool = False
) -> torch.fx.GraphModule:
    """Quantize `module` after training, as a user of PT2E does; the observers see `inputs` once.

    Args:
        module: the float module, in evaluation mode.
        inputs: example inputs; their shapes are those of the program.
        quantizer: a PT2E quantizer that annotates the graph.
        strict: trace by dynamo; the quantizers of Cadence need the metadata that only it leaves.

    Returns:
        The converted module: aten ops, with quantize and dequantize where the quantizer wanted them.
    """
    # prepare_pt2e and convert_pt2e draw example inputs for their patterns from the global generator
    with torch.random.fork_rng(devices=[]):
        traced = torch.export.export(module, inputs, strict=strict).module(check_guards=False)
        prepared = prepare_pt2e(traced, quantizer)
        # In double precision: in single precision the last bit of a sum, and so of a scale, depends on how
        # the allocator aligned the tensors, and the same program would come out another each time.
        prepared.double()(*(_doubled(each) for each in inputs))
        return convert_pt2e(prepared.float())


def _doubled(value: Any) -> Any:
    is_real = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if is_real else value


def export(module: torch.nn.Module, inputs: tuple[Any, ...]) -> Any:
    """Export `module` for the shapes of `inputs`: an ExportedProgram in the aten dialect."""
    return torch.export.export(module, inputs, strict=False)


def quantized(
    module: torch.nn.Module, inputs: tuple[Any, ...], quantizer: Any, *, strict: bool = False
) -> Any:
    """Quantize `module` and export the result: an ExportedProgram in the aten dialect."""
    return export(quantize(module, inputs, quantizer, strict=strict), inputs)


def edge(program: Any, *, preserve_ops: Sequence[Any] = ()) -> Any:
    """Lower a program, or a dict of method name to program, to the edge dialect.

    The validity check of the dialect is off: it refuses quantized graphs that upstream's passes produce.
    """
    config = EdgeCompileConfig(_check_ir_validity=False, preserve_ops=list(preserve_ops))
    return to_edge(program, compile_config=config)
