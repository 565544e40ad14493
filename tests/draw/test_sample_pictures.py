"""Pictures and live ranges of what upstream's reordering passes really do to the samples."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

# Test modules are imported without their folder on the path; the samples are shared with other tests.
sys.path.insert(0, str(Path(__file__).parent.parent))

from sample_fixtures import loaded_sample, sample_program  # noqa: F401  fixtures

from qdqviz.draw.cells import draw_cells
from qdqviz.draw.lanes import live_lanes
from qdqviz.draw.picture import picture
from qdqviz.ir.liveness import alive_bytes, liveness
from qdqviz.ir.neighbourhood import touched
from qdqviz.ir.node import TensorSpec
from qdqviz.ir.values import DictArg, ListArg, Ref, SliceArg
from qdqviz.load.apply import apply_passes
from qdqviz.passes.resolve import resolve
from qdqviz.record.api import record

SAMPLES = ["attention_chain", "avgpool", "convnet", "dynamic_linear", "encoder", "slices", "weight_only"]


@pytest.fixture(scope="module")
def traces(sample_program, tmp_path_factory):  # noqa: F811
    """By a sample's name, its trace through `cadence-reorder`."""
    known = {}

    def get(name):
        if name not in known:
            program = sample_program(name)
            path = tmp_path_factory.mktemp("traces") / f"{name}.qdqtrace"
            with record(path, title=name) as recording:
                apply_passes(program, [each.make() for each in resolve("cadence-reorder")])
            known[name] = recording.trace()
        return known[name]

    yield get
    for trace in known.values():
        trace.close()


def states(trace):
    """(step, path, before, after, focus) of every rewrite."""
    for header in trace.headers:
        rewrite = trace.rewrite(header.step)
        bodies = (state.body(rewrite.path) for state in (trace.before(header.step), trace.after(header.step)))
        yield header.step, *bodies, touched(rewrite.changes, rewrite.path)


def with_plain_scales(body):
    """The body with scale 0.5 and zero point 0 everywhere: the real ones depend on the machine's kernels."""
    for node in body.in_order():
        if "quantize_per_tensor" in node.target and isinstance(node.args[1], float):
            body = body.with_node(replace(node, args=(node.args[0], 0.5, 0, *node.args[3:])))
    return body


@pytest.mark.parametrize("name", SAMPLES)
def test_the_first_rewrite_of_a_sample_looks_like_this(traces, engine, golden, name):
    trace = traces(name)
    _, before, after, focus = next(states(trace))
    before, after = with_plain_scales(before), with_plain_scales(after)
    shown = picture(before, after, focus, trace.ops, radius=1, engine=engine)
    golden(f"sample-{name}.txt", draw_cells(shown).plain())


@pytest.mark.parametrize("name", SAMPLES)
def test_no_surviving_node_moves_between_before_and_after(traces, engine, name):
    trace = traces(name)
    for step, before, after, focus in states(trace):
        shown = picture(before, after, focus, trace.ops, engine=engine)
        left, right = draw_cells(shown.with_view("before")), draw_cells(shown)
        both = left.rects.keys() & right.rects.keys()
        assert {node: left.rects[node] for node in both} == {node: right.rects[node] for node in both}, step
        survivors = [node for box in shown.boxes for node in box.members if node in before and node in after]
        assert all(shown.box(node).id in both for node in survivors), step
        live_lanes(before, after)


def naive_uses(value):
    if isinstance(value, Ref):
        return [value.node]
    if isinstance(value, ListArg | tuple):
        return [
            ref for item in (value.items if isinstance(value, ListArg) else value) for ref in naive_uses(item)
        ]
    if isinstance(value, DictArg):
        return [ref for pair in value.items for ref in naive_uses(pair)]
    if isinstance(value, SliceArg):
        return naive_uses((value.start, value.stop, value.step))
    return []


def naive_alive_bytes(body):
    """Bytes alive at each step, straight from the definition; only where metadata is up to date."""
    nodes = list(body.in_order())
    specs = {node.id: node.spec for node in nodes}

    def part(node):
        """(owner, index) where a node only names one output of another."""
        if node.target.endswith("getitem") and isinstance(specs.get(node.args[0].node), tuple):
            return node.args[0].node, node.args[1]
        return None

    parts = {node.id: part(node) for node in nodes if part(node) is not None}
    needed = []
    for node in nodes:
        used = set()
        if node.id not in parts:
            for ref in naive_uses(node.args) + naive_uses(tuple(value for _, value in node.kwargs)):
                spec = specs[ref]
                outputs = range(len(spec)) if isinstance(spec, tuple) else [None]
                used |= {parts[ref]} if ref in parts else {(ref, output) for output in outputs}
        else:
            used.add(parts[node.id])
        needed.append(used)
    sizes = []
    for step in range(len(nodes)):
        total = 0
        for start, node in enumerate(nodes[: step + 1]):
            is_constant = node.constant is not None and node.constant.kind != "user_input"
            if is_constant or node.op in ("output", "get_attr") or node.id in parts:
                continue
            outputs = enumerate(node.spec) if isinstance(node.spec, tuple) else [(None, node.spec)]
            for output, spec in outputs:
                if isinstance(spec, TensorSpec) and (
                    start == step or any((node.id, output) in used for used in needed[step:])
                ):
                    total += spec.nbytes or 0
        sizes.append(total)
    return sizes


@pytest.mark.parametrize("name", SAMPLES)
def test_live_bytes_of_a_sample_agree_with_the_definition(traces, name):
    trace = traces(name)
    for body in (trace.first().root, trace.final(trace.subjects[-1].id).root):
        sizes = naive_alive_bytes(body)
        live = liveness(body, "all")
        assert alive_bytes(live) == sizes
        assert (live.peak_bytes, live.byte_steps) == (max(sizes), sum(sizes))
