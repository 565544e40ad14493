"""What recording costs: recorded against plain in one interleaved run, bytes of the trace, memory of states.

    OMP_NUM_THREADS=1 python benchmarks/bench_record.py [--rounds 7]

Prints medians. Run it on a machine that does nothing else; the ratios are of CPU time of this process.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from qdqviz.load.quiet import import_toolchain
from qdqviz.passes.importing import import_module

MODES = ("plain", "edits", "decisions")
"""Not recorded; recorded without decisions; recorded with everything on."""


def pipeline() -> list[Callable[[], Any]]:
    """17 Cadence passes: the five of the reorder list, then the fuse list."""
    package = "executorch.backends.cadence.aot"
    reorder = import_module(f"{package}.reorder_ops").CadenceReorderOpsInGraph.passes
    fuse = import_module(f"{package}.fuse_ops").CadenceFuseOpsInGraph.passes
    return [*reorder, *fuse][:17]


def run(module: Any, passes: list[Callable[[], Any]]) -> Any:
    """Run passes in order, as a pass manager does."""
    for make in passes:
        result = make()(module)
        if result is not None and result.modified:
            module = result.graph_module
    return module


def measure(program: Any, passes: list[Callable[[], Any]], mode: str, trace: Path) -> float:
    """CPU seconds of one run on a fresh copy; the copy is not counted."""
    from qdqviz.load.copying import copy_program
    from qdqviz.record.api import record

    module = copy_program(program)
    module = module.exported_program().graph_module if hasattr(module, "exported_program") else module
    gc.collect()
    began = time.process_time()
    if mode == "plain":
        run(module, passes)
    else:
        with record(trace, decisions=mode == "decisions"):
            run(module, passes)
    return time.process_time() - began


def compare(title: str, program: Any, passes: list[Callable[[], Any]], rounds: int, trace: Path) -> None:
    """Print the modes' medians and their ratios to plain, the runs interleaved."""
    first = {mode: measure(program, passes, mode, trace) for mode in MODES}
    seconds: dict[str, list[float]] = {mode: [] for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            seconds[mode].append(measure(program, passes, mode, trace))
    print(title)
    for mode in MODES:
        ratios = [mine / plain for mine, plain in zip(seconds[mode], seconds["plain"], strict=True)]
        print(
            f"  {mode:10} {statistics.median(seconds[mode]):7.3f} s   ratio {statistics.median(ratios):5.2f}"
            f"   first run {first[mode]:6.3f} s"
        )
    print(f"  trace      {os.path.getsize(trace):,} bytes")


def steps_alone(trace_path: Path) -> None:
    """Print what it takes to reach a step, in a process of its own as a viewer is, without torch."""
    subprocess.run([sys.executable, __file__, "--steps", str(trace_path)], check=True)


def steps(trace_path: Path) -> None:
    """Print what it takes to reach a step: from a trace just opened, then going to and fro."""
    from qdqviz.trace.reader import Trace

    for first in (True, False):
        began = time.perf_counter()
        trace = Trace(trace_path)
        opened = time.perf_counter() - began
        step = 1 if first else trace.steps
        began = time.perf_counter()
        trace.after(step).root.in_order()
        reached = time.perf_counter() - began
        print(f"  step {step:5}: opened in {1000 * opened:5.1f} ms, state in {1000 * reached:5.1f} ms")
        if first:
            trace.close()
    jumps = []
    for i in range(200):
        step = i * 7919 % trace.steps + 1
        began = time.perf_counter()
        trace.after(step)
        jumps.append(time.perf_counter() - began)
    print(f"  200 jumps: median {1000 * statistics.median(jumps):.2f} ms, longest {1000 * max(jumps):.1f} ms")
    decisions = sum(len(attempt.events) for item in trace.runs for attempt in trace.attempts(item.id))
    print(f"  {decisions:,} decision events")
    trace.close()


def states(nodes: int = 20_000, rewrites: int = 5_000) -> None:
    """Print memory and time of all states of a long recording held at once."""
    from rpds import HashTrieMap

    from qdqviz.ir.change import Insert, Update
    from qdqviz.ir.graph import Body, GraphState
    from qdqviz.ir.node import NodeState, TensorSpec
    from qdqviz.ir.order import between, spread
    from qdqviz.ir.values import Ref

    spec = TensorSpec("float32", (4, 64))
    keys = spread(nodes)
    chain = [
        NodeState(
            i,
            keys[i],
            f"n{i}",
            "call_function",
            "edge.aten.relu.default",
            (Ref(i - 1),) if i else (),
            (),
            spec,
        )
        for i in range(nodes)
    ]
    state = GraphState(HashTrieMap({"": Body(HashTrieMap({node.id: node for node in chain}))}))
    state.root.user_sets()
    before = _resident()
    began = time.perf_counter()
    kept = [state]
    for i in range(rewrites):
        at = (i * 7919) % (nodes - 2) + 1
        old = state.root[at]
        new = NodeState(
            nodes + i, between(state.root[at - 1].order, old.order), f"m{i}", *_call(old.args, spec)
        )
        state = state.apply_all([Insert("", new), Update("", at, "args", old.args, (Ref(new.id),))])
        kept.append(state)
    took = time.perf_counter() - began
    size = _resident() - before
    print(f"{rewrites + 1:,} states of {nodes:,} nodes: {took:.2f} s, {size / 1e6:.0f} MB")


def _resident() -> int:
    """Bytes of this process in memory (Linux); `tracemalloc` would not see the maps, which are no Python."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _call(args: Any, spec: Any) -> tuple[Any, ...]:
    return ("call_function", "edge.aten.clone.default", args, (), spec)


def in_place_passes() -> list[Callable[[], Any]]:
    """Passes that edit in place and do not retrace: built-in ones."""
    from qdqviz.passes.builtin.advance_chain import AdvanceQuantizeOpAboveDefChainPass
    from qdqviz.passes.builtin.postpone_dequantize import PostponeDequantizeOpBelowUseChainPass
    from qdqviz.passes.builtin.sink import SinkOpsCloserToUsePass

    return [SinkOpsCloserToUsePass, AdvanceQuantizeOpAboveDefChainPass, PostponeDequantizeOpBelowUseChainPass]


UPSTREAM_IN_PLACE = (
    "executorch.backends.example.example_backend_delegate_passes.permute_memory_formats_pass"
    ":PermuteMemoryFormatsPass",
    "executorch.exir.backend.canonical_partitioners.duplicate_dequant_node_pass:DuplicateDequantNodePass",
    "executorch.exir.passes.replace_edge_with_backend_pass:EdgeToBackendOpsPass",
    "executorch.exir.passes.normalize_view_copy_base_pass:NormalizeViewCopyBasePass",
    "executorch.exir.passes.propagate_device_pass:PropagateDevicePass",
    "executorch.exir.passes.remove_graph_asserts_pass:RemoveGraphAssertsPass",
    "executorch.exir.passes.remove_noop_pass:RemoveNoopPass",
    "executorch.exir.passes.remove_noop_pass:RemoveToCopyPass",
)
"""Upstream's passes that do not retrace, take 20 ms or more on 6,031 nodes, and print nothing."""


def upstream_in_place_passes() -> list[Callable[[], Any]]:
    """The passes of `UPSTREAM_IN_PLACE`."""
    named = (path.partition(":") for path in UPSTREAM_IN_PLACE)
    return [getattr(import_module(module), name) for module, _, name in named]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="counted runs of each mode")
    parser.add_argument("--steps", type=Path, help="only go to steps of this trace")
    options = parser.parse_args()
    if options.steps is not None:
        steps(options.steps)
    else:
        measure_all(options.rounds)


def measure_all(rounds: int) -> None:
    """Measure both kinds of passes, and what is left of them on disk and in memory."""
    states()  # before anything else: memory that was given back would be used again unseen
    import_toolchain()
    import_module("executorch.backends.cadence.aot.ops_registrations")
    from benchmarks.models import transformer

    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "bench.qdqtrace"
        program = transformer(layers=4)
        count = len(program.exported_program().graph.nodes)
        compare(f"17 Cadence passes that retrace, {count} nodes", program, pipeline(), rounds, trace)
        steps_alone(trace)
        big = transformer(layers=44)
        count = len(big.exported_program().graph.nodes)
        compare(f"3 built-in passes that edit in place, {count} nodes", big, in_place_passes(), rounds, trace)
        steps_alone(trace)
        upstream = upstream_in_place_passes()
        title = f"{len(upstream)} of upstream's passes that edit in place, {count} nodes"
        compare(title, big, upstream, rounds, trace)  # they find nothing here: there are no steps to go to


if __name__ == "__main__":
    main()
