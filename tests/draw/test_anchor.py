from qdqviz.draw.anchor import Shift, best_shift
from qdqviz.draw.grid import CellRect, Cells


def cells(**places):
    rects = {int(key[1:]): CellRect(column, row, 10, 4) for key, (column, row) in places.items()}
    return Cells(0, 0, (), (), rects)


def test_a_picture_that_only_slid_is_put_back():
    before, after = (
        cells(n1=(5, 0), n2=(20, 6), n3=(5, 12)),
        cells(n1=(8, 6), n2=(23, 12), n3=(8, 18), n9=(0, 0)),
    )
    assert best_shift(before, after) == Shift(-3, -6, 3, 3)


def test_the_majority_decides():
    before, after = cells(n1=(0, 0), n2=(0, 6), n3=(40, 6)), cells(n1=(0, 6), n2=(0, 12), n3=(40, 6))
    assert best_shift(before, after) == Shift(0, -6, 2, 3)


def test_of_equals_the_smallest_shift_wins():
    before, after = cells(n1=(0, 0), n2=(50, 0)), cells(n1=(9, 0), n2=(51, 0))
    assert best_shift(before, after) == Shift(-1, 0, 1, 2)


def test_pictures_that_share_nothing_are_not_shifted():
    assert best_shift(cells(n1=(0, 0)), cells(n2=(3, 3))) == Shift(0, 0, 0, 0)
