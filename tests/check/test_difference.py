"""How values are compared: what counts as equal, and the kinds of difference."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from qdqviz.check.difference import Grid, difference

GRID = Grid(0.1, -12.8, 12.7)
INTEGERS = Grid(1.0, -128.0, 127.0)


def tensor(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype)


def kind(old, new, grid=None):
    return difference(old, new, grid).kind


def test_rounding_of_floats_is_tolerated_and_told():
    old = torch.randn(100, generator=torch.Generator().manual_seed(0))
    found = difference(old, old * (1 + 1e-6))
    assert found.kind is None
    assert 0 < found.max_abs < 1e-5


def test_integers_have_to_be_equal():
    assert kind(tensor(5, 6, dtype=torch.int8), tensor(5, 7, dtype=torch.int8)) == "wrong"
    assert kind(tensor(True, False), tensor(True, True)) == "wrong"


def test_up_to_one_step_is_a_quantization_step():
    assert kind(tensor(1.0, 2.0), tensor(1.1, 2.0), GRID) == "quantization_step"
    assert kind(tensor(1.0, 2.0), tensor(1.25, 2.0), GRID) == "wrong"
    assert kind(tensor(5, dtype=torch.int8), tensor(6, dtype=torch.int8), INTEGERS) == "quantization_step"
    assert difference(tensor(1.0), tensor(1.25), GRID).steps == pytest.approx(2.5)


def test_values_that_are_clamped_on_one_side_saturate():
    assert kind(tensor(15.0, 1.0), tensor(12.7, 1.0), GRID) == "saturates"
    assert kind(tensor(12.7, 1.0), tensor(15.0, 1.02), GRID) == "saturates"
    assert kind(tensor(90, 3, dtype=torch.int8), tensor(127, 3, dtype=torch.int8), INTEGERS) == "saturates"
    assert kind(tensor(15.0, 1.0), tensor(12.7, 9.0), GRID) == "wrong"


def test_shapes_and_dtypes_are_told():
    found = difference(torch.zeros(2, 3), torch.zeros(3, 2))
    assert (found.kind, found.max_abs, found.detail) == (
        "shape_dtype",
        math.inf,
        "float32 [3, 2] instead of float32 [2, 3]",
    )
    assert difference(torch.zeros(2), torch.ones(2, dtype=torch.int8)).max_abs == 1.0
    assert kind(torch.zeros(2), None) == "shape_dtype"
    assert kind([torch.zeros(2)], [torch.zeros(2)] * 2) == "shape_dtype"


def test_the_largest_difference_is_placed():
    old = torch.zeros(2, 3)
    new = old.clone()
    new[1, 2] = -4.0
    new[0, 0] = 1.0
    found = difference(old, new)
    assert (found.place, found.max_abs, found.detail) == ("[1, 2]", 4.0, "2 of 6 elements differ")


def test_sqnr_is_signal_over_noise():
    found = difference(torch.full((10,), 2.0), torch.full((10,), 2.2))
    assert found.sqnr == pytest.approx(20.0, abs=1e-3)
    assert difference(torch.zeros(3), torch.ones(3)).sqnr is None


def test_nan_equals_nan_and_infinity_itself_and_nothing_else():
    special = tensor(math.nan, math.inf, -math.inf, 1.0)
    assert kind(special, special.clone()) is None
    assert difference(tensor(math.nan), tensor(0.0)).max_abs == math.inf
    assert kind(tensor(math.inf), tensor(-math.inf)) == "wrong"


def test_structures_and_numbers_are_compared_part_by_part():
    old = (torch.ones(2), {"a": torch.zeros(1)}, 3)
    assert kind(old, (torch.ones(2), {"a": torch.zeros(1)}, 3)) is None
    assert kind(old, (torch.ones(2), {"a": torch.ones(1)}, 3)) == "wrong"
    assert kind(old, (torch.ones(2), {"a": torch.zeros(1)}, 4)) == "wrong"
    assert kind(torch.empty(0), torch.empty(0)) is None
    assert kind(torch.tensor([1 + 1j]), torch.tensor([1 - 1j])) == "wrong"


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=8), st.integers(-3, 3), st.integers(0, 7))
def test_a_value_differs_exactly_if_an_element_does(values, change, index):
    old = torch.tensor(values, dtype=torch.int16)
    new = old.clone()
    new[index % len(values)] += change
    assert (difference(old, new).kind is None) == (change == 0)
    assert difference(old, new).max_abs == abs(change)
    assert difference(old, new) == difference(new, old) or old.sum() != new.sum()
