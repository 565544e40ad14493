import fakes
import pytest

from qdqviz.draw.engine import LayoutEngine
from qdqviz.ir.liveness import liveness
from qdqviz.trace.reader import Trace
from qdqviz.tui.model.archive import Archive
from qdqviz.tui.model.finding import find
from qdqviz.tui.model.header import header_runs, position
from qdqviz.tui.model.moving import step_place
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.ranges import RangesMaker
from qdqviz.tui.model.scene import Lens, look, make_scene
from qdqviz.tui.model.touching import touching_step
from qdqviz.tui.model.walking import entry, step_from


@pytest.fixture(scope="module")
def engine():
    return LayoutEngine()


@pytest.fixture
def archive(small):
    return Archive(small)


def scene_of(archive, engine, place, lens=None):
    return make_scene(archive, place, lens or Lens(), engine)


def named(scene, name):
    body = scene.sight.after
    return (body.named(name) or scene.sight.before.named(name)).id


@pytest.mark.parametrize(
    ("which", "said"),
    [("qdq", "none here · v shows others"), ("carried", "none here · v shows others"), ("all", "peak ")],
)
def test_where_there_are_no_values_to_show_the_key_that_shows_others_is_named(
    hostile_path, engine, which, said
):
    archive = Archive(Trace(hostile_path))
    scene = scene_of(archive, engine, step_place(archive.lists, 1))
    made = RangesMaker().make(scene, which, 80, 10, lambda: False)
    assert made.summary.startswith(said)


def test_a_rewrite_is_shown_before_and_after_in_one_layout(archive, engine):
    scene = scene_of(archive, engine, step_place(archive.lists, 1))
    before, after = scene.cells["before"].rects, scene.cells["after"].rects
    shared = before.keys() & after.keys()
    assert len(shared) > 3 and all(before[box] == after[box] for box in shared)
    assert named(scene, "quantize") in before and named(scene, "quantize_up") in after.keys() - before.keys()


def test_a_pass_is_shown_as_the_difference_that_it_made(archive, engine):
    scene = scene_of(archive, engine, Place("run", 0, 2))
    names = {box.full_name for box in scene.picture.boxes if box.focus}
    assert {"quantize", "quantize_1", "quantize_up", "quantize_1_up"} <= names
    assert scene.sight.sentence.startswith(
        "AdvanceQuantizeOpAboveDefChainPass: 2 rewrites; 5 attempts, 3 declined"
    )


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ({"declined": 3}, "nothing changed; 3 attempts, 3 declined; "),
        ({"declined": 3, "in_vain": 1}, "nothing changed; 4 attempts, 3 declined, 1 changed nothing; "),
        ({"in_vain": 2}, "nothing changed; 2 attempts, 0 declined, 2 changed nothing; "),
        ({"declined": 1, "modified": None}, "1 attempt, 1 declined; it returned no PassResult; "),
        ({"declined": 1, "modified": False}, "1 attempt, 1 declined; 12 ms."),
    ],
)
def test_the_sentence_about_a_pass_accounts_for_every_attempt(tmp_path, ends, said):
    recorder = fakes.Recorder(tmp_path / "t.qdqtrace")
    recorder.subject("forward", fakes.small_graph().state())
    recorder.end(recorder.begin("Pass"), **ends)
    sentence = look(Archive(Trace(recorder.close())), Place("run", 0, 0), Lens()).sentence
    assert said in sentence


def test_attempts_that_came_to_nothing_are_told_apart_from_rewrites(tmp_path):
    recorder = fakes.Recorder(tmp_path / "t.qdqtrace")
    recorder.subject("forward", fakes.small_graph().state())
    run = recorder.begin("Pass")
    recorder.advance(run, "quantize", "aten_slice_copy_tensor")
    recorder.end(run, declined=2, fired=1, in_vain=1, modified=False)
    sentence = look(Archive(Trace(recorder.close())), Place("run", 0, 0), Lens()).sentence
    assert sentence.startswith("Pass: 1 rewrite; 4 attempts, 2 declined, 1 changed nothing; ")
    assert "it says that it modified nothing" in sentence


def test_a_pass_that_changed_nothing_and_the_start_show_one_state(archive, engine):
    idle = scene_of(archive, engine, Place("run", 0, 0))
    start = scene_of(archive, engine, Place("start", 0))
    assert not idle.is_pair and not start.is_pair
    assert idle.sight.sentence.startswith("HoistViews: nothing changed; 4 attempts, 4 declined")
    assert start.sight.sentence == "forward before any pass: 19 nodes, edge dialect."
    assert start.sight.focus == (start.sight.after.named("aten_permute_copy_default").id,)


def test_an_error_shows_the_state_in_which_the_pass_raised(archive):
    sight = look(archive, Place("error", 0, 5), Lens())
    assert sight.sentence == "RemoveRelu raised KeyError: 'quant_min' (passes.py:31)"
    assert sight.after.named("aten_relu_default") is None


def test_an_anchor_is_looked_at_in_place_of_the_rewrite(archive, engine):
    far = archive.at(0, 0).root.named("aten_relu_default").id
    near = scene_of(archive, engine, step_place(archive.lists, 1))
    there = scene_of(archive, engine, step_place(archive.lists, 1), Lens(anchor=far))
    assert near.picture.box(far) is None and there.picture.box(far) is not None


def test_a_fold_opens(archive, engine):
    body = archive.at(0, 0).root
    anchor = body.named("aten_relu_default").id
    folded = scene_of(archive, engine, Place("start", 0), Lens(anchor=anchor))
    fold = next(box for box in folded.picture.boxes if box.kind == "chain")
    opened = scene_of(
        archive, engine, Place("start", 0), Lens(anchor=anchor, radius=4, opened=frozenset({fold.id}))
    )
    assert len(fold.members) == 4
    assert all(opened.picture.box(node).kind == "node" for node in fold.members)


def test_a_pass_of_many_rewrites_shows_the_first_nodes_and_counts_the_rest(large_path, engine):
    from qdqviz.trace.reader import Trace

    archive = Archive(Trace(large_path))
    sight = look(archive, Place("run", 0, 1), Lens())
    assert len(sight.focus) == 60 and sight.left_out == 2500 - 60
    archive.close()


def test_ranges_are_those_of_the_states_before_and_after(archive, engine):
    scene = scene_of(archive, engine, step_place(archive.lists, 1))
    made = RangesMaker().make(scene, "qdq", 80, 12, lambda: False)
    assert made.after == liveness(scene.sight.after, "qdq") and made.before == liveness(
        scene.sight.before, "qdq"
    )
    # When dequantize_1 runs: dequantize and dequantize_1 with 2 KiB each, and quantize_1 with 512 B.
    assert made.summary == "peak 4.5 KiB"


def test_ranges_that_nobody_wants_any_more_are_not_made(archive, engine):
    scene = scene_of(archive, engine, step_place(archive.lists, 1))
    assert RangesMaker().make(scene, "qdq", 80, 12, lambda: True) is None


def test_arrows_lead_along_edges_and_sideways(archive, engine):
    scene = scene_of(archive, engine, step_place(archive.lists, 1))
    slice_, up = named(scene, "aten_slice_copy_tensor"), named(scene, "quantize_up")
    assert entry(scene.picture) == up
    assert step_from(scene.picture, up, "down") == slice_
    assert step_from(scene.picture, slice_, "up") == up
    other = named(scene, "aten_slice_copy_tensor_1")
    sideways = {step_from(scene.picture, up, side) for side in ("left", "right")}
    assert other in sideways


def test_walking_ends_at_the_edge_of_the_picture(archive, engine):
    scene = scene_of(archive, engine, step_place(archive.lists, 5))
    last = named(scene, "output")
    assert step_from(scene.picture, last, "down") is None
    assert step_from(scene.picture, 999_999, "down") is None


def test_a_search_finds_nodes_by_name_and_op_and_rewrites_by_pass_and_title(archive):
    body = archive.at(0, 0).root
    hits = find("slice", archive.lists, body, "", lambda step: "quantize above slice" if step == 1 else None)
    assert [hit.name for hit in hits if hit.kind == "node"] == [
        "aten_slice_copy_tensor",
        "aten_slice_copy_tensor_1",
    ]
    assert [hit.id for hit in hits if hit.kind == "step"] == [1]
    assert [hit.id for hit in find("FUSEcascaded", archive.lists, body, "")] == [3]
    assert [hit.id for hit in find("4", archive.lists, body, "") if hit.kind == "step"] == [4]


def test_a_search_puts_whole_names_first(archive):
    names = [
        hit.name for hit in find("quantize", archive.lists, archive.at(0, 0).root, "") if hit.kind == "node"
    ]
    assert names[:2] == ["quantize", "quantize_1"]
    assert find("  ", archive.lists, archive.at(0, 0).root, "") == []


def test_the_next_rewrite_of_a_node_is_found_in_both_directions(archive):
    node = archive.at(0, 0).root.named("aten_slice_copy_tensor_1").id
    up = archive.at(0, 1).root.named("quantize_up").id

    def found(node, after, forward):
        return touching_step(archive, 0, "", node, after, forward, lambda: False)

    assert found(node, 0, True) == 2 and found(node, 2, True) is None and found(node, 5, False) == 2
    assert found(up, 1, True) == 4 and found(up, 4, False) == 1


def test_the_header_says_where_one_is_and_never_exceeds_its_width(archive):
    from qdqviz.draw.text import width

    place = step_place(archive.lists, 2)
    assert position(archive.lists, place) == "step 2/5 · rewrite 2 of pass 2/5"
    for columns in (56, 80, 200):
        runs = header_runs(archive.lists, place, "recording 1/2 [bold]Pass", columns)
        assert sum(width(text) for text, _ in runs) == columns


def test_texts_of_a_trace_are_safe_in_titles_and_sentences(hostile_path):
    from qdqviz.trace.reader import Trace

    archive = Archive(Trace(hostile_path))
    for step in range(1, archive.lists.steps + 1):
        said = archive.title(step) + look(archive, step_place(archive.lists, step), Lens()).sentence
        assert said.isprintable()
    assert "\x1b" not in "".join(
        text for text, _ in header_runs(archive.lists, step_place(archive.lists, 1), "", 90)
    )
    assert len(fakes.HOSTILE_NAMES) == archive.lists.steps
    archive.close()
