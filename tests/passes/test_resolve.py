"""Names become passes: ours, upstream's, pipelines, dotted paths, files and factories."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from qdqviz.errors import PassError, UsageError
from qdqviz.passes.catalogue import Catalogue
from qdqviz.passes.importing import import_module
from qdqviz.passes.resolve import resolve

CADENCE = "executorch.backends.cadence.aot.reorder_ops"


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text("VALUE = 7\n")
    file = tmp_path / "mine.py"
    file.write_text(
        textwrap.dedent(
            """
            import neighbour
            from torch.export import ExportedProgram
            from torch.fx.passes.infra.pass_base import PassBase, PassResult


            class Plain(PassBase):
                def call(self, graph_module):
                    return PassResult(graph_module, False)


            class Sized(Plain):
                def __init__(self, size, *, depth, other=1):
                    self.size = size


            class Wanting(Plain):
                def __init__(self, program: ExportedProgram):
                    self.program = program


            class Raising(Plain):
                def __init__(self):
                    raise KeyError("no luck")


            class NotAPass:
                pass


            class Group:
                passes = [Plain, Sized]


            def make():
                return Sized(neighbour.VALUE, depth=2)


            def on_graph(graph_module):
                return None


            def on_program(exported_program):
                return exported_program


            def make_nothing():
                return None


            PASSES = [Plain, make, on_graph]
            READY = Sized(3, depth=1)
            """
        )
    )
    return file


def one(spec: str, catalogue: Catalogue):
    (found,) = resolve(spec, catalogue)
    return found


def test_upstream_lists_are_taken_as_they_are(catalogue):
    reorder = resolve("cadence-reorder", catalogue)
    from executorch.backends.cadence.aot.reorder_ops import CadenceReorderOpsInGraph

    assert [type(each.make()) for each in reorder] == list(CadenceReorderOpsInGraph.passes)


def test_cadence_at_an_opt_level_is_what_upstream_runs(catalogue):
    """Against upstream's own function, run on a manager that only notes the passes that it is given."""
    upstream = import_module("executorch.backends.cadence.aot.passes")

    for spec, level in (("cadence", 1), ("cadence@0", 0), ("cadence@2", 2)):
        ran: list[str] = []

        class Manager:
            def transform(self, passes, ran=ran):
                ran.extend(each.__defaults__[0].__name__ for each in passes)

        upstream.apply_exir_ops_passes(level, Manager())
        assert [each.name for each in resolve(spec, catalogue)] == ran


def test_names_are_separated_by_commas_and_may_come_in_several_options(catalogue):
    found = resolve(
        ["cadence:SinkOpsCloserToUsePass, cadence:HoistOpsCloserToDefPass", f"{CADENCE}:PropagateSlice"],
        catalogue,
    )
    assert [each.name for each in found] == [
        "SinkOpsCloserToUsePass",
        "HoistOpsCloserToDefPass",
        "PropagateSlice",
    ]


@pytest.mark.parametrize(
    "spec",
    ["cadence:PropagateSlice", f"{CADENCE}:PropagateSlice", f"{CADENCE}.PropagateSlice", "PropagateSlice"],
)
def test_one_upstream_pass_can_be_named_in_four_ways(spec, catalogue):
    assert one(spec, catalogue).path == f"{CADENCE}:PropagateSlice"


def test_an_ambiguous_name_lists_the_choices(catalogue):
    with pytest.raises(UsageError, match=r"samsung\._passes\.fold_qdq:FoldQDQPass, .*vulkan"):
        resolve("FoldQDQPass", catalogue)


def test_an_unknown_name_gets_suggestions(catalogue):
    with pytest.raises(UsageError, match="did you mean HoistOpsCloserToDefPass"):
        resolve("HoistOpsCloserToDfePass", catalogue)
    with pytest.raises(UsageError, match="no pass is named HoistOpsCloserToDefPass in vulkan"):
        resolve("vulkan:HoistOpsCloserToDefPass", catalogue)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "no pass was named"),
        ("cadence@high", "an opt level is a number"),
        ("cadence-fuse@1", "no opt levels"),
        ("no.such.module.Pass", "no module is named no.such.module"),
        ("absent.py:Pass", "cannot read absent.py"),
    ],
)
def test_a_specification_that_makes_no_sense_is_a_usage_error_of_one_line(spec, message, catalogue):
    with pytest.raises(UsageError, match=message) as caught:
        resolve(spec, catalogue)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("arm:BroadcastArgsPass", "the module 'tosa_serializer' is missing"),
        ("os:path", "cannot be called"),
        ("no_such_module:Pass", "the module 'no_such_module' is missing"),
    ],
)
def test_what_cannot_be_had_is_a_pass_error_of_one_line(spec, message, catalogue):
    with pytest.raises(PassError, match=message) as caught:
        resolve(spec, catalogue)
    assert "\n" not in str(caught.value)


def test_a_class_in_a_file_is_loaded_with_its_neighbours(user_file, catalogue):
    found = one(f"{user_file}:Plain", catalogue)
    assert type(found.make()).__name__ == "Plain"
    assert found.path == f"{user_file}:Plain"
    again = one(f"{user_file}:Plain", catalogue)
    assert type(again.make()) is type(found.make())


def test_a_changed_file_is_loaded_again(user_file, catalogue):
    before = one(f"{user_file}:Plain", catalogue).make()
    user_file.write_text(
        user_file.read_text().replace("class Plain(PassBase):", "class Plain(PassBase):\n    new = True\n")
    )
    after = one(f"{user_file}:Plain", catalogue).make()
    assert not hasattr(before, "new") and after.new


def test_a_function_without_arguments_makes_a_fresh_pass_each_time(user_file, catalogue):
    found = one(f"{user_file}:make", catalogue)
    assert found.name == "Sized" and found.make().size == 7
    assert found.make() is not found.make()


def test_a_function_that_needs_an_argument_is_the_pass(user_file, catalogue):
    on_graph, on_program = resolve(f"{user_file}:on_graph,{user_file}:on_program", catalogue)
    assert on_graph.make().__name__ == "on_graph" and on_graph.wants == "graph_module"
    assert on_program.wants == "exported_program"


def test_lists_groups_and_instances_are_passes_too(user_file, catalogue):
    listed = resolve(f"{user_file}:PASSES", catalogue)
    assert [each.name for each in listed] == ["Plain", "Sized", "on_graph"]
    assert [each.path for each in listed] == [f"{user_file}:{name}" for name in ("Plain", "make", "on_graph")]
    assert [each.name for each in resolve(f"{user_file}:Group", catalogue)] == ["Plain", "Sized"]
    assert one(f"{user_file}:READY", catalogue).make().size == 3


def test_a_constructor_gets_the_program_that_it_asks_for(user_file, catalogue):
    found = one(f"{user_file}:Wanting", catalogue)
    assert found.needs_program
    program = object()
    assert found.make(program).program is program
    with pytest.raises(PassError, match="needs an ExportedProgram"):
        found.make()


def test_xnnpack_and_qualcomm_constructors_ask_for_the_program(catalogue):
    assert one("xnnpack:FuseBatchNormPass", catalogue).needs_program
    assert one("qualcomm:FoldQDQ", catalogue).needs_program
    assert not one("cadence:PropagateSlice", catalogue).needs_program


def test_the_built_in_passes_take_both_dialects_and_a_plain_name_means_them(catalogue):
    found = resolve("default", catalogue)
    assert len(found) == 8
    assert {(each.dialect, each.wants, each.needs_program) for each in found} == {
        (None, "graph_module", False)
    }
    assert all(each.path.startswith("qdqviz.passes.builtin.") for each in found)
    assert one("HoistOpsCloserToDefPass", catalogue).path == found[1].path
    assert one("qdqviz:HoistOpsCloserToDefPass", catalogue).path == found[1].path


def test_what_runs_on_the_exported_program_is_told(catalogue):
    assert one("cadence:RemoveBNTrackingMutationsPass", catalogue).wants == "exported_program"


def test_constructors_that_want_more_say_what(user_file, catalogue):
    with pytest.raises(PassError, match="its constructor wants size, depth"):
        one(f"{user_file}:Sized", catalogue).make()
    with pytest.raises(PassError, match="Raising cannot be built: KeyError: 'no luck'"):
        one(f"{user_file}:Raising", catalogue).make()


@pytest.mark.parametrize("name", ["NotAPass", "make_nothing"])
def test_what_is_no_pass_is_refused(name, user_file, catalogue):
    with pytest.raises(PassError, match="no pass"):
        resolve(f"{user_file}:{name}", catalogue)


def test_the_dialect_is_read_from_source(catalogue):
    assert one("cadence:PostponeDequantizeOpBelowUseChainPass", catalogue).dialect == "edge"
    assert one("cadence:AdvanceQuantizeOpAboveDefChainPass", catalogue).dialect is None
    assert one(
        "torchao.quantization.pt2e.quantizer.port_metadata_pass.PortNodeMetaForQDQ", catalogue
    ).dialect in (None, "aten")
