import fakes
import pytest
from msgspec.structs import replace

from qdqviz.draw.picture import picture
from qdqviz.draw.text import width
from qdqviz.explain.answer import NodeLink, Seen
from qdqviz.ir.node import Constant, TensorSpec
from qdqviz.ir.values import ListArg
from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.details.about_meta import meta_facts
from qdqviz.tui.model.details.about_node import node_facts
from qdqviz.tui.model.details.brief import with_short_names
from qdqviz.tui.model.details.fact import BREAK, Fact, Part, lay_out, lines_fact, plain_fact
from qdqviz.tui.model.details.guard_facts import seen_parts


@pytest.fixture
def archive(small):
    return Archive(small)


def facts_at(archive, step, name):
    _, before, after = archive.around(step)
    node = (after.root.named(name) or before.root.named(name)).id
    found = node_facts(before.root, after.root, node, archive.lists.ops, archive.text)
    return {fact.label: fact.text for fact in found}, found


def test_arguments_go_by_their_parameter_names_and_scales_are_exact(archive):
    facts, _ = facts_at(archive, 1, "dequantize_1")
    assert facts["input"] == "quantize_1"
    assert (facts["scale"], facts["zero_point"], facts["dtype"]) == ("0.02", "-3", "int8")
    assert facts["quantized"] == "per tensor, -128 to 127 as int8"
    assert facts["makes"] == "fp32 1×8×64  2 KiB"


def test_defaults_that_are_not_passed_are_shown_as_such(archive):
    facts, _ = facts_at(archive, 1, "aten_add_tensor")
    assert facts["alpha"] == "1  default"


def test_module_and_source_line_come_from_the_metadata(archive):
    facts, _ = facts_at(archive, 1, "aten_slice_copy_tensor")
    assert facts["module"] == "left (model.Left)"
    assert facts["source"] == "model.py:12  return self.left(x) + self.right(x)"


def test_what_differs_says_what_it_was(archive):
    _, found = facts_at(archive, 1, "aten_slice_copy_tensor")
    texts = [(fact.label, fact.text) for fact in found]
    at = texts.index(("makes", "int8 1×8×64  512 B"))
    assert texts[at + 1] == ("", "was fp32 1×8×64  2 KiB")
    assert ("", "was permute") in texts


def test_nodes_that_came_and_went_say_so(archive):
    added, _ = facts_at(archive, 1, "quantize_up")
    gone, _ = facts_at(archive, 1, "quantize")
    assert added["\0"] == "quantize_up  + added here" and gone["\0"] == "quantize  - removed here"


def test_node_names_are_links(archive):
    _, found = facts_at(archive, 1, "aten_slice_copy_tensor")
    links = {part.text: part.node for fact in found for part in fact.parts if part.node is not None}
    _, _, after = archive.around(1)
    assert links["quantize_up"] == after.root.named("quantize_up").id
    assert links["dequantize"] == after.root.named("dequantize").id


def test_lost_metadata_is_shown(archive):
    _, before, after = archive.around(4)
    node = after.root.named("quantize_up").id
    facts = [(fact.label, fact.text) for fact in meta_facts(before.root, after.root, node, archive.text)]
    assert ("debug_handle", "7") in facts and ("", "not so before") in facts


def test_long_text_is_wrapped_at_blanks_and_every_line_fits():
    facts = [
        plain_fact("source", "the quick brown fox jumps over the lazy dog " * 3),
        plain_fact("x", "y" * 100),
    ]
    for columns in (20, 37, 60):
        lines = lay_out(facts, columns)
        assert all(sum(width(part.text) for part in line) <= columns for line in lines)
    words = "".join(part.text for line in lay_out(facts[:1], 60) for part in line if part.style != "muted")
    assert words.split() == facts[0].text.split()


def test_wide_characters_are_wrapped_by_their_columns():
    lines = lay_out([plain_fact("n", "宽" * 30)], 24)
    assert all(sum(width(part.text) for part in line) <= 24 for line in lines)
    assert sum(line[-1].text.count("宽") for line in lines) == 30


def test_a_fact_of_several_lines_keeps_them_and_its_label_stands_once():
    lines = lay_out([lines_fact("trace", ["one", "two"])], 40)
    assert ["".join(part.text for part in line).split() for line in lines] == [["trace", "one"], ["two"]]
    assert Fact("a", (Part("x"), BREAK, Part("y"))).text == "x\ny"


def test_texts_of_graphs_are_made_safe(hostile_path):
    from qdqviz.trace.reader import Trace

    archive = Archive(Trace(hostile_path))
    for step in range(1, archive.lists.steps + 1):
        _, before, after = archive.around(step)
        for node in after.root:
            found = node_facts(before.root, after.root, node.id, archive.lists.ops, archive.text)
            found += meta_facts(before.root, after.root, node.id, archive.text)
            for line in lay_out(found, 50):
                for part in line:
                    assert "\x1b" not in part.text and "\n" not in part.text and "\u202e" not in part.text
    archive.close()


def test_the_first_state_alone_has_facts_too(archive):
    state = archive.at(0, 0)
    node = state.root.named("aten_relu_default")
    facts = {
        fact.label: fact.text
        for fact in node_facts(None, state.root, node.id, archive.lists.ops, archive.text)
    }
    assert facts["op"] == "edge.aten.relu.default  computes" and facts["read by"] == "output"
    assert fakes.Q not in facts


@pytest.mark.parametrize(
    ("extent", "said"),
    [((0.001, 0.0042), "scales  0.001…0.0042"), ((0.5, 0.5), "scales  0.5"), (None, "scales")],
)
def test_an_argument_that_is_a_constant_tells_its_least_and_greatest_element(extent, said):
    graph = fakes.FakeGraph()
    spec = TensorSpec("float32", (16,))
    constant = Constant("buffer", "scales", "f", spec, extent)
    graph.add("scales", "placeholder", "scales", (), spec, constant=constant)
    graph.call("neg", "edge.aten.neg.default", "scales", shape=(16,))
    body = graph.state().root
    facts = {fact.label: fact for fact in node_facts(None, body, graph.nodes["neg"].id, {}, str)}
    assert facts["argument 0"].text == said


def stale_graph():
    """A quantize moved above a view whose `val` was left as it was, and a dequantize that has none yet."""
    graph = fakes.FakeGraph()
    graph.input("x", 8, 16)
    graph.quantize("moved", "x", 0.02, -3)
    graph.call("below", "edge.aten.view_copy.default", "moved", ListArg((1, 8, 16)), shape=(1, 8, 16))
    graph.dequantize("new", "below", 0.02, -3)
    graph.call("after", "edge.aten.add.Tensor", "new", "new", shape=(1, 8, 16))
    graph.output("after")
    graph.nodes["moved"] = replace(graph.nodes["moved"], spec=TensorSpec("int8", (1, 8, 16)))
    graph.nodes["new"] = replace(graph.nodes["new"], spec=None)
    return graph.state().root


def test_what_a_node_makes_is_what_the_picture_says_and_stale_metadata_is_named():
    body = stale_graph()
    ops = {op.target: op for op in fakes.OPS}
    drawn = picture(None, body, [body.named("moved").id], ops, radius=9)
    says = {}
    for node in body.in_order():
        facts = {fact.label: fact.text for fact in node_facts(None, body, node.id, ops, str)}
        if "makes" in facts:
            assert facts["makes"] == drawn.box(node.id).lines[-1]
        says[node.name] = facts.get("val says", "").partition("  ")[0]
    assert says == {
        "x": "",
        "moved": "int8 1×8×16",
        "below": "fp32 1×8×16",
        "new": "nothing",
        "after": "",
        "output": "",
    }


def test_facts_name_nodes_as_boxes_do_and_leave_source_text_alone():
    whole, other = "aten_view_copy_default_3", "aten_relu_default"
    facts = [
        Fact("", (Part(f"it looked at {whole}: `{whole}.users` of edge.aten.view_copy.default"),)),
        Fact("", (Part(f"{whole} = ", "muted"), Part(other, "link", 7), BREAK)),
    ]
    said = with_short_names(facts)
    assert said[0].text == f"it looked at view_3: `{whole}.users` of edge.aten.view_copy.default"
    assert said[1].text == f"{whole} = relu\n"
    assert said[1].parts[1].node == 7 and said[1].parts[2] is BREAK


def test_names_that_would_read_alike_stay_whole_in_facts():
    names = ("aten_view_copy_default", "aten_view_default")
    facts = [Fact("", (Part(name),)) for name in names]
    assert with_short_names(facts) == facts


def seen(value, *names):
    return Seen("node.users", value, tuple(NodeLink(index, name) for index, name in enumerate(names)))


@pytest.mark.parametrize(
    ("seen_", "text", "links"),
    [
        (seen("[add, add_1]", "add", "add_1"), "[add, add_1]", ["add", "add_1"]),
        (seen("add", "add"), "add", ["add"]),
        (seen("set of 29", "add", "mul"), "set of 29  add  mul", ["add", "mul"]),
        (seen("[add, …]", "add", "mul"), "[add, …]  mul", ["add", "mul"]),
        (seen("padding", "add"), "padding", []),
        (seen("[(a+b), x.y]", "(a+b)", "x.y"), "[(a+b), x.y]", ["(a+b)", "x.y"]),
        (seen("2"), "2", []),
    ],
)
def test_nodes_among_what_a_test_saw_are_links_where_they_stand(seen_, text, links):
    parts = seen_parts(seen_)
    assert "".join(part.text for part in parts) == f"node.users = {text}"
    assert [part.text for part in parts if part.lead is not None] == links
