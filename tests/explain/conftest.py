"""Graphs written as a few lines of text, and the rewrite that leads from one to the other."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from qdqviz.ir.change import Change, Erase, Insert, diff_node
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.ir.node import Constant, NodeState, SymDim, TensorSpec
from qdqviz.ir.order import between
from qdqviz.ir.values import Atom, ListArg, Ref
from qdqviz.trace.model import Rewrite

# Test modules are imported without their folder on the path; the `why_*` modules are shared between them.
sys.path.insert(0, str(Path(__file__).parent))

LINE = re.compile(
    r"(?:(?P<name>\w+) = )?(?P<target>[\w.]+)\((?P<args>.*)\)(?: : (?P<spec>\S+))?(?: # (?P<meta>.*))?"
)
DTYPES = ("int8", "uint8", "float32", "float16")


@dataclass(frozen=True)
class Before:
    """A rewrite with the states around it."""

    rewrite: Rewrite
    before: GraphState
    after: GraphState


def parse(text: str, ids: dict[str, int]) -> dict[str, NodeState]:
    """Nodes by name, from lines such as `v = aten.view.default(x, [16]) : float32[16] # tag=a`."""
    nodes: dict[str, NodeState] = {}
    for line in filter(None, map(str.strip, text.strip().splitlines())):
        found = LINE.fullmatch(line)
        assert found, line
        name = found["name"] or "output"
        call = ast.parse(f"f({found['args']})", mode="eval").body
        assert isinstance(call, ast.Call)
        op, constant, args, kwargs = "call_function", None, [], []
        if found["target"] in ("placeholder", "output"):
            op = found["target"]
        if found["target"] == "get_attr":
            op, constant = "get_attr", Constant("buffer", *[ast.literal_eval(a) for a in call.args])
            found = {**found.groupdict(), "target": constant.target}
        else:
            args = [value(each, ids) for each in call.args]
            kwargs = [(each.arg, value(each.value, ids)) for each in call.keywords]
        identity = ids.setdefault(name, len(ids))
        meta = tuple(tuple(pair.split("=")) for pair in (found["meta"] or "").split())
        nodes[name] = NodeState(
            identity,
            b"",
            name,
            op,
            found["target"],
            tuple(args),
            tuple(kwargs),
            spec(found["spec"]),
            meta,
            None,
            constant,
        )
    return nodes


def value(tree: ast.expr, ids: dict[str, int]):
    if isinstance(tree, ast.Name):
        return Atom("dtype", tree.id) if tree.id in DTYPES else Ref(ids[tree.id])
    if isinstance(tree, ast.List):
        return ListArg(tuple(value(each, ids) for each in tree.elts))
    return ast.literal_eval(tree)


def spec(text: str | None) -> TensorSpec | None:
    if text is None:
        return None
    dtype, _, sizes = text.rstrip("]").partition("[")
    dims = [size for size in sizes.split(",") if size]
    return TensorSpec(dtype, tuple(int(d) if d.isdigit() else SymDim(d, None) for d in dims))


def ordered(nodes: dict[str, NodeState], keys: dict[str, bytes]) -> dict[str, NodeState]:
    """Give every node a sort key; as many as possible keep the key that they had."""
    kept = longest_increasing([name for name in nodes if name in keys], keys)
    last: bytes | None = None
    result = {}
    names = list(nodes)
    for index, name in enumerate(names):
        following = next((keys[later] for later in names[index:] if later in kept), None)
        last = keys[name] if name in kept else between(last, following)
        result[name] = replace(nodes[name], order=last)
    return result


def longest_increasing(names: list[str], keys: dict[str, bytes]) -> list[str]:
    best: list[list[str]] = []
    for name in names:
        shorter = [chain for chain in best if keys[chain[-1]] < keys[name]]
        best.append([*max(shorter, key=len, default=[]), name])
    return max(best, key=len, default=[])


def state(nodes: dict[str, NodeState]) -> GraphState:
    return GraphState().apply_all(Insert(ROOT, node) for node in nodes.values())


@pytest.fixture
def rewritten():
    """rewritten(before, after, focus=None) -> the rewrite between two graphs given as text."""

    def build(before: str, after: str, *, focus: str | None = None, note: str = "") -> Before:
        ids: dict[str, int] = {}
        old = ordered(parse(before, ids), {})
        new = ordered(parse(after, ids), {name: node.order for name, node in old.items()})
        changes: list[Change] = [Insert(ROOT, node) for name, node in new.items() if name not in old]
        for name, node in new.items():
            if name in old:
                changes += diff_node(ROOT, old[name], node)
        changes += [Erase(ROOT, node) for name, node in reversed(old.items()) if name not in new]
        rewrite = Rewrite(1, 0, 0, ROOT, ids.get(focus or ""), focus or "", False, tuple(changes), note)
        return Before(rewrite, state(old), state(new))

    return build


@pytest.fixture
def private_trace(tmp_path, monkeypatch):
    """private_trace(source) -> the trace of the pass `Private` of a user's file on a small graph."""
    from why_private_pass import graph, private_module
    from why_recording import recorded

    monkeypatch.syspath_prepend(str(tmp_path))

    def call(source: str):
        module = private_module(tmp_path, "private_pass", source)
        return recorded(module.Private(), graph())

    yield call
    sys.modules.pop("private_pass", None)
    sys.modules.pop("private_predicates", None)


@pytest.fixture
def answer(private_trace):
    """answer(source, node) -> why the pass `Private` left a node of that graph alone; None for any node."""
    from qdqviz.explain.why import why

    return lambda source, node="relu_default": why(private_trace(source), "Private", node)
