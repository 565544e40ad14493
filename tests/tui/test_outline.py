import fakes
import pytest

from qdqviz.trace.reader import Trace
from qdqviz.tui.model.lists import read_lists
from qdqviz.tui.model.moving import last_step_before, next_run, next_step, opening_place, step_place
from qdqviz.tui.model.outline import build_outline
from qdqviz.tui.model.place import Place
from qdqviz.tui.model.row_text import row_runs


@pytest.fixture
def lists(small):
    return read_lists(small)


def shape(outline):
    return [("  " * row.depth + row.kind, row.run, row.step) for row in outline.rows]


def test_rows_follow_what_happened_and_nested_runs_are_indented(lists):
    assert shape(build_outline(lists)) == [
        ("start", None, None),
        ("run", 0, None),
        ("  declined", 0, None),
        ("run", 1, None),
        ("  run", 2, None),
        ("    step", 2, 1),
        ("    step", 2, 2),
        ("    declined", 2, None),
        ("  run", 3, None),
        ("    step", 3, 3),
        ("    declined", 3, None),
        ("run", 4, None),
        ("  step", 4, 4),
        ("run", 5, None),
        ("  step", 5, 5),
        ("  error", 5, None),
        ("  declined", 5, None),
    ]


def test_runs_that_changed_nothing_can_be_left_out_and_are_counted(lists):
    outline = build_outline(lists, hide_unchanged=True)
    assert all(row.run != 0 for row in outline.rows)
    assert outline.hidden == 1


def test_a_folded_run_hides_the_runs_inside_it_and_its_place_stands_for_theirs(lists):
    outline = build_outline(lists, closed={1})
    assert [row.run for row in outline.rows] == [None, 0, 0, 1, 4, 4, 5, 5, 5, 5]
    assert outline.rows[outline.nearest(Place("run", 0, 1))].run == 1


def test_a_manager_that_called_one_pass_only_has_no_row(tmp_path):
    recorder = fakes.Recorder(tmp_path / "t.qdqtrace")
    recorder.subject("forward", fakes.small_graph().state())
    manager = recorder.begin("Manager", kind="manager")
    inner = recorder.begin("Advance", parent=manager.id)
    recorder.advance(inner, "quantize", "aten_slice_copy_tensor")
    recorder.end(inner)
    recorder.end(manager)
    outline = build_outline(read_lists(Trace(recorder.close())))
    assert shape(outline) == [("start", None, None), ("run", 1, None), ("  step", 1, 1)]


def test_thousands_of_nested_managers_need_no_recursion(tmp_path):
    recorder = fakes.Recorder(tmp_path / "t.qdqtrace")
    recorder.subject("forward", fakes.small_graph().state())
    runs = []
    for index in range(3000):
        runs.append(recorder.begin(f"M{index}", kind="manager", parent=runs[-1].id if runs else None))
    for run in reversed(runs):
        recorder.end(run)
    outline = build_outline(read_lists(Trace(recorder.close())))
    assert len(outline.rows) == 2  # a chain of managers that only called each other, and the innermost one


def test_every_row_is_found_again_by_its_place(lists):
    outline = build_outline(lists)
    assert [outline.index(row.place) for row in outline.rows] == list(range(len(outline.rows)))


def test_rewrites_follow_each_other_across_passes_and_end_at_the_ends(lists):
    place = opening_place(lists)
    seen = []
    while place is not None:
        seen.append(place.step)
        place = next_step(lists, place, 1)
    assert seen == [1, 2, 3, 4, 5]
    assert next_step(lists, step_place(lists, 1), -1) is None
    assert next_step(lists, step_place(lists, 4), -1).step == 3


def test_from_a_pass_the_next_rewrite_is_its_first_one_and_the_previous_the_one_before_it(lists):
    assert next_step(lists, Place("run", 0, 3), 1).step == 3
    assert next_step(lists, Place("run", 0, 3), -1).step == 2
    assert next_step(lists, Place("declined", 0, 3), 1).step == 4
    assert last_step_before(lists, Place("start", 0)) == 0


def test_passes_follow_each_other(lists):
    outline = build_outline(lists)
    assert next_run(outline, step_place(lists, 3), -1) == Place("run", 0, 3)
    assert next_run(outline, step_place(lists, 3), 1) == Place("run", 0, 4)
    assert next_run(outline, Place("start", 0), -1) is None


def test_every_row_fills_exactly_the_width_that_there_is(lists):
    from qdqviz.draw.text import width

    for row in build_outline(lists).rows:
        for columns in (12, 31, 80):
            runs = row_runs(row, lists, lambda step: f"title {step} " * 20, frozenset(), columns)
            assert sum(width(text) for text, _ in runs) == columns, row


def test_rows_say_what_they_stand_for(lists):
    texts = {
        (row.kind, row.run): "".join(
            text for text, _ in row_runs(row, lists, lambda _: "moved", {1}, 40)
        ).strip()
        for row in build_outline(lists).rows
    }
    assert texts["run", 0].startswith("▾ HoistViews") and texts["run", 0].endswith("0")
    assert texts["run", 1].startswith("▸ PassManager")
    assert texts["run", 5].startswith("✗ RemoveRelu")
    assert texts["error", 5] == "✗ KeyError: 'quant_min'"
    assert texts["declined", 2] == "3 declined"
    assert texts["step", 4] == "4 moved"
