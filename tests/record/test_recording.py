"""What a recording holds of passes in all their styles: nested, raising, retracing, editing in between."""

import operator

import pytest
import torch
from executorch.exir.pass_base import ExportPass
from torch.fx import Graph, GraphModule, Node, Transformer
from torch.fx.node import _NodeBase
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager

from qdqviz.errors import QdqvizError
from qdqviz.record.api import record, record_pass
from qdqviz.trace.reader import Trace
from tests.record.torch_walk import walk_state, walk_torch


def chain(*functions):
    """x -> f -> g -> ... -> output, as a graph module."""
    graph = Graph()
    value = graph.placeholder("x")
    for function in functions:
        value = graph.call_function(function, (value,))
    graph.output(value)
    return GraphModule(torch.nn.Module(), graph)


class ReluToTanh(PassBase):
    """Replaces each relu by tanh, node by node."""

    def call(self, graph_module):
        for node in graph_module.graph.nodes:
            if node.target is not torch.relu:
                continue
            with graph_module.graph.inserting_before(node):
                new = graph_module.graph.call_function(torch.tanh, node.args)
            node.replace_all_uses_with(new)
            graph_module.graph.erase_node(node)
        return PassResult(graph_module, True)


class RaisesAtSigmoid(ReluToTanh):
    """Rewrites like its parent, but refuses a sigmoid midway."""

    def call(self, graph_module):
        for node in list(graph_module.graph.nodes):
            if node.target is torch.sigmoid:
                raise ValueError("no sigmoid, please")
            if node.target is torch.relu:
                node.target = torch.tanh
        return PassResult(graph_module, True)


def recorded(tmp_path, work, **options):
    with record(tmp_path / "t.qdqtrace", **options) as recording:
        result = work()
    return recording.trace(), result


def titles(trace):
    return [(header.name, [c.kind for c in trace.rewrite(header.step).changes]) for header in trace.headers]


def test_each_node_that_a_pass_rewrites_is_one_step(tmp_path):
    module = chain(torch.relu, torch.sigmoid, torch.relu)
    trace, _ = recorded(tmp_path, lambda: ReluToTanh()(module))
    assert titles(trace) == [
        ("relu", ["create", "rewire", "erase"]),
        ("relu_1", ["create", "rewire", "erase"]),
    ]
    assert [run.label for run in trace.runs] == ["ReluToTanh"]
    assert trace.runs[0].declined == 3  # x, sigmoid, output
    assert walk_state(trace.final(0).root) == walk_torch(module)


def test_without_decisions_an_edit_still_belongs_to_the_node_that_it_makes(tmp_path):
    module = chain(torch.relu, torch.relu)
    trace, _ = recorded(tmp_path, lambda: ReluToTanh()(module), decisions=False)
    assert trace.steps == 2
    assert trace.runs[0].decisions == "not recorded"


def test_a_pass_that_raises_midway_leaves_every_change_until_then_and_the_attempt_that_raised(tmp_path):
    module = chain(torch.relu, torch.sigmoid, torch.relu)
    with (
        pytest.raises(ValueError, match="no sigmoid, please"),
        record(tmp_path / "t.qdqtrace") as recording,
    ):
        RaisesAtSigmoid()(module)
    trace = recording.trace()
    assert trace.complete
    assert titles(trace) == [("relu", ["set_target"])]
    error = trace.runs[0].error
    assert (error.type, error.message) == ("ValueError", "no sigmoid, please")
    assert error.text == 'raise ValueError("no sigmoid, please")'
    assert error.file == __file__
    raised = [attempt for attempt in trace.attempts(0) if attempt.outcome == "raised"]
    assert [attempt.name for attempt in raised] == ["sigmoid"]
    assert walk_state(trace.final(0).root) == walk_torch(module)


def test_a_recording_that_ends_leaves_torch_as_it_was(tmp_path):
    before = [dict(vars(owner)) for owner in (Graph, Node, GraphModule, PassBase, torch.fx.Interpreter)]
    recorded(tmp_path, lambda: ReluToTanh()(chain(torch.relu)))
    after = [dict(vars(owner)) for owner in (Graph, Node, GraphModule, PassBase, torch.fx.Interpreter)]
    assert before == after
    assert "meta" not in vars(Node)
    assert Node.meta is _NodeBase.meta


def test_two_recordings_at_once_are_refused(tmp_path):
    with (
        record(tmp_path / "a.qdqtrace"),
        pytest.raises(QdqvizError, match="is recording already"),
        record(tmp_path / "b.qdqtrace"),
    ):
        pass


def test_runs_nest_and_edits_belong_to_the_innermost(tmp_path):
    class Outer(PassBase):
        def call(self, graph_module):
            last = list(graph_module.graph.nodes)[-1]
            with graph_module.graph.inserting_before(last):
                new = graph_module.graph.call_function(torch.abs, last.args)
            last.args = (new,)
            ReluToTanh()(graph_module)
            return PassResult(graph_module, True)

    module = chain(torch.relu)
    trace, _ = recorded(tmp_path, lambda: Outer()(module))
    outer, inner = trace.runs
    assert (outer.name, outer.parent) == ("Outer", None)
    assert (inner.name, inner.parent) == ("ReluToTanh", outer.id)
    assert [trace.runs[header.run].name for header in trace.headers] == ["Outer", "ReluToTanh"]
    assert (outer.rewrites, inner.rewrites) == (2, 1)


def test_a_pass_manager_holds_the_runs_of_its_passes_and_a_repeated_pass_is_numbered(tmp_path):
    module = chain(torch.relu)
    trace, _ = recorded(tmp_path, lambda: PassManager([ReluToTanh(), ReluToTanh()])(module))
    assert [(run.label, run.kind, run.parent) for run in trace.runs] == [
        ("PassManager", "manager", None),
        ("ReluToTanh", "pass", 0),
        ("ReluToTanh#2", "pass", 0),
    ]
    assert len(trace.subjects) == 1


def test_edits_between_passes_form_a_run_outside_any_pass(tmp_path):
    module = chain(torch.relu)

    def work():
        ReluToTanh()(module)
        tanh = next(node for node in module.graph.nodes if node.target is torch.tanh)
        tanh.target = torch.sin
        ReluToTanh()(module)

    trace, _ = recorded(tmp_path, work)
    assert [run.name for run in trace.runs] == ["ReluToTanh", "(outside any pass)", "ReluToTanh"]
    assert titles(trace)[1] == ("tanh", ["set_target"])


def test_a_plain_callable_is_recorded_as_a_pass_where_asked(tmp_path):
    @record_pass
    def flip(graph_module):
        for node in graph_module.graph.nodes:
            if node.target is torch.relu:
                node.target = torch.tanh

    module = chain(torch.relu)
    trace, _ = recorded(tmp_path, lambda: flip(module))
    assert [(run.name, run.rewrites) for run in trace.runs] == [("flip", 1)]
    flip(module)  # and works where nothing is recorded


def test_a_pass_class_defined_while_recording_is_recorded(tmp_path):
    def work():
        class Late(ReluToTanh):
            def __call__(self, graph_module):
                return super().__call__(graph_module)

        return Late()(chain(torch.relu))

    trace, _ = recorded(tmp_path, work)
    assert [run.name for run in trace.runs] == ["Late"]


def test_dead_code_belongs_to_the_rewrite_that_made_it_dead(tmp_path):
    class SkipSecond(PassBase):
        def call(self, graph_module):
            for node in graph_module.graph.nodes:
                if node.target is torch.tanh:
                    node.replace_input_with(node.args[0], node.args[0].args[0])
            graph_module.graph.eliminate_dead_code()
            return PassResult(graph_module, True)

    trace, _ = recorded(tmp_path, lambda: SkipSecond()(chain(torch.relu, torch.sin, torch.tanh)))
    assert titles(trace) == [("tanh", ["rewire", "erase"])]


def test_what_was_dead_before_the_pass_is_a_rewrite_named_after_the_call(tmp_path):
    module = chain(torch.relu)
    with module.graph.inserting_before(list(module.graph.nodes)[-1]):
        module.graph.call_function(torch.sin, (next(iter(module.graph.nodes)),))

    class Clean(PassBase):
        def call(self, graph_module):
            return PassResult(graph_module, graph_module.graph.eliminate_dead_code())

    trace, _ = recorded(tmp_path, lambda: Clean()(module))
    assert titles(trace) == [("eliminate_dead_code", ["erase"])]
    assert trace.headers[0].unconditional


def recreate(graph_module, before):
    """Erase each relu and make it again right before node `before`."""
    for node in list(graph_module.graph.nodes):
        if node.target is torch.relu:
            with graph_module.graph.inserting_before(before(node)):
                twin = graph_module.graph.call_function(node.target, node.args)
            node.replace_all_uses_with(twin)
            graph_module.graph.erase_node(node)


class RecreateInPlace(PassBase):
    """Makes each relu again where it stands."""

    def call(self, graph_module):
        recreate(graph_module, lambda node: node.next)
        return PassResult(graph_module, True)


class RecreateAtUse(PassBase):
    """Makes each relu again before its first user."""

    def call(self, graph_module):
        recreate(graph_module, lambda node: next(iter(node.users)))
        return PassResult(graph_module, True)


def test_a_node_made_again_in_its_place_is_no_rewrite_and_elsewhere_it_has_moved(tmp_path):
    module = chain(torch.relu)
    x, relu, out = module.graph.nodes
    with module.graph.inserting_before(out):
        sine = module.graph.call_function(torch.sin, (x,))
        total = module.graph.call_function(torch.add, (relu, sine))
    out.args = (total,)
    trace, _ = recorded(tmp_path, lambda: (RecreateInPlace()(module), RecreateAtUse()(module)))
    relu_id = next(node.id for node in trace.first(0).root if node.name == "relu")
    assert trace.runs[0].rewrites == 0
    (header,) = trace.headers
    assert "move" in [change.kind for change in trace.rewrite(header.step).changes]
    assert header.focus == relu_id
    assert [node.target for node in trace.final(0).root if node.id == relu_id] == ["torch.relu"]
    assert walk_state(trace.final(0).root) == walk_torch(module)


def test_a_write_of_an_equal_value_is_no_rewrite(tmp_path):
    class WritesTheSame(PassBase):
        def call(self, graph_module):
            for node in graph_module.graph.nodes:
                node.args = tuple(node.args)
                node.meta["seen"] = node.meta.get("seen")
                del node.meta["seen"]
            return PassResult(graph_module, False)

    trace, _ = recorded(tmp_path, lambda: WritesTheSame()(chain(torch.relu)))
    assert trace.steps == 0
    assert trace.runs[0].modified is False


def test_metadata_edited_in_place_is_a_rewrite_of_the_node_that_was_looked_at(tmp_path):
    class Tags(PassBase):
        def call(self, graph_module):
            for node in graph_module.graph.nodes:
                if node.target is torch.relu:
                    node.meta["tag"] = 1
                    next(iter(node.users)).meta["tag"] = 2
            return PassResult(graph_module, True)

    trace, _ = recorded(tmp_path, lambda: Tags()(chain(torch.relu, torch.sin, torch.relu)))
    assert titles(trace) == [("relu", ["set_metadata"] * 2), ("relu_1", ["set_metadata"] * 2)]


def test_one_metadata_dictionary_on_two_nodes_is_told(tmp_path):
    class Shares(PassBase):
        def call(self, graph_module):
            for node in graph_module.graph.nodes:
                if node.target is torch.sin:
                    node.meta = node.args[0].meta
            return PassResult(graph_module, True)

    trace, _ = recorded(tmp_path, lambda: Shares()(chain(torch.relu, torch.sin)))
    by_name = {node.name: node for node in trace.final(0).root}
    assert by_name["sin"].shares_meta == by_name["relu"].id


def test_inserted_arguments_and_renames_are_seen(tmp_path):
    class Inserts(PassBase):
        def call(self, graph_module):
            for node in graph_module.graph.nodes:
                if node.target is torch.relu:
                    node.target = torch.add
                    node.insert_arg(1, 2.0)
                    node.name = "sum_of_two"
            return PassResult(graph_module, True)

    module = chain(torch.relu)
    trace, _ = recorded(tmp_path, lambda: Inserts()(module))
    assert trace.steps == 1
    assert walk_state(trace.final(0).root) == walk_torch(module)


def test_a_transformer_steps_node_by_node(tmp_path):
    class SinForRelu(Transformer):
        def call_function(self, target, args, kwargs):
            if target is torch.relu:
                return super().call_function(torch.sin, args, kwargs)
            return super().call_function(target, args, kwargs)

    class Transforms(PassBase):
        def call(self, graph_module):
            return PassResult(SinForRelu(graph_module).transform(), True)

    module = chain(torch.relu, torch.tanh, torch.relu)
    trace, result = recorded(tmp_path, lambda: Transforms()(module))
    assert [header.name for header in trace.headers] == ["relu", "relu_1"]
    assert not any(header.note for header in trace.headers)
    assert walk_state(trace.final(0).root) == walk_torch(result.graph_module)


def test_a_graph_built_anew_without_a_trail_is_one_visible_replacement(tmp_path):
    class Rebuilds(PassBase):
        def call(self, graph_module):
            return PassResult(chain(torch.sin, torch.cos), True)

    trace, result = recorded(tmp_path, lambda: Rebuilds()(chain(torch.relu, torch.tanh)))
    assert "graph replaced" in [header.note for header in trace.headers]
    assert walk_state(trace.final(0).root) == walk_torch(result.graph_module)


def test_a_pass_that_returns_its_input_after_a_retrace_leaves_the_input(tmp_path, sample_program):
    class LooksOnly(ExportPass):
        def call(self, graph_module):
            super().call(graph_module)
            return PassResult(graph_module, False)

    module = sample_program("slices").exported_program().graph_module
    trace, _ = recorded(tmp_path, lambda: (LooksOnly()(module), LooksOnly()(module)))
    assert trace.steps == 0
    assert walk_state(trace.final(0).root) == walk_torch(module)


def test_programs_that_go_separate_ways_are_separate_subjects(tmp_path):
    import copy

    module = chain(torch.relu, torch.relu)

    def work():
        fork = copy.deepcopy(module)
        ReluToTanh()(fork)
        ReluToTanh()(module)
        return fork

    trace, fork = recorded(tmp_path, work)
    finals = [walk_state(trace.final(subject.id).root) for subject in trace.subjects]
    assert walk_torch(fork) in finals
    assert walk_torch(module) in finals


def test_a_recording_says_what_a_pass_searched_the_whole_graph_for(tmp_path):
    class Finds(PassBase):
        def call(self, graph_module):
            found = graph_module.graph.find_nodes(op="call_function", target=torch.cos)
            return PassResult(graph_module, bool(found))

    trace, _ = recorded(tmp_path, lambda: Finds()(chain(torch.relu)))
    (looked,) = trace.runs[0].looked_for
    assert (looked.op, looked.target, looked.found) == ("call_function", "torch.cos", 0)


def test_nested_tracing_is_not_recorded(tmp_path):
    class TracesAPattern(PassBase):
        def call(self, graph_module):
            torch.fx.symbolic_trace(lambda x: operator.add(torch.relu(x), 1))
            return PassResult(graph_module, False)

    trace, _ = recorded(tmp_path, lambda: TracesAPattern()(chain(torch.relu)))
    assert (trace.steps, len(trace.subjects)) == (0, 1)


def test_a_killed_recording_can_be_opened_up_to_the_last_pass(tmp_path):
    with record(tmp_path / "t.qdqtrace") as recording:
        ReluToTanh()(chain(torch.relu))
        alongside = Trace(recording.path)
        assert (alongside.steps, alongside.complete) == (1, False)
        ReluToTanh()(chain(torch.relu))
        alongside.refresh()
        assert alongside.steps == 2


def test_a_pass_that_is_called_past_its_call_operator_is_recorded_once_too(tmp_path):
    module = chain(torch.relu)
    trace, _ = recorded(tmp_path, lambda: ReluToTanh().call(module))
    assert [(run.name, run.rewrites, run.parent) for run in trace.runs] == [("ReluToTanh", 1, None)]
    assert trace.runs[0].declined == 2


class Holder(torch.nn.Module):
    """A weight read by one add."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(3))


def holding():
    """x + weight, as a graph module."""
    graph = Graph()
    x = graph.placeholder("x")
    weight = graph.get_attr("weight")
    graph.output(graph.call_function(torch.add, (x, weight)))
    return GraphModule(Holder(), graph)


@pytest.mark.parametrize(
    "edit",
    [
        lambda module: module.weight.mul_(2),
        lambda module: setattr(module, "weight", torch.full((3,), 2.0)),
        lambda module: setattr(module.weight, "data", torch.full((3,), 2.0)),
    ],
    ids=["in place", "replaced", "other storage"],
)
def test_a_constant_edited_behind_its_node_is_a_rewrite(edit, tmp_path):
    class Scales(PassBase):
        def call(self, graph_module):
            edit(graph_module)
            return PassResult(graph_module, True)

    module = holding()
    trace, _ = recorded(tmp_path, lambda: Scales()(module))
    assert titles(trace) == [("weight", ["constant"])]
    assert walk_state(trace.final(0).root) == walk_torch(module)


def test_a_lifted_constant_edited_behind_its_placeholder_is_a_rewrite(tmp_path):
    class Adds(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.ones(3))

        def forward(self, x):
            return x + self.weight

    program = torch.export.export(Adds(), (torch.ones(3),), strict=False)

    class Scales(PassBase):
        def call(self, graph_module):
            program.state_dict["weight"].mul_(2)
            return PassResult(graph_module, True)

    with record(tmp_path / "t.qdqtrace") as recording:
        recording.know(program, "forward")
        Scales()(program.graph_module)
    trace = recording.trace()
    assert titles(trace) == [("b_weight", ["constant"])]


@pytest.mark.parametrize(
    ("tensor", "extent"),
    [
        (torch.tensor([0.5, 0.25, 2.0]), (0.25, 2.0)),
        (torch.tensor([[3, -4]], dtype=torch.int64), (-4, 3)),
        (torch.tensor(7, dtype=torch.int8), (7, 7)),
        (torch.tensor([True, False]), (False, True)),
        (torch.tensor([1.0, float("nan")]), None),
        (torch.tensor([1.0, float("inf")]), None),
        (torch.tensor([1j]), None),
        (torch.empty(0), None),
        (torch.ones(2).to(torch.float8_e4m3fn), None),
        (torch.zeros(100, 100), None),
    ],
    ids=["reals", "integers", "one", "bool", "nan", "infinity", "complex", "empty", "float8", "large"],
)
def test_the_range_of_a_small_constant_is_in_the_trace(tensor, extent, tmp_path):
    module = holding()
    module.weight = tensor
    trace, _ = recorded(tmp_path, lambda: ReluToTanh()(module))
    constants = [node.constant for node in trace.first(0).root if node.op == "get_attr"]
    assert [constant.extent for constant in constants] == [extent]
