"""Record passes for the tests of `why`: upstream's modules imported once, graphs built by hand."""

from __future__ import annotations

import tempfile
import typing
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typing_extensions

if not hasattr(typing, "override"):
    typing.override = typing_extensions.override  # what the executorch wheel expects of Python 3.12

import executorch.backends.cadence.aot.ops_registrations  # noqa: F401
import torch
from executorch.backends.test.graph_builder import GraphBuilder
from executorch.exir.dialects._ops import ops as exir_ops

from qdqviz.explain.answer import Why
from qdqviz.explain.why import why
from qdqviz.record.api import record
from qdqviz.trace.reader import Trace

EDGE = exir_ops.edge
ATEN = torch.ops.aten
QUANTIZE = EDGE.quantized_decomposed.quantize_per_tensor.default
DEQUANTIZE = EDGE.quantized_decomposed.dequantize_per_tensor.default
QPARAMS = (0.1, 0, -128, 127, torch.int8)


def recorded(passes: Any, module: Any, *, raising: tuple[type[Exception], ...] = ()) -> Trace:
    """The trace of a pass, or of several in order, on a graph module; `raising` are exceptions to expect."""
    path = Path(tempfile.mkdtemp(prefix="qdqviz-")) / "why.qdqtrace"
    with record(path) as recording, suppress(*raising):
        for each in passes if isinstance(passes, Sequence) else [passes]:
            result = each(module)
            module = getattr(result, "graph_module", None) or module
    return recording.trace()


def ask(pass_: Any, module: Any, node: str | None = None) -> Why:
    """Why a pass does, or does not do, something to a node of a graph module."""
    name = getattr(pass_, "__name__", type(pass_).__name__)
    return why(recorded(pass_, module), name, node)


def edge_graph(build: Callable[[Any], Any]) -> Any:
    """A graph of edge ops: `build` gets a GraphBuilder and returns the output."""
    builder = GraphBuilder()
    output = build(builder)
    builder.output(list(output) if isinstance(output, tuple) else [output])
    return builder.get_graph_module()


def aten_graph(build: Callable[[torch.fx.Graph], Any], **placeholders: torch.Tensor) -> torch.fx.GraphModule:
    """A graph of aten ops with fake values: `build` gets the graph and its placeholders."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.passes.fake_tensor_prop import FakeTensorProp

    graph = torch.fx.Graph()
    inputs = [graph.placeholder(name) for name in placeholders]
    graph.output(build(graph, *inputs))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    FakeTensorProp(module, FakeTensorMode(allow_non_fake_inputs=True)).propagate(*placeholders.values())
    return module


def texts(answer: Why) -> list[str]:
    """The source text of each guard of the chain."""
    return [guard.text for guard in answer.chain]


def seen(answer: Why) -> dict[str, str]:
    """What the blocking guard saw."""
    return {value.text: value.value for value in answer.values}
