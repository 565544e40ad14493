"""Copies: equal to the original in everything a pass can see, and nothing done to them reaches it."""

from __future__ import annotations

import inspect

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.ao.quantization.fx import _decomposed  # noqa: F401
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from qdqviz.load.apply import apply_passes
from qdqviz.load.copying import copy_program
from qdqviz.passes.importing import import_module

SAMPLES = ["attention_chain", "avgpool", "convnet", "dynamic_linear", "encoder", "slices", "weight_only"]
MODULES = ["reorder_ops", "fuse_ops", "remove_ops", "replace_ops", "simplify_ops"]


def modules_of(program):
    """GraphModules of a program by where they are, found by torch's own walk."""
    if isinstance(program, torch.fx.GraphModule):
        roots = {"": program}
    elif hasattr(program, "methods"):
        roots = {name: program.exported_program(name).graph_module for name in program.methods}
    else:
        roots = {"": program.graph_module}
    return {
        f"{root}.{path}": module
        for root, top in roots.items()
        for path, module in top.named_modules()
        if isinstance(module, torch.fx.GraphModule)
    }


def tensors_of(program):
    """Constants of a program by name: the tensor itself."""
    if isinstance(program, torch.fx.GraphModule):
        return {**dict(program.named_parameters()), **dict(program.named_buffers())}
    exported = {"": program} if hasattr(program, "state_dict") else program._edge_programs
    return {
        f"{method}.{name}": tensor
        for method, each in exported.items()
        for name, tensor in {**each.state_dict, **each.constants}.items()
    }


def picture(program):
    """Everything about a program that a pass could change, as plain values."""
    graphs = {
        path: (
            [
                (node.op, node.name, str(node.target), str(node.args), str(node.kwargs), sorted(node.meta))
                for node in module.graph.nodes
            ],
            module.code,
        )
        for path, module in modules_of(program).items()
    }
    constants = {
        name: (tensor.clone(), tensor._version, tensor.data_ptr())
        for name, tensor in tensors_of(program).items()
    }
    exported = getattr(program, "_edge_programs", {"": program})
    signatures = {name: str(getattr(each, "graph_signature", "")) for name, each in exported.items()}
    return graphs, constants, signatures


def assert_unchanged(program, before):
    graphs, constants, signatures = picture(program)
    assert graphs == before[0] and signatures == before[2]
    assert constants.keys() == before[1].keys()
    for name, (tensor, version, pointer) in before[1].items():
        assert constants[name][1:] == (version, pointer), name
        assert torch.equal(constants[name][0], tensor), name


def all_passes():
    """One instance of every Cadence pass of the five modules that needs no program."""
    found = []
    for name in MODULES:
        module = import_module(f"executorch.backends.cadence.aot.{name}")
        for each in vars(module).values():
            if inspect.isclass(each) and each.__module__ == module.__name__ and issubclass(each, PassBase):
                found.append(each())
    return found


class EditEverything(PassBase):
    """Edits in place whatever a pass can reach: nodes, metadata, tensors, the module's attributes."""

    def call(self, graph_module):
        for module in graph_module.modules():
            if not isinstance(module, torch.fx.GraphModule):
                continue
            for node in module.graph.nodes:
                node.meta["mark"] = 1
                for value in node.meta.values():
                    if type(value) is dict:
                        value["mark"] = 1
                if node.op == "call_function":
                    node.name = f"renamed_{node.name}"
            module.meta["mark"] = 1
            for tensor in [*module.parameters(), *module.buffers()]:
                with torch.no_grad():
                    tensor.add_(1)
        return PassResult(graph_module, True)


@pytest.mark.parametrize("name", ["avgpool", "convnet", "dynamic_linear", "slices"])
def test_no_cadence_pass_run_on_copies_changes_the_original(name, loaded_sample):
    program = loaded_sample(name).program
    before = picture(program)
    changed = 0
    for each in all_passes():
        try:
            after = apply_passes(copy_program(program), [each])
        except Exception:  # some upstream passes raise on some samples, having edited
            changed += 1
            continue
        changed += picture(after)[0] != before[0]
    assert changed > 1
    assert_unchanged(program, before)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_copy_looks_the_same_and_shares_no_node_metadata_or_storage(name, loaded_sample):
    program = loaded_sample(name).program
    copied = copy_program(program)
    one, other = picture(program), picture(copied)
    assert one[0] == other[0] and one[2] == other[2]
    pointers = {pointer for _, _, pointer in one[1].values()}
    assert not pointers & {pointer for _, _, pointer in other[1].values()}
    for path, module in modules_of(copied).items():
        metas = {id(node.meta) for node in modules_of(program)[path].graph.nodes}
        assert not metas & {id(node.meta) for node in module.graph.nodes}
        module.graph.lint()


def test_editing_tensors_metadata_and_names_of_a_copy_in_place_leaves_the_original(loaded_sample):
    program = loaded_sample("convnet").program
    before = picture(program)
    copied = copy_program(program)
    for exported in copied._edge_programs.values():
        EditEverything()(exported.graph_module)
        for tensor in [*exported.state_dict.values(), *exported.constants.values()]:
            tensor.data.add_(1)
    assert_unchanged(program, before)
    assert not any("mark" in meta for nodes, _ in picture(program)[0].values() for *_, meta in nodes)


def test_a_pass_gives_new_nodes_the_names_that_it_would_give_them_on_the_original():
    def graph():
        module = torch.fx.symbolic_trace(lambda x: torch.relu(torch.relu(torch.relu(x))))
        nodes = list(module.graph.nodes)
        nodes[3].replace_all_uses_with(nodes[2])
        module.graph.erase_node(nodes[3])
        return module

    def grow(module):
        node = next(iter(module.graph.find_nodes(op="output"))).args[0]
        with module.graph.inserting_after(node):
            return module.graph.call_function(torch.relu, (node,)).name

    assert grow(copy_program(graph())) == grow(graph())
    assert grow(graph()) == "relu_3"  # relu_2 was erased, and its name is not given again


def test_names_that_torch_would_not_give_are_kept():
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    node = module.graph.find_nodes(op="call_function", target=torch.relu)[0]
    node.name = "relu/7 [bold]"
    assert [each.name for each in copy_program(module).graph.nodes] == [
        each.name for each in module.graph.nodes
    ]


def test_nodes_that_share_one_metadata_dictionary_share_it_in_the_copy():
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    relu, add = list(module.graph.nodes)[1:3]
    add.meta = relu.meta
    first, second = list(copy_program(module).graph.nodes)[1:3]
    assert first.meta is second.meta and first.meta is not relu.meta


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4, bias=False)
        self.second = torch.nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight
        self.table = torch.nn.Buffer(torch.zeros(8))
        self.part = torch.nn.Buffer(self.table[2:6])

    def forward(self, x):
        return self.second(self.first(x)) + self.table[:4] + self.part


def test_tied_weights_and_views_of_one_storage_stay_tied_across_methods():
    exported = torch.export.export(Tied(), (torch.ones(1, 4),), strict=False)
    copied = copy_program(to_edge({"a": exported, "b": exported}))
    tensors = tensors_of(copied)
    weights = [tensor for name, tensor in tensors.items() if name.endswith(".weight")]
    assert len(weights) >= 2 and len({weight.data_ptr() for weight in weights}) == 1
    assert tensors["a.table"].untyped_storage().data_ptr() == tensors["a.part"].untyped_storage().data_ptr()


class Branches(torch.nn.Module):
    def forward(self, x, flag):
        return torch.cond(flag, lambda v: v.permute(1, 0) + 1.0, lambda v: v.permute(1, 0) * 2.0, (x,))


def test_branches_of_a_cond_are_copied_with_their_own_graphs():
    program = torch.export.export(Branches(), (torch.ones(2, 2), torch.tensor(True)), strict=False)
    edge = to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    before = picture(edge)
    copied = copy_program(edge)
    assert len(modules_of(copied)) == 3 and picture(copied)[0] == before[0]
    EditEverything()(copied.exported_program().graph_module)
    assert_unchanged(edge, before)


def test_a_delegate_is_shared_and_what_surrounds_it_is_copied():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    exported = torch.export.export(torch.nn.Linear(4, 4), (torch.ones(2, 4),), strict=False)
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    copied = copy_program(lowered)
    one, other = (each.exported_program().graph_module for each in (lowered, copied))
    assert one.lowered_module_0 is other.lowered_module_0 and one is not other
    inputs = (torch.ones(2, 4),)
    results = [each.exported_program().module(check_guards=False)(*inputs) for each in (lowered, copied)]
    assert torch.equal(*results)


def test_running_a_copy_that_keeps_state_leaves_the_state_of_the_original():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count.add_(1)
            return x + self.count

    program = torch.export.export(Counter(), (torch.ones(1),), strict=False)
    copy_program(program).module(check_guards=False)(torch.ones(1))
    assert program.state_dict["count"].item() == 0


def test_fake_weights_and_weights_with_a_history_are_copied_without_complaint():
    with FakeTensorMode():
        fake = torch.nn.Linear(2, 2)
    graph = torch.fx.Graph()
    graph.output(graph.get_attr("weight"))
    module = torch.fx.GraphModule({"weight": fake.weight}, graph)
    assert copy_program(module).weight is fake.weight
    grown = torch.fx.symbolic_trace(torch.nn.ReLU())
    grown.scaled = torch.nn.Parameter(torch.ones(2)) * 2
    assert copy_program(grown) is not grown
