"""A small trace written by hand."""

from __future__ import annotations

from pathlib import Path

from qdqviz.ir.change import Erase, Insert, Update
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.ir.node import NodeState, OpInfo, TensorSpec
from qdqviz.ir.order import between, spread
from qdqviz.ir.values import Atom, ListArg, Ref
from qdqviz.trace.model import PassRun, Subject, TraceInfo
from qdqviz.trace.writer import TraceWriter

QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
QPARAMS = (0.1, 0, -128, 127, Atom("dtype", "int8"))
KEYS = spread(6)


def node(identity: int, key: bytes, name: str, op: str, target: str, *args, spec=None) -> NodeState:
    return NodeState(identity, key, name, op, target, args, (), spec)


REAL, INT = TensorSpec("float32", (64, 64)), TensorSpec("int8", (64, 64))
X = node(0, KEYS[0], "x", "placeholder", "x", spec=TensorSpec("float32", (4096,)))
VIEW = node(
    1, KEYS[2], "view_2", "call_function", "aten.view_copy.default", Ref(0), ListArg((64, 64)), spec=REAL
)
QUANT = node(2, KEYS[3], "q_7", "call_function", QUANTIZE, Ref(1), *QPARAMS, spec=INT)
RELU = node(3, KEYS[4], "relu", "call_function", "aten.relu.default", Ref(2), spec=INT)
OUT = node(4, KEYS[5], "output", "output", "output", (Ref(3),))
MOVED = node(5, KEYS[1], "q_9", "call_function", QUANTIZE, Ref(0), *QPARAMS, spec=TensorSpec("int8", (4096,)))


def write_trace(path: Path, *, relu: str = "relu") -> Path:
    """One program, two passes: the first moves a quantize above a view, the second declines."""
    writer = TraceWriter(path, TraceInfo("handmade", "2026-01-01T00:00:00+00:00"))
    last = NodeState(3, KEYS[4], relu, "call_function", "aten.relu.default", (Ref(2),), (), INT)
    first = GraphState().apply_all(Insert(ROOT, each) for each in (X, VIEW, QUANT, last, OUT))
    writer.add_subject(Subject(0, "forward", "edge"), first)
    writer.add_ops([OpInfo(QUANTIZE, ("input", "scale", "zero_point", "quant_min", "quant_max", "dtype"))])
    writer.put_run(PassRun(0, 0, "AdvanceQuantize", "handmade:AdvanceQuantize", None, last_step=1))
    writer.add_rewrite(
        0,
        0,
        [
            Insert(ROOT, MOVED),
            Update(ROOT, 1, "args", VIEW.args, (Ref(5), *VIEW.args[1:])),
            Update(ROOT, 3, "args", (Ref(2),), (Ref(1),)),
            Erase(ROOT, QUANT),
        ],
        focus=2,
        name="q_7",
    )
    writer.put_run(PassRun(1, 0, "Sink", "handmade:Sink", None, first_step=1, last_step=1, declined=1))
    writer.close()
    return path


def write_moving_trace(path: Path) -> Path:
    """One pass that moves a quantize behind a node that does not read it, and does nothing else."""
    writer = TraceWriter(path, TraceInfo("handmade", "2026-01-01T00:00:00+00:00"))
    relu = node(3, KEYS[4], "relu", "call_function", "aten.relu.default", Ref(1), spec=REAL)
    output = node(4, KEYS[5], "output", "output", "output", ListArg((Ref(2), Ref(3))))
    first = GraphState().apply_all(Insert(ROOT, each) for each in (X, VIEW, QUANT, relu, output))
    writer.add_subject(Subject(0, "forward", "edge"), first)
    writer.put_run(PassRun(0, 0, "Sink", "handmade:Sink", None, last_step=1))
    later = between(relu.order, output.order)
    writer.add_rewrite(0, 0, [Update(ROOT, 2, "order", QUANT.order, later)], focus=2, name="q_7")
    writer.close()
    return path
