"""Traces written by hand: no torch, the same bytes of graph every time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace as replaced

from qdqviz.ir.change import Erase, Insert, Update
from qdqviz.ir.graph import Body, GraphState
from qdqviz.ir.node import Constant, NodeState, OpInfo, TensorSpec
from qdqviz.ir.order import between, spread
from qdqviz.ir.values import Atom, ListArg, Ref, map_refs
from qdqviz.trace.attempts import attempts_table
from qdqviz.trace.model import Attempt, PassError, PassRun, Subject, TraceInfo
from qdqviz.trace.reader import Trace
from qdqviz.trace.writer import TraceWriter

INT8 = Atom("dtype", "int8")
Q = "quantized_decomposed.quantize_per_tensor.default"
DQ = "quantized_decomposed.dequantize_per_tensor.default"
INFO = TraceInfo("fake", "2026-01-02T03:04:05+00:00", (("python", "3.11.7"), ("executorch", "1.4.1")))
OPS = (
    OpInfo(Q, ("input", "scale", "zero_point", "quant_min", "quant_max", "dtype")),
    OpInfo(DQ, ("input", "scale", "zero_point", "quant_min", "quant_max", "dtype", "out_dtype")),
    OpInfo("edge.aten.permute_copy.default", ("input", "dims")),
    OpInfo("edge.aten.slice_copy.Tensor", ("input", "dim", "start", "end", "step"), (("step", 1),)),
    OpInfo("edge.aten.add.Tensor", ("self", "other", "alpha"), (("alpha", 1),)),
    OpInfo("edge.aten.view_copy.default", ("self", "size")),
)


@dataclass
class FakeGraph:
    """Nodes in execution order, known by name."""

    nodes: dict[str, NodeState] = field(default_factory=dict)

    def add(
        self, name: str, op: str, target: str, args: tuple[Any, ...], spec: Any, **more: Any
    ) -> NodeState:
        number = len(self.nodes)
        node = NodeState(number, spread(number + 1)[-1], name, op, target, args, (), spec, **more)
        self.nodes[name] = node
        return node

    def ref(self, name: str) -> Ref:
        return Ref(self.nodes[name].id)

    def input(self, name: str, *shape: int) -> None:
        self.add(name, "placeholder", name, (), TensorSpec("float32", shape))

    def parameter(self, name: str, *shape: int) -> None:
        spec = TensorSpec("float32", shape)
        self.add(name, "placeholder", name, (), spec, constant=Constant("parameter", name, "f", spec))

    def call(
        self, name: str, target: str, *args: Any, shape: tuple[int, ...], dtype: str = "float32", **more: Any
    ):
        given = tuple(self.ref(arg) if isinstance(arg, str) else arg for arg in args)
        self.add(name, "call_function", target, given, TensorSpec(dtype, shape), **more)

    def quantize(self, name: str, source: str, scale: float, zero: int) -> None:
        shape = self.nodes[source].spec.shape
        self.call(name, Q, source, scale, zero, -128, 127, INT8, shape=shape, dtype="int8")

    def dequantize(self, name: str, source: str, scale: float, zero: int) -> None:
        self.call(name, DQ, source, scale, zero, -128, 127, INT8, shape=self.nodes[source].spec.shape)

    def output(self, *names: str) -> None:
        self.add("output", "output", "output", (ListArg(tuple(map(self.ref, names))),), None)

    def state(self) -> GraphState:
        body = Body()
        for node in self.nodes.values():
            body = body.with_node(node)
        return GraphState().apply_all(Insert("", node) for node in body.in_order())


class Recorder:
    """Writes pass runs and rewrites as a recording would."""

    def __init__(self, path: Path, info: TraceInfo = INFO) -> None:
        self.writer = TraceWriter(path, info)
        self.writer.begin()
        self.writer.add_ops(OPS)
        self.runs: list[PassRun] = []
        self.next_id = 1_000_000

    def subject(self, name: str, state: GraphState, dialect: str = "edge") -> int:
        number = len({run.subject for run in self.runs}) if self.runs else 0
        self.writer.add_subject(Subject(number, name, dialect), state)
        return number

    def begin(self, name: str, *, subject: int = 0, parent: int | None = None, kind: str = "pass") -> PassRun:
        ordinal = 1 + sum(run.name == name and run.subject == subject for run in self.runs)
        run = PassRun(
            len(self.runs),
            subject,
            name,
            f"fake.passes:{name}",
            parent,
            ordinal,
            kind,
            self.writer.steps,
            done=False,
        )
        self.runs.append(run)
        self.writer.put_run(run)
        return run

    def end(
        self,
        run: PassRun,
        *,
        declined: int = 0,
        fired: int = 0,
        in_vain: int = 0,
        error: PassError | None = None,
        modified: bool | None = True,
    ) -> None:
        ends = [*["declined"] * declined, *["fired"] * (fired + in_vain)]
        attempts = [Attempt(i, run.id, "", i, f"node_{i}", end) for i, end in enumerate(ends)]
        for index in range(declined, declined + fired):
            attempts[index] = replace(attempts[index], focus=100 + index - declined, name="x", step=1)
        done = replace(
            run,
            last_step=self.writer.steps,
            seconds=0.012,
            attempts=len(attempts),
            declined=declined,
            error=error,
            modified=modified,
            done=True,
        )
        self.runs[run.id] = done
        self.writer.put_run(done, attempts_table(attempts))

    def node(self, name: str) -> NodeState:
        found = self.writer.state(0).root.named(name)
        assert found is not None, name
        return found

    def new_node(self, like: NodeState, after: NodeState, before: NodeState, **more: Any) -> NodeState:
        self.next_id += 1
        return replaced(like, id=self.next_id, order=between(after.order, before.order), **more)

    def advance(self, run: PassRun, quantize: str, over: str) -> int:
        """Move a quantize above the one node that it reads."""
        old, crossed = self.node(quantize), self.node(over)
        source = self.writer.state(0).root[crossed.input_ids()[0]]
        shape = source.spec.shape
        new = self.new_node(
            old,
            source,
            crossed,
            name=f"{quantize}_up",
            args=(Ref(source.id), *old.args[1:]),
            spec=TensorSpec("int8", shape),
        )
        changes: list[Any] = [
            Insert("", new),
            Update("", crossed.id, "args", crossed.args, (Ref(new.id), *crossed.args[1:])),
            Update("", crossed.id, "spec", crossed.spec, replaced(crossed.spec, dtype="int8")),
        ]
        for user in self.writer.state(0).root.users(old.id):
            node = self.writer.state(0).root[user]
            args = tuple(Ref(crossed.id) if arg == Ref(old.id) else arg for arg in node.args)
            changes.append(Update("", user, "args", node.args, args))
        changes.append(Erase("", old))
        return self.writer.add_rewrite(0, run.id, changes, focus=old.id, name=old.name)

    def close(self) -> Path:
        self.writer.close()
        return self.writer.path


def small_graph() -> FakeGraph:
    """Two slices, each quantized by itself, added, then a chain of data movement."""
    graph = FakeGraph()
    graph.parameter("weight", 1, 8, 64)
    graph.parameter("bias", 64)
    graph.input("x", 1, 64, 16)
    stack = ("stack_trace", 'File "model.py", line 12, in forward\n  return self.left(x) + self.right(x)')
    meta = (("debug_handle", 7), ("nn_module_stack", "left (model.Left)"), stack)
    graph.call(
        "aten_permute_copy_default",
        "edge.aten.permute_copy.default",
        "x",
        ListArg((0, 2, 1)),
        shape=(1, 16, 64),
        meta=meta,
    )
    for i in range(2):
        suffix = f"_{i}" if i else ""
        graph.call(
            f"aten_slice_copy_tensor{suffix}", "edge.aten.slice_copy.Tensor", "aten_permute_copy_default",
            1, 8 * i, 8 * i + 8, shape=(1, 8, 64), meta=meta,
        )  # fmt: skip
    for i in range(2):
        suffix = f"_{i}" if i else ""
        graph.quantize(f"quantize{suffix}", f"aten_slice_copy_tensor{suffix}", 0.02, -3)
        graph.dequantize(f"dequantize{suffix}", f"quantize{suffix}", 0.02, -3)
    graph.call("aten_mul_tensor", "edge.aten.mul.Tensor", "dequantize", "weight", shape=(1, 8, 64))
    graph.call("aten_add_tensor", "edge.aten.add.Tensor", "aten_mul_tensor", "dequantize_1", shape=(1, 8, 64))
    graph.call("aten_add_tensor_1", "edge.aten.add.Tensor", "aten_add_tensor", "bias", shape=(1, 8, 64))
    source = "aten_add_tensor_1"
    for i, shape in enumerate(((1, 512), (512, 1), (8, 64), (64, 8))):
        graph.call(
            f"aten_view_copy_default_{i}", "edge.aten.view_copy.default", source, ListArg(shape), shape=shape
        )
        source = f"aten_view_copy_default_{i}"
    graph.call("aten_relu_default", "edge.aten.relu.default", source, shape=(64, 8))
    graph.output("aten_relu_default")
    return graph


def write_small_trace(path: Path) -> Path:
    """Five passes: one that changed nothing, two inside a manager, one on metadata, one that raised."""
    recorder = Recorder(path)
    recorder.subject("forward", small_graph().state())
    idle = recorder.begin("HoistViews")
    recorder.end(idle, declined=4)
    manager = recorder.begin("PassManager", kind="manager")
    advance = recorder.begin("AdvanceQuantizeOpAboveDefChainPass", parent=manager.id)
    recorder.advance(advance, "quantize", "aten_slice_copy_tensor")
    recorder.advance(advance, "quantize_1", "aten_slice_copy_tensor_1")
    recorder.end(advance, declined=3, fired=2)
    fuse = recorder.begin("FuseCascadedViewOps", parent=manager.id)
    gone, user = recorder.node("aten_view_copy_default_1"), recorder.node("aten_view_copy_default_2")
    args = (gone.args[0], *user.args[1:])
    changes = [Update("", user.id, "args", user.args, args), Erase("", gone)]
    recorder.writer.add_rewrite(0, fuse.id, changes, focus=user.id, name=user.name)
    recorder.end(fuse, declined=2, fired=1)
    recorder.end(manager)
    port = recorder.begin("PortMetadata")
    node = recorder.node("quantize_up")
    meta = (("debug_handle", 7),)
    changes = [Update("", node.id, "meta", node.meta, meta)]
    recorder.writer.add_rewrite(0, port.id, changes, focus=node.id, name=node.name, unconditional=True)
    recorder.end(port, fired=1)
    broken = recorder.begin("RemoveRelu")
    relu, out = recorder.node("aten_relu_default"), recorder.node("output")
    changes = [Update("", out.id, "args", out.args, (ListArg((relu.args[0],)),)), Erase("", relu)]
    recorder.writer.add_rewrite(0, broken.id, changes, focus=relu.id, name=relu.name)
    error = PassError("KeyError", "'quant_min'", "passes.py", 31, "node.meta['quant_min']")
    recorder.end(broken, declined=1, fired=1, error=error)
    return recorder.close()


def write_idle_trace(path: Path, *, error: PassError | None = None) -> Path:
    """Two passes that changed nothing; the second one may have raised."""
    recorder = Recorder(path)
    recorder.subject("forward", small_graph().state())
    recorder.end(recorder.begin("HoistViews"), declined=4)
    recorder.end(recorder.begin("SinkViews"), declined=3, error=error)
    return recorder.close()


def write_replaced_trace(path: Path) -> Path:
    """One pass that returned another graph, of whose nodes nothing is known: as many, alike, named anew."""
    recorder = Recorder(path)
    graph = small_graph()
    recorder.subject("forward", graph.state())
    run = recorder.begin("Rebuild")
    old = list(graph.nodes.values())
    new = [
        replaced(
            node,
            id=node.id + 500,
            name=f"new_{node.name}",
            order=node.order + b"\x80",
            args=map_refs(node.args, lambda ref: Ref(ref + 500)),
        )
        for node in old
    ]
    changes = [*(Insert("", node) for node in new), *(Erase("", node) for node in reversed(old))]
    recorder.writer.add_rewrite(0, run.id, changes, focus=None, name="graph replaced")
    recorder.end(run)
    return recorder.close()


def write_faulty_trace(path: Path) -> Path:
    """One pass that loses metadata of a node."""
    recorder = Recorder(path)
    recorder.subject("forward", small_graph().state())
    run = recorder.begin("Forget")
    node = recorder.node("aten_slice_copy_tensor")
    changes = [
        Update("", node.id, "args", node.args, (*node.args[:2], 0, 8)),
        Update("", node.id, "meta", node.meta, node.meta[1:]),
    ]
    recorder.writer.add_rewrite(0, run.id, changes, focus=node.id, name=node.name)
    recorder.end(run, fired=1)
    return recorder.close()


HOSTILE_NAMES = (
    "[bold]red[/bold] [@click=app.quit]",
    "esc\x1b[31mape\x07",
    "two\nlines\ttab",
    "宽字符宽字符",
    "é́combining",
    "x" * 300,
    "right\u202eto left",
)


def write_hostile_trace(path: Path) -> Path:
    """Names, targets, metadata and pass names that could steer a terminal or be taken for markup."""
    recorder = Recorder(path, replace(INFO, title="[red]title\x1b[2J"))
    graph = FakeGraph()
    graph.input("x", 4, 4)
    source = "x"
    for name in HOSTILE_NAMES:
        meta = (("[b]key[/b]\x1b[5m", "[link=http://a]value\x1b]0;title\x07"), ("stack_trace", name))
        spec = TensorSpec("float32", (4, 4))
        graph.add(name, "call_function", f"my.{name}.default", (graph.ref(source), name), spec, meta=meta)
        source = name
    graph.output(source)
    recorder.subject("[i]forward\x1b[1m", graph.state())
    for name in HOSTILE_NAMES:
        run = recorder.begin(f"Pass{name}")
        node = recorder.node(name)
        changes = [Update("", node.id, "args", node.args, (*node.args[:-1], f"{name}!"))]
        recorder.writer.add_rewrite(0, run.id, changes, focus=node.id, name=name)
        error = PassError(f"Error{name}", f"[red]{name}", name, 1, name) if name == HOSTILE_NAMES[1] else None
        recorder.end(run, declined=1, fired=1, error=error)
    return recorder.close()


def large_graph(nodes: int) -> tuple[FakeGraph, list[str]]:
    """A long graph of quantized units; returns the numbers of the units."""
    graph = FakeGraph()
    graph.input("x", 1, 1024)
    orders = spread(nodes + 10)
    source, units = "x", []
    while len(graph.nodes) < nodes - 6:
        number = str(len(units))
        _add(
            graph,
            orders,
            f"view_{number}",
            "edge.aten.view_copy.default",
            (graph.ref(source), ListArg((1, 1024))),
            (1, 1024),
        )
        permuted = (graph.ref(f"view_{number}"), ListArg((1, 0)))
        _add(graph, orders, f"permute_{number}", "edge.aten.permute_copy.default", permuted, (1024, 1))
        quantized = (graph.ref(f"permute_{number}"), 0.02, -3, -128, 127, INT8)
        _add(graph, orders, f"quantize_{number}", Q, quantized, (1024, 1), "int8")
        dequantized = (graph.ref(f"quantize_{number}"), 0.02, -3, -128, 127, INT8)
        _add(graph, orders, f"dequantize_{number}", DQ, dequantized, (1024, 1))
        added = (graph.ref(f"dequantize_{number}"), graph.ref(source))
        _add(graph, orders, f"add_{number}", "edge.aten.add.Tensor", added, (1024, 1))
        source = f"add_{number}"
        units.append(number)
    _add(graph, orders, "output", "output", (ListArg((graph.ref(source),)),), None)
    return graph, units


def _add(graph, orders, name, target, args, shape, dtype="float32"):
    number = len(graph.nodes)
    op = "output" if target == "output" else "call_function"
    spec = None if shape is None else TensorSpec(dtype, shape)
    graph.nodes[name] = NodeState(number, orders[number], name, op, target, args, (), spec)


def write_large_trace(path: Path, nodes: int, rewrites: int) -> Path:
    """One pass moves quantizes above permutes, a second one swaps the operands of adds."""
    graph, units = large_graph(nodes)
    recorder = Recorder(path)
    recorder.subject("forward", graph.state())
    half = rewrites // 2
    chosen = [units[index * len(units) // half] for index in range(half)]
    advance = recorder.begin("AdvanceQuantize")
    for number in chosen:
        view, permute, old, dequantize = (
            graph.nodes[f"{kind}_{number}"] for kind in ("view", "permute", "quantize", "dequantize")
        )
        shape = TensorSpec("int8", (1, 1024))
        new = recorder.new_node(
            old, view, permute, name=f"{old.name}_up", args=(Ref(view.id), *old.args[1:]), spec=shape
        )
        changes = [
            Insert("", new),
            Update("", permute.id, "args", permute.args, (Ref(new.id), *permute.args[1:])),
            Update("", permute.id, "spec", permute.spec, TensorSpec("int8", (1024, 1))),
            Update("", dequantize.id, "args", dequantize.args, (Ref(permute.id), *dequantize.args[1:])),
            Erase("", old),
        ]
        recorder.writer.add_rewrite(0, advance.id, changes, focus=old.id, name=old.name)
    recorder.end(advance, declined=9)
    swap = recorder.begin("SwapOperands")
    for number in chosen:
        add = graph.nodes[f"add_{number}"]
        changes = [Update("", add.id, "args", add.args, add.args[::-1])]
        recorder.writer.add_rewrite(0, swap.id, changes, focus=add.id, name=add.name)
    recorder.end(swap)
    return recorder.close()


@dataclass(frozen=True)
class FakePlan:
    """A plan whose recording is written by hand, one pass at a time."""

    target: str = "fake"
    """What names the program."""
    path: Path | None = None
    """Where the trace goes."""
    fails: Exception | None = None
    """Raised instead of loading."""
    raises: Exception | None = None
    """What the last pass raises."""
    wait: Callable[[int], None] = lambda _: None
    """Called before each pass."""

    def start(self, progress: Callable[[Any], None]) -> Any:
        """Record."""
        if self.fails is not None:
            raise self.fails
        assert self.path is not None
        recorder = Recorder(self.path)
        state = small_graph().state()
        for done, suffix in enumerate(("", "_1")):
            progress(SimpleNamespace(done=done, total=2, name=f"Advance{done}", trace=self.path))
            self.wait(done)
            if not done:
                recorder.subject("forward", state)
            run = recorder.begin(f"Advance{done}")
            recorder.advance(run, f"quantize{suffix}", f"aten_slice_copy_tensor{suffix}")
            error = PassError("ValueError", "bad scale", "p.py", 3, "raise") if done and self.raises else None
            recorder.end(run, fired=1, error=error)
            recorder.writer.commit()
            recorder.writer.begin()
        recorder.close()
        return SimpleNamespace(trace=Trace(self.path), error=self.raises, store=None)


@dataclass(frozen=True)
class ReadyPlan:
    """A plan whose session is there already."""

    session: Any
    """What it comes to."""
    path: Path
    """The session's trace."""
    target: str = "ready"
    """What names the program."""
    method: str | None = None
    """The method, where there are several."""
    imports: tuple[str, ...] = ()
    """Modules to import first."""

    def start(self, progress: Callable[[Any], None]) -> Any:
        """Hand the session out."""
        return self.session
