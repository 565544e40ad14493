"""The Why pane says what a person would add, and leads to the node whose attempt got further."""

import importlib.util

import pytest
from driving import press, running, screen_text, type_text

PASS = '''
import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult

ATEN = torch.ops.aten


class FuseRelus(PassBase):
    """Moves a relu into the add that reads it."""

    wanted = ()

    def call(self, module):
        for node in module.graph.nodes:
            if node.target == ATEN.relu.default and len(node.args[0].users) != 1:
                continue
            if node.target != ATEN.add.Tensor:
                continue
            source = node.args[0]
            if source.target != ATEN.relu.default:
                continue
            if len(node.users) == 1 and source not in self.wanted:
                continue
            node.args = source.args
        return PassResult(module, True)


def build():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.passes.fake_tensor_prop import FakeTensorProp

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(ATEN.sym_size.int, (x, 0))
    relu = graph.call_function(ATEN.relu.default, (x,))
    graph.output(graph.call_function(ATEN.add.Tensor, (relu, relu)))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    FakeTensorProp(module, FakeTensorMode(allow_non_fake_inputs=True)).propagate(torch.zeros(2, 3))
    return module
'''


@pytest.fixture(scope="module")
def remarks_path(tmp_path_factory):
    from qdqviz.record.api import record

    folder = tmp_path_factory.mktemp("remarks")
    file = folder / "remarks_pass.py"
    file.write_text(PASS)
    spec = importlib.util.spec_from_file_location("remarks_pass", file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    with record(folder / "remarks.qdqtrace"):
        made.FuseRelus()(made.build())
    return folder / "remarks.qdqtrace"


async def ask_about(pilot, name):
    await press(pilot, "1", "down")  # from the start to the pass
    await press(pilot, "slash")
    await type_text(pilot, name)
    await press(pilot, "enter", "w")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_a_remark_on_a_reader_of_shapes_is_shown(remarks_path, size):
    async with running(remarks_path, size) as pilot:
        await ask_about(pilot, "relu_default")
        details = pilot.app.main.stage.details
        said = " ".join("".join(part.text for part in line).strip() for line in details.lines)
        assert "· sym_size_int reads only the shape of x, none of its data" in said


async def test_the_node_whose_attempt_got_further_can_be_gone_to(remarks_path):
    async with running(remarks_path, (200, 60)) as pilot:
        await ask_about(pilot, "relu_default")
        details = pilot.app.main.stage.details
        lines = ["".join(part.text for part in line) for line in details.lines]
        row = next(
            at for at, line in enumerate(lines) if "it got further as an operand of add_tensor" in line
        )
        await press(pilot, *["down"] * row, "enter")
        selected = pilot.app.main.view.selected
        assert pilot.app.main.current().sight.after[selected].name == "add_tensor"
        assert "FuseRelus looked at add_tensor" in screen_text(pilot.app)
