"""Edits of metadata around the generation of a graph's code, which reads all of it, and their short form."""

import copy

import pytest
import torch
from torch.fx import Graph, GraphModule
from torch.fx.node import Node, _NodeBase
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from qdqviz.ir.values import Atom, TextRef
from qdqviz.record.api import record
from qdqviz.record.metadata import MetadataEncoder


def chain(*functions):
    """x -> f -> g -> ... -> output, as a graph module."""
    graph = Graph()
    value = graph.placeholder("x")
    for function in functions:
        value = graph.call_function(function, (value,))
    graph.output(value)
    return GraphModule(torch.nn.Module(), graph)


def tags(module, edit, path, **options):
    """What a recording says of each rewrite: its node, and the tags of the nodes that it changed."""

    class Edits(PassBase):
        def call(self, graph_module):
            edit(graph_module)
            return PassResult(graph_module, True)

    with record(path, **options) as recording:
        Edits()(module)
    trace = recording.trace()
    return [
        (header.name, [dict(change.new).get("tag") for change in trace.rewrite(header.step).changes])
        for header in trace.headers
    ]


@pytest.mark.parametrize("decisions", [False, True])
def test_metadata_edited_after_code_was_made_is_told(tmp_path, decisions):
    def edit(module):
        node = next(node for node in module.graph.nodes if node.target is torch.sin)
        held = node.meta
        module.recompile()
        held["tag"] = 1

    found = tags(chain(torch.relu, torch.sin), edit, tmp_path / "t.qdqtrace", decisions=decisions)
    assert [changed for _, changed in found] == [[1]]


def test_what_was_edited_before_code_is_made_comes_before_what_is_edited_after(tmp_path):
    def edit(module):
        relu, sin = [node for node in module.graph.nodes if node.op == "call_function"]
        for node in (sin,):
            node.meta["tag"] = 1
        module.recompile()
        for node in (relu,):
            node.meta["tag"] = 2

    found = tags(chain(torch.relu, torch.sin), edit, tmp_path / "t.qdqtrace")
    assert found == [("sin", [1]), ("relu", [2])]


def test_a_codegen_that_edits_metadata_is_heard(tmp_path):
    def edit(module):
        def transformer(_):
            def tag(body):
                for node in module.graph.nodes:
                    if node.target is torch.relu:
                        node.meta["tag"] = 3
                return body

            return tag

        with module.graph.on_generate_code(transformer):
            module.recompile()

    found = tags(chain(torch.relu, torch.sin), edit, tmp_path / "t.qdqtrace")
    assert [changed for _, changed in found] == [[3]]


def test_reading_metadata_is_watched_again_once_code_is_made(tmp_path):
    seen = []

    def edit(module):
        before = vars(Node)["meta"]
        module.recompile()
        seen.append(vars(Node)["meta"] is before)

    assert tags(chain(torch.relu), edit, tmp_path / "t.qdqtrace") == []
    assert seen == [True]
    assert Node.meta is _NodeBase.meta


@pytest.fixture
def encoder():
    """Tells what it does not know as `seen`, functions by their text, and keeps texts in a table."""
    texts = {}
    told = MetadataEncoder(
        lambda item: f"seen {type(item).__name__}",
        lambda item: Atom("function", str(item)),
        lambda text: texts.setdefault(text, len(texts)),
    )
    told.texts = texts
    return told


def test_metadata_is_told_sorted_by_key_without_what_the_spec_says(encoder):
    meta = {"b": 1, "val": object(), "a": None, "tensor_meta": object(), 3: 2.5}
    for _ in range(2):
        assert encoder.short(meta) == (("3", 2.5), ("a", None), ("b", 1))
    assert encoder.short({"a": 1, "b": True}) == (("a", 1), ("b", True))


def test_equal_long_texts_and_module_stacks_are_kept_once(encoder):
    long = "x" * 200
    stack = {"k": ("0.attention", torch.nn.Linear), "l": ("0.norm", "LayerNorm")}
    metas = [{"nn_module_stack": copy.deepcopy(stack), "stack_trace": long} for _ in range(3)]
    metas.append({"nn_module_stack": {"k": ("0.attention", torch.nn.ReLU)}, "stack_trace": "short"})
    told = [dict(encoder.short(meta)) for meta in metas]
    assert told[0] == told[1] == told[2]
    assert encoder.texts == {"0.attention (Linear)\n0.norm (LayerNorm)": 0, long: 1, "0.attention (ReLU)": 2}
    assert told[0] == {"nn_module_stack": TextRef(0), "stack_trace": TextRef(1)}
    assert told[3] == {"nn_module_stack": TextRef(2), "stack_trace": "short"}


def test_containers_are_told_by_their_parts_up_to_eight(encoder):
    words = ("linear_1", "function.linear")
    meta = {"few": words, "none": (), "more": [1], "long": ("y" * 121,), "many": (1,) * 9}
    assert dict(encoder.short(meta)) == {
        "few": words,
        "none": (),
        "more": "seen list",
        "long": "seen tuple",
        "many": Atom("opaque", "tuple of 9"),
    }


def test_operators_and_origins_are_told_by_name(encoder):
    class Source:
        def __init__(self, name):
            self.name = name

    add = torch.ops.aten.add.Tensor
    assert encoder.short({"original_aten": add}) == (("original_aten", Atom("function", "aten.add.Tensor")),)
    for names, text in ((["a"], "a"), (list("abcd"), "a, b, c"), ([], "")):
        told = encoder.short({"from_node": list(map(Source, names))})
        assert told == (("from_node", Atom("opaque", f"from_node {text}")),)
    assert encoder.short({"from_node": "me"}) == (("from_node", "me"),)
