import pytest

from qdqviz.draw.grid import CellRect, Grid
from qdqviz.tui.model.window import Window, window_runs


def grid_of(*rows):
    grid = Grid(len(rows[0]), len(rows))
    for y, row in enumerate(rows):
        grid.write(0, y, row, "name")
    return grid.cells({})


def test_a_picture_smaller_than_its_pane_is_centred():
    window = Window(50, 50, 20, 10).within(grid_of("abcd", "efgh"))
    assert (window.x, window.y) == (-8, -4)


def test_a_window_never_leaves_a_picture_that_is_larger():
    cells = grid_of(*["x" * 30] * 30)
    assert (Window(-5, 99, 10, 10).within(cells).x, Window(-5, 99, 10, 10).within(cells).y) == (0, 20)


@pytest.mark.parametrize(
    ("at", "size", "filled"),
    [(-3, 10, -3), (4, 10, 0), (-15, 10, -10), (0, 20, 0), (5, 30, 5), (-2, 30, 0), (15, 30, 10)],
)
def test_a_filled_window_hides_nothing_that_there_is_room_for(at, size, filled):
    """20 columns and rows over pictures of some size: it moves no further than it must."""
    cells = grid_of(*["x" * size] * size)
    assert Window(at, at, 20, 20).filled(cells) == Window(filled, filled, 20, 20)


@pytest.mark.parametrize(
    ("y", "stays"), [(0, True), (3, True), (6, True), (9, False), (-9, True), (-15, True), (-16, False)]
)
def test_a_window_stays_while_it_shows_half_of_what_it_could(y, stays):
    """Four boxes of two rows each, three rows apart, in a pane of 20 rows."""
    grid = Grid(10, 12)
    cells = grid.cells({box: CellRect(0, 3 * box, 10, 2) for box in range(4)})
    window = Window(0, y, 20, 20)
    assert (window.steady(cells) == window) is stays
    assert stays or window.steady(cells) == window.filled(cells)


def test_scrolling_to_a_box_moves_no_further_than_it_must():
    window = Window(0, 0, 20, 10)
    assert window.showing(CellRect(5, 3, 6, 4)) == window
    assert window.showing(CellRect(30, 3, 6, 4)) == Window(18, 0, 20, 10)
    assert Window(30, 30, 20, 10).showing(CellRect(5, 3, 6, 4)) == Window(3, 1, 20, 10)


def test_boxes_that_fit_are_centred_together_else_the_first_one_is():
    near = [CellRect(10, 10, 4, 2), CellRect(16, 14, 4, 2)]
    assert Window(0, 0, 20, 10).centred(near) == Window(5, 8, 20, 10)
    far = [CellRect(10, 10, 4, 2), CellRect(90, 90, 4, 2)]
    assert Window(0, 0, 20, 10).centred(far) == Window(2, 6, 20, 10)


def test_the_frame_of_the_selected_box_is_restyled_and_nothing_else():
    cells = grid_of("abcdef", "ghijkl", "mnopqr", "stuvwx")
    ring, window = CellRect(1, 1, 4, 3), Window(0, 0, 6, 4)
    assert window_runs(cells, window, 0, ring) == [("abcdef", "name")]
    assert window_runs(cells, window, 1, ring) == [("g", "name"), ("hijk", "selected"), ("l", "name")]
    assert window_runs(cells, window, 2, ring) == [
        *(("m", "name"), ("n", "selected"), ("op", "name"), ("q", "selected"), ("r", "name"))
    ]


def test_a_selected_box_that_sticks_out_of_the_window_is_cut():
    cells = grid_of("abcdef", "ghijkl", "mnopqr")
    assert window_runs(cells, Window(2, 0, 3, 3), 0, CellRect(0, 0, 4, 3)) == [
        ("cd", "selected"),
        ("e", "name"),
    ]


def test_cues_point_to_the_sides_on_which_the_picture_goes_on():
    cells = grid_of(*["x" * 30] * 30)
    assert Window(0, 0, 10, 10).cues(cells) == "▾▸"
    assert Window(5, 5, 10, 10).cues(cells) == "◂▴▾▸"
    assert Window(0, 0, 30, 30).cues(cells) == ""
